#include "stoker/observe/trace/batch_trace.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace stoker::observe {
namespace {

using feed::BatchRecord;
using feed::RecordStage;
using feed::StageSpan;

// In the order in which a viewer shows them.
enum Track : std::uint32_t {
  kConsumer = 1,
  kReady,
  kCopies,
  kKernels,
  kUpload,
  kGpuUse,
  kGpuMemory,
  kGpuPower,
  kDiskRate,
  kDiskBusy,
  kAllCores,
  kOwnCores,
  kFirstWorker,
};

constexpr std::size_t kNumWorkerStages = static_cast<std::size_t>(RecordStage::kWaitSlot);
constexpr double kMsPerNs = 1e-6;

const StageSpan& span_of(const BatchRecord& record, RecordStage stage) {
  return record.stages[static_cast<std::size_t>(stage)];
}

std::uint64_t flow_of(const BatchRecord& record) { return record.number + 1; }

std::int64_t fill_begin_ns(const BatchRecord& record) {
  std::int64_t begin_ns = 0;
  for (std::size_t i = 0; i < kNumWorkerStages; ++i) {
    const std::int64_t at_ns = record.stages[i].begin_ns;
    if (at_ns > 0 && (begin_ns == 0 || at_ns < begin_ns)) begin_ns = at_ns;
  }
  return begin_ns;
}

std::int64_t fill_ns(const BatchRecord& record) {
  std::int64_t sum_ns = 0;
  for (std::size_t i = 0; i < kNumWorkerStages; ++i) sum_ns += record.stages[i].busy_ns;
  return sum_ns;
}

bool has_slow_file(const BatchRecord& record) {
  const auto stage = static_cast<std::size_t>(record.slowest_stage);
  return record.slowest_ns > 0 && stage < kNumWorkerStages && record.stages[stage].busy_ns > 0;
}

TraceArgument whole(std::string_view name, auto value) {
  return {name, static_cast<std::int64_t>(value)};
}
TraceArgument real(std::string_view name, double value) { return {name, value}; }

std::vector<TraceArgument> fill_arguments(const BatchRecord& record) {
  std::vector<TraceArgument> all{whole("batch", record.number),
                                 whole("epoch", record.epoch),
                                 whole("batch_of_epoch", record.batch),
                                 whole("shape", record.shape),
                                 whole("rows", record.num_rows),
                                 whole("frames", record.num_frames),
                                 whole("padded_frames", record.padded_frames),
                                 whole("tokens", record.num_tokens),
                                 whole("core", record.core),
                                 whole("bytes_read", record.bytes_read),
                                 whole("cache_hits", record.num_cache_hits),
                                 whole("cache_misses", record.num_cache_misses),
                                 whole("major_faults", record.num_major_faults)};
  if (record.slowest_ns > 0) {
    all.push_back({"slowest_file", std::string_view(record.slowest_file.data())});
    all.push_back({"slowest_stage", feed::name_of(record.slowest_stage)});
    all.push_back(real("slowest_ms", static_cast<double>(record.slowest_ns) * kMsPerNs));
  }
  return all;
}

}  // namespace

BatchTrace::BatchTrace(TraceEncoder& encoder, const TraceHead& head) : encoder_(encoder) {
  encoder_.head(head);
  need_track(kConsumer, TrackKind::kSlices, "consumer");
}

void BatchTrace::need_track(std::uint32_t track, TrackKind kind, const std::string& name) {
  if (ends_ns_.emplace(track, 0).second) encoder_.track({track, kind, name});
}

BatchTrace::Span BatchTrace::place(std::uint32_t track, std::int64_t begin_ns,
                                   std::int64_t length_ns) {
  const std::int64_t begin = std::max(begin_ns, ends_ns_[track]);
  ends_ns_[track] = begin + std::max<std::int64_t>(length_ns, 0);
  return {begin, ends_ns_[track]};
}

void BatchTrace::count(std::uint32_t track, const char* name, std::int64_t at_ns, double value) {
  need_track(track, TrackKind::kCounter, name);
  if (at_ns < ends_ns_[track]) return;
  ends_ns_[track] = at_ns;
  encoder_.counter(track, at_ns, value);
}

