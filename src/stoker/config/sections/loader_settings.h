// Settings of the engine that fills batches: they change speed and memory, never a byte.
#pragma once

#include <cstdint>
#include <tuple>

#include "stoker/config/choices.h"
#include "stoker/config/field.h"

namespace stoker::config {

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
            .old("training.num_workers"),
        field("prefetch_buffer_size", &C::prefetch_buffer_size, {1, 4096},
              "Batches ready in host memory; auto: from demand and jitter.")
            .unit("batches"),
        field("buffer_memory", &C::buffer_memory, {kMiB, 64 * kTiB},
              "Most memory that host buffers may take; auto: an eighth of what is free, at most "
              "1GiB.")
            .unit("bytes"),
        field("read_ahead_batches", &C::read_ahead_batches, {0, 65'536},
              "How far ahead the page cache is filled; 0: not at all.")
            .unit("batches"),
        field("preprocessing_mode", &C::preprocessing_mode,
              "Use a complete cache, use what is valid and build the rest, or compute each time."),
        field("use_native_loading", &C::use_native_loading,
              "Off: the naive loader, one utterance after the other, to compare with.")
            .off_flags("--disable-native-loading --disable-tf-native-loading")
            .old("data.use_tf_native_loading"),
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

}  // namespace stoker::config
