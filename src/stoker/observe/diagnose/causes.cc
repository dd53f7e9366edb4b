#include "stoker/observe/diagnose/causes.h"

#include <array>
#include <cstddef>

namespace stoker::observe {
namespace {

using enum CauseSide;

constexpr std::array kCauses{
    CauseInfo{Cause::kStorageSlow, kFeed, "storage_slow", "the storage is slow or cold",
              "workers wait in fetch while cores idle; the page cache holds little of the data",
              "each file or shard is read from the device, which answers slower than the consumer "
              "asks",
              "precompute into one cache on a local solid-state disk, read ahead, or more workers"},
    CauseInfo{Cause::kRemoteStorage, kFeed, "remote_storage",
              "the data are on a network or rotating disk",
              "fetch waits, and the file system is NFS, CIFS, FUSE or on a disk with moving parts",
              "every request costs a round trip or a movement of the head",
              "copy the data or the cache to a local solid-state disk"},
    CauseInfo{Cause::kTinyFiles, kFeed, "tiny_files", "there are many tiny files",
              "fetch waits although few bytes are read; files are smaller than 48 KiB",
              "opening a file costs more than reading it",
              "precompute: the cache packs utterances into shards"},
    CauseInfo{Cause::kSlowFile, kFeed, "slow_file", "one giant or slow file holds up its batch",
              "the longest gaps name the same file",
              "a batch is complete when its slowest utterance is, and batches come in order",
              "split, convert or leave out that file; a deeper buffer hides it"},
    CauseInfo{Cause::kDecode, kFeed, "decode", "decoding takes the workers' time",
              "decode is the largest stage", "compressed formats cost far more than WAV",
              "precompute, or convert the files to WAV"},
    CauseInfo{Cause::kResample, kFeed, "resample", "resampling takes the workers' time",
              "resample is the largest stage; the files' rate differs from the features'",
              "every sample of a 96 kHz file passes through a long filter",
              "precompute, or store the files at the features' rate"},
    CauseInfo{Cause::kMel, kFeed, "mel", "the mel is computed on too few cores",
              "mel is the largest stage and the cores are used up",
              "features are made again in every epoch", "precompute, or compute mels on the GPU"},
    CauseInfo{Cause::kText, kFeed, "text", "normalising and tokenising take the workers' time",
              "text is a large stage", "long texts or costly rules are applied in every epoch",
              "precompute: the cache holds tokens too"},
    CauseInfo{Cause::kAssembly, kFeed, "assembly", "putting batches together takes the time",
              "assemble is the largest stage",
              "rows are copied and padded; optional parts and wide batches cost memory bandwidth",
              "fewer optional parts, f16 batches, --batch-layout packed"},
    CauseInfo{Cause::kPadding, kFeed, "padding", "much of each batch is padding",
              "padded frames are a third or more of all", "rows of unlike length share a batch",
              "batch by frames with buckets, or --batch-layout packed"},
    CauseInfo{Cause::kFewWorkers, kFeed, "few_workers", "there are too few workers",
              "cores idle while every worker is busy and the consumer waits",
              "a worker fills one batch at a time on one core", "raise num_workers"},
    CauseInfo{Cause::kManyWorkers, kFeed, "many_workers",
              "there are too many workers for the cores or the quota",
              "threads wait for a core longer than they run",
              "workers push each other and the consumer aside", "lower num_workers"},
    CauseInfo{Cause::kCpuQuota, kFeed, "cpu_quota", "the CPU quota stops the workers",
              "the control group is throttled", "the container may use fewer cores than it sees",
              "raise the quota, or precompute to need less"},
    CauseInfo{Cause::kBusyNeighbour, kFeed, "busy_neighbour", "another program uses the cores",
              "others' processor time on our cores is large, our threads wait to run",
              "the scheduler shares cores fairly among all who ask",
              "move the other program, or precompute to need less"},
    CauseInfo{Cause::kMemoryPressure, kFeed, "memory_pressure", "memory is short",
              "pages are swapped or read again; major faults",
              "what a worker needs was pushed out of memory",
              "free memory, lower --buffer-memory, or the disk tier of the cache"},
    CauseInfo{Cause::kSmallBuffer, kFeed, "small_buffer", "the buffer is too small",
              "supply is larger than demand on average, and the consumer still waits",
              "batches take unequal time; only a buffer evens that out",
              "raise prefetch_buffer_size"},
    CauseInfo{Cause::kPageableCopies, kFeed, "pageable_copies",
              "copies to the GPU are from pageable memory",
              "copy is the largest part of a batch's way and pin_memory is off",
              "the driver copies twice and holds the host up", "--set gpu.pin_memory=true"},
    CauseInfo{Cause::kNarrowBus, kFeed, "narrow_bus", "the bus to the GPU is narrow or shared",
              "copies are as fast as the bus, which has fewer lanes than the card",
              "another device has the lanes, or the slot has few",
              "send PCM16 or f16, keep data on the GPU, another slot"},
    CauseInfo{Cause::kMelContention, kFeed, "mel_contention",
              "the mel on the GPU competes with the model",
              "kernel time of the feed is a large part of a step",
              "both use the same multiprocessors", "precompute, or --set gpu.mel_place=cpu"},
    CauseInfo{Cause::kThrottling, kConsumer, "throttling", "the GPU is held down by heat or power",
              "clocks are below the card's own while it is throttled",
              "cooling or the power limit is not enough for the load",
              "cool the card, raise its power limit"},
    CauseInfo{Cause::kSerialStage, kFeed, "serial_stage", "one thread at a time does the work",
              "more workers bring no more batches although cores idle",
              "a lock, or a stage that only one thread may run", "take the lock out of the stage"},
    CauseInfo{Cause::kStartUp, kFeed, "start_up", "only the start waits",
              "the first batches take long, later ones are there in time",
              "buffers are empty and files are cold in the beginning",
              "nothing, for long runs; precompute for short ones"},
    CauseInfo{Cause::kSlowStep, kConsumer, "slow_step", "the consumer's own steps are slow",
              "batches wait for the consumer; steps take longer than they should",
              "the time is in the consumer, without a name for it", "profile the step"},
    CauseInfo{Cause::kLogging, kConsumer, "logging", "logging holds the consumer up",
              "time between steps is spent on logging",
              "figures are fetched and written while the GPU has nothing to do",
              "log less often, or from another thread"},
    CauseInfo{Cause::kCheckpoint, kConsumer, "checkpoint", "checkpoints hold the consumer up",
              "time between steps is spent on checkpoints", "the loop waits for the disk",
              "save less often, or in the background"},
    CauseInfo{Cause::kValidation, kConsumer, "validation", "validation takes the consumer's time",
              "time between steps is spent on validation", "training pauses meanwhile",
              "validate less often or on less data"},
    CauseInfo{Cause::kHostWork, kConsumer, "host_work", "host work between steps",
              "some of the consumer's intervals are far longer than the others, in a rhythm",
              "something beside the step runs now and then in the loop",
              "find what runs with this period, and move it to another thread"},
    CauseInfo{Cause::kHostSync, kConsumer, "host_sync", "the host waits for the GPU in every step",
              "the GPU idles between steps while the host sleeps",
              "a value is read back (.item(), print) before the next step is launched",
              "keep figures on the device and read them later"},
    CauseInfo{Cause::kSmallKernels, kConsumer, "small_kernels",
              "thousands of small kernels: the host cannot launch them fast enough",
              "the consumer's thread is busy all the time, the GPU is not",
              "a launch costs microseconds, a small kernel less", "CUDA graphs, fused kernels"},
    CauseInfo{Cause::kHoldsBatches, kConsumer, "holds_batches", "the consumer holds many batches",
              "slots are missing although the workers are fast",
              "every batch that is kept is a slot less to fill",
              "give batches back after the step, or raise prefetch_buffer_size"},
    CauseInfo{Cause::kUnevenRanks, kConsumer, "uneven_ranks", "ranks wait for each other",
              "several ranks, and the time is spent in synchronising",
              "the slowest rank sets the pace of all",
              "the same batch shapes on all ranks; look for the slow one"},
};
static_assert(kCauses.size() == static_cast<std::size_t>(Cause::kUnevenRanks) + 1);

constexpr bool is_in_order() {
  for (std::size_t i = 0; i < kCauses.size(); ++i) {
    if (static_cast<std::size_t>(kCauses[i].cause) != i) return false;
  }
  return true;
}
static_assert(is_in_order());

}  // namespace

std::span<const CauseInfo> all_causes() { return kCauses; }

const CauseInfo& info_of(Cause cause) { return kCauses[static_cast<std::size_t>(cause)]; }

}  // namespace stoker::observe