void BatchTrace::add(const BatchRecord& record) {
  if (last_) put_step(*last_, record.number == last_->number + 1 ? &record : nullptr);
  if (record.worker >= 0) put_fill(record);
  put_device(record);
  put_wait(record);
  count(kReady, "ready batches", record.handed_ns, record.num_ready);
  last_ = record;
}

void BatchTrace::finish() {
  if (last_) put_step(*last_, nullptr);
  last_.reset();
}

void BatchTrace::add_lost(std::uint64_t num_lost, std::int64_t at_ns) {
  const std::array arguments{whole("records", num_lost)};
  encoder_.instant({.track = kConsumer,
                    .name = "records lost",
                    .begin_ns = std::max(at_ns, ends_ns_[kConsumer]),
                    .arguments = arguments});
}

void BatchTrace::put_fill(const BatchRecord& record) {
  const std::uint32_t track = kFirstWorker + static_cast<std::uint32_t>(record.worker);
  need_track(track, TrackKind::kSlices, "worker " + std::to_string(record.worker));
  const Span span = place(track, fill_begin_ns(record), fill_ns(record));
  const std::vector<TraceArgument> arguments = fill_arguments(record);
  const TraceSlice fill{.track = track,
                        .name = "batch",
                        .begin_ns = span.begin_ns,
                        .end_ns = span.end_ns,
                        .flow = flow_of(record),
                        .part = has_slow_file(record) ? FlowPart::kNone : FlowPart::kBegin,
                        .arguments = arguments};
  encoder_.open(fill);
  put_stages(record, track, span.begin_ns);
  encoder_.close(fill);
}

void BatchTrace::put_stages(const BatchRecord& record, std::uint32_t track, std::int64_t begin_ns) {
  const std::array file_arguments{
      TraceArgument{"file", std::string_view(record.slowest_file.data())},
      whole("utterance", record.slowest_utterance)};
  for (std::size_t i = 0; i < kNumWorkerStages; ++i) {
    const std::int64_t busy_ns = record.stages[i].busy_ns;
    if (busy_ns <= 0) continue;
    const auto stage = static_cast<RecordStage>(i);
    const TraceSlice slice{.track = track,
                           .name = feed::name_of(stage),
                           .begin_ns = begin_ns,
                           .end_ns = begin_ns + busy_ns};
    encoder_.open(slice);
    if (has_slow_file(record) && stage == record.slowest_stage) {
      const TraceSlice file{.track = track,
                            .name = "slowest file",
                            .begin_ns = begin_ns,
                            .end_ns = begin_ns + std::min(record.slowest_ns, busy_ns),
                            .flow = flow_of(record),
                            .part = FlowPart::kBegin,
                            .arguments = file_arguments};
      encoder_.open(file);
      encoder_.close(file);
    }
    encoder_.close(slice);
    begin_ns += busy_ns;
  }
}

// The time that the GPU measured, from the moment at which the host asked for it.
void BatchTrace::put_device(const BatchRecord& record) {
  struct Row {
    RecordStage stage;
    Track track;
    const char* name;
    FlowPart part;
  };
  static constexpr std::array kRows{
      Row{RecordStage::kWaitSlot, kUpload, "upload thread", FlowPart::kNone},
      Row{RecordStage::kCopy, kCopies, "GPU copies", FlowPart::kThrough},
      Row{RecordStage::kKernel, kKernels, "GPU kernels", FlowPart::kThrough}};
  std::int64_t copied_ns = 0;
  for (const Row& row : kRows) {
    const StageSpan& stage = span_of(record, row.stage);
    if (stage.busy_ns <= 0) continue;
    need_track(row.track, TrackKind::kSlices, row.name);
    // Kernels wait for the copy.
    const Span span = place(row.track, std::max(stage.begin_ns, copied_ns), stage.busy_ns);
    if (row.stage == RecordStage::kCopy) copied_ns = span.end_ns;
    const std::array arguments{whole("batch", record.number)};
    const TraceSlice slice{.track = row.track,
                           .name = feed::name_of(row.stage),
                           .begin_ns = span.begin_ns,
                           .end_ns = span.end_ns,
                           .flow = flow_of(record),
                           .part = row.part,
                           .arguments = arguments};
    encoder_.open(slice);
    encoder_.close(slice);
  }
}

