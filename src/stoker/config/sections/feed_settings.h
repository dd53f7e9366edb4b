// Settings of the feed: which utterances share a batch, the engine that fills it, and the GPU.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "stoker/config/choices.h"
#include "stoker/config/field.h"

namespace stoker::config {

// batch_size and batch_frames exclude each other: the one from the stronger source is in force and
// the other is none.
struct BatchSettings {
  static constexpr std::string_view kSection = "data";
  static constexpr std::string_view kTitle = "Batches";

  Maybe<std::int64_t> batch_size;
  Auto<std::int64_t> batch_frames = kDefaultBatchFrames;
  std::int64_t max_shapes = 48;
  BatchLayout batch_layout = BatchLayout::kPadded;
  Auto<std::int64_t> batch_multiple;
  bool shuffle = true;
  bool drop_last = false;
  bool static_shapes = false;
  Auto<MelDtype> batch_dtype;
  bool with_audio = false;
  ReferencePart reference = ReferencePart::kNone;
  double reference_audio_s = 3.0;
  Maybe<std::int64_t> segment_frames;
  std::vector<std::string> arrays;

  static constexpr auto fields() {
    using C = BatchSettings;
    constexpr Affects kOrder = Affects::kOrder;
    return std::tuple{
        field("batch_size", &C::batch_size, {1, 65'536},
              "Utterances a batch; none: batch_frames decides.")
            .unit("utterances")
            .myxtts("training.batch_size")
            .affects(kOrder),
        field("batch_frames", &C::batch_frames, {64, 1'000'000'000},
              "Mel frames a batch over all ranks; auto: the most that a training step has GPU "
              "memory for.")
            .unit("frames")
            .affects(kOrder)
            .not_yet(NotYet::kFeedAlone, "auto"),
        field("max_shapes", &C::max_shapes, {1, 1024}, "Different padded shapes in a run.")
            .affects(kOrder),
        field("batch_layout", &C::batch_layout, "Padded rows, or utterances end to end.")
            .affects(kOrder),
        field("batch_multiple", &C::batch_multiple, {1, 65'536},
              "Rows of a batch are a multiple of this; auto: the world size.")
            .affects(kOrder),
        field("shuffle", &C::shuffle, "New order each epoch; off: the order of the files.")
            .affects(kOrder),
        field("drop_last", &C::drop_last, "Leave short last batches out instead of filling them.")
            .affects(kOrder),
        field("static_shapes", &C::static_shapes, "Pad every batch to one shape.")
            .flags("--enable-static-shapes --pad-to-fixed-length")
            .off_flags("--disable-static-shapes")
            .myxtts("data.pad_to_fixed_length")
            .affects(kOrder),
        field("batch_dtype", &C::batch_dtype, "Number format of delivered mels; auto: the cache's.")
            .affects(kOrder),
        field("with_audio", &C::with_audio, "Deliver the waveform beside the mel.").affects(kOrder),
        field("reference", &C::reference,
              "Reference mel of the same utterance or of another one of its speaker.")
            .flags("--reference-mel")
            .affects(kOrder),
        field("reference_audio_length", &C::reference_audio_s, {0.1, 600.0},
              "Length of the reference.")
            .unit("s")
            .affects(kOrder),
        field("segment_frames", &C::segment_frames, {1, 1'000'000},
              "Deliver aligned crops of wave and mel of this length.")
            .unit("frames")
            .affects(kOrder),
        field("arrays", &C::arrays, "Named arrays of the cache to deliver, e.g. [f0].")
            .affects(kOrder),
    };
  }
};

// They change speed and memory, never a byte.
struct LoaderSettings {
  static constexpr std::string_view kSection = "data";
  static constexpr std::string_view kTitle = "Loading";

  Auto<std::int64_t> num_workers;
  Auto<std::int64_t> prefetch_buffer_size;
  Auto<Bytes> buffer_memory;
  Auto<std::int64_t> read_ahead_batches;
  PreprocessingMode preprocessing_mode = PreprocessingMode::kAuto;
  bool use_native_loading = true;
  bool optimize_cpu_gpu_overlap = true;
  bool auto_tune_performance = true;
  double stall_limit_s = 60.0;
  Auto<std::int64_t> rank;
  Auto<std::int64_t> world_size;

  static constexpr auto fields() {
    using C = LoaderSettings;
    return std::tuple{
        field("num_workers", &C::num_workers, {0, 1024},
              "Threads that fill batches; 0: the caller's own, auto: the cores allowed, less one "
              "for the consumer of a feed where they are more than four.")
            .unit("threads")
            .myxtts("training.num_workers"),
        field("prefetch_buffer_size", &C::prefetch_buffer_size, {1, 4096},
              "Batches ready in host memory; auto: from demand and jitter.")
            .unit("batches"),
        field("buffer_memory", &C::buffer_memory, {kMiB, 64 * kTiB},
              "Most memory that host buffers may take; auto: an eighth of what is free, at most "
              "1GiB, for a few larger batches up to a quarter.")
            .unit("bytes"),
        field("read_ahead_batches", &C::read_ahead_batches, {0, 65'536},
              "How far ahead the page cache is filled; 0: not at all.")
            .unit("batches"),
        field("preprocessing_mode", &C::preprocessing_mode,
              "Use a complete cache, use what is valid and build the rest, or compute each time."),
        field("use_native_loading", &C::use_native_loading,
              "Off: the naive loader, one utterance after the other, to compare with.")
            .off_flags("--disable-native-loading --disable-tf-native-loading")
            .myxtts("data.use_tf_native_loading"),
        field("optimize_cpu_gpu_overlap", &C::optimize_cpu_gpu_overlap,
              "Off: a batch is loaded only when it is asked for.")
            .off_flags("--disable-cpu-gpu-overlap"),
        field("auto_tune_performance", &C::auto_tune_performance,
              "Move workers, depth and read-ahead while running; off: fixed settings."),
        field("stall_limit", &C::stall_limit_s, {0.0, 86400.0},
              "A stage silent for longer is named and ends the run; 0: never.")
            .unit("s"),
        field("rank", &C::rank, {0, 65'535},
              "This process among all; auto: from torchrun, Slurm or MPI."),
        field("world_size", &C::world_size, {1, 65'536}, "Processes that share the batches."),
    };
  }
};

// The transfer into GPU memory: devices, rings and their bounds.
struct GpuSettings {
  static constexpr std::string_view kSection = "gpu";
  static constexpr std::string_view kTitle = "GPU";

  Maybe<std::int64_t> data_gpu;
  Maybe<std::int64_t> model_gpu;
  Auto<std::int64_t> buffer_size = 50;
  double model_start_delay_s = 2.0;
  Auto<Bytes> data_gpu_memory;
  Auto<Bytes> model_gpu_memory;
  bool prefetch_to_gpu = true;
  bool enhanced_gpu_prefetch = true;
  bool pin_memory = true;
  bool copy_from_cache = true;
  MelPlace mel_place = MelPlace::kAuto;

  static constexpr auto fields() {
    using C = GpuSettings;
    return std::tuple{
        field("data_gpu", &C::data_gpu, {0, 1023},
              "GPU that makes features; with model_gpu: multi-GPU mode.")
            .myxtts("data.data_gpu"),
        field("model_gpu", &C::model_gpu, {0, 1023}, "GPU that trains.").myxtts("data.model_gpu"),
        field("buffer_size", &C::buffer_size, {1, 65'536},
              "Batches ready in device memory; auto: from memory and jitter.")
            .unit("batches")
            .myxtts("data.pipeline_buffer_size"),
        field("model_start_delay", &C::model_start_delay_s, {0.0, 3600.0},
              "Longest wait for a full buffer after the first batch; 0: start at once.")
            .unit("s")
            .myxtts("data.model_start_delay"),
        field("data_gpu_memory", &C::data_gpu_memory, {kMiB, kTiB},
              "Most device memory the feed may take; a plain number is MiB.")
            .unit("MiB"),
        field("model_gpu_memory", &C::model_gpu_memory, {kMiB, kTiB},
              "Most device memory the model may take; a plain number is MiB.")
            .unit("MiB"),
        field("prefetch_to_gpu", &C::prefetch_to_gpu, "Off: batches stay in host memory.")
            .myxtts("data.prefetch_to_gpu"),
        field("enhanced_gpu_prefetch", &C::enhanced_gpu_prefetch,
              "Off: one batch in device memory, copied when it is asked for.")
            .off_flags("--disable-gpu-prefetch")
            .myxtts("data.enhanced_gpu_prefetch"),
        field("pin_memory", &C::pin_memory, "Page-locked host buffers for copies.")
            .myxtts("data.pin_memory"),
        field("copy_from_cache", &C::copy_from_cache,
              "Utterances of a mapped cache in memory are copied directly from it; off: through "
              "page-locked slots."),
        field(
            "mel_place", &C::mel_place,
            "Where mels are computed; auto: measured at start (cpu with training.deterministic)."),
    };
  }
};

}  // namespace stoker::config