// Without workers the consumer fills the batch while it waits.
void BatchTrace::put_wait(const BatchRecord& record) {
  const bool fills_itself = record.worker < 0;
  const Span span = place(kConsumer, record.asked_ns, record.handed_ns - record.asked_ns);
  std::vector<TraceArgument> arguments{whole("batch", record.number),
                                       whole("ready_behind", record.num_ready)};
  if (fills_itself) arguments = fill_arguments(record);
  const bool begins_flow = fills_itself && !has_slow_file(record);
  const TraceSlice wait{.track = kConsumer,
                        .name = "wait",
                        .begin_ns = span.begin_ns,
                        .end_ns = span.end_ns,
                        .flow = flow_of(record),
                        .part = begins_flow    ? FlowPart::kBegin
                                : fills_itself ? FlowPart::kNone
                                               : FlowPart::kThrough,
                        .arguments = arguments};
  encoder_.open(wait);
  if (fills_itself) {
    const std::int64_t latest_ns = span.end_ns - fill_ns(record);
    put_stages(record, kConsumer,
               std::max(span.begin_ns, std::min(fill_begin_ns(record), latest_ns)));
  }
  encoder_.close(wait);
}

void BatchTrace::put_step(const BatchRecord& record, const BatchRecord* next) {
  const std::int64_t end_ns =
      next != nullptr ? next->asked_ns : std::max(record.released_ns, record.handed_ns);
  const Span span = place(kConsumer, record.handed_ns, end_ns - record.handed_ns);
  std::vector<TraceArgument> arguments{whole("batch", record.number),
                                       whole("rows", record.num_rows),
                                       whole("held_batches", record.num_held)};
  if (record.released_ns > 0)
    arguments.push_back(
        real("held_ms", static_cast<double>(record.released_ns - record.handed_ns) * kMsPerNs));
  const TraceSlice step{.track = kConsumer,
                        .name = "step",
                        .begin_ns = span.begin_ns,
                        .end_ns = span.end_ns,
                        .flow = flow_of(record),
                        .part = FlowPart::kEnd,
                        .arguments = arguments};
  encoder_.open(step);
  if (next != nullptr) put_works(*next, span);
  encoder_.close(step);
}

void BatchTrace::put_works(const BatchRecord& next, const Span& step) {
  std::int64_t left_ns = step.end_ns - step.begin_ns;
  std::array<std::int64_t, feed::kNumConsumerWorks> spent_ns{};
  for (std::size_t i = 0; i < spent_ns.size(); ++i) {
    spent_ns[i] = std::clamp<std::int64_t>(next.works_ns[i], 0, left_ns);
    left_ns -= spent_ns[i];
  }
  std::int64_t at_ns = step.begin_ns + left_ns;
  for (std::size_t i = 0; i < spent_ns.size(); ++i) {
    if (spent_ns[i] == 0) continue;
    const TraceSlice work{.track = kConsumer,
                          .name = feed::name_of(static_cast<feed::ConsumerWork>(i)),
                          .begin_ns = at_ns,
                          .end_ns = at_ns + spent_ns[i]};
    encoder_.open(work);
    encoder_.close(work);
    at_ns += spent_ns[i];
  }
}

void BatchTrace::add(const MachineWindow& window, std::int64_t at_ns) {
  const auto known = [&](std::uint32_t track, const char* name, const auto& value) {
    if (value) count(track, name, at_ns, static_cast<double>(*value));
  };
  known(kAllCores, "cores in use, by all", window.cpu.busy_cores);
  known(kOwnCores, "cores in use, by stoker", window.cpu.own_cores);
  const StorageWindow& storage = window.storage;
  known(kDiskRate, "disk read bytes/s",
        storage.device_read_bytes_per_s ? storage.device_read_bytes_per_s
                                        : storage.own_read_bytes_per_s);
  known(kDiskBusy, "disk busy share", storage.device_busy_share);
  if (!window.gpu) return;
  known(kGpuUse, "GPU %", window.gpu->utilization_percent);
  known(kGpuMemory, "GPU memory bytes", window.gpu->memory_used_bytes);
  known(kGpuPower, "GPU power W", window.gpu->power_w);
}

}  // namespace stoker::observe
