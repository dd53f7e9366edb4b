// Settings of the way into GPU memory: devices, rings and their bounds.
#pragma once

#include <cstdint>
#include <tuple>

#include "stoker/config/choices.h"
#include "stoker/config/field.h"

namespace stoker::config {

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
            .old("data.data_gpu"),
        field("model_gpu", &C::model_gpu, {0, 1023}, "GPU that trains.").old("data.model_gpu"),
        field("buffer_size", &C::buffer_size, {1, 65'536},
              "Batches ready in device memory; auto: from memory and jitter.")
            .unit("batches")
            .old("data.pipeline_buffer_size"),
        field("model_start_delay", &C::model_start_delay_s, {0.0, 3600.0},
              "Longest wait for a full buffer after the first batch; 0: start at once.")
            .unit("s")
            .old("data.model_start_delay")
            .not_yet(NotYet::kFeed),
        field("data_gpu_memory", &C::data_gpu_memory, {kMiB, kTiB},
              "Most device memory the feed may take; a plain number is MiB.")
            .unit("MiB"),
        field("model_gpu_memory", &C::model_gpu_memory, {kMiB, kTiB},
              "Most device memory the model may take; a plain number is MiB.")
            .unit("MiB")
            .not_yet(NotYet::kFeed),
        field("prefetch_to_gpu", &C::prefetch_to_gpu, "Off: batches stay in host memory.")
            .old("data.prefetch_to_gpu"),
        field("enhanced_gpu_prefetch", &C::enhanced_gpu_prefetch,
              "Off: one batch in device memory, copied when it is asked for.")
            .off_flags("--disable-gpu-prefetch")
            .old("data.enhanced_gpu_prefetch"),
        field("pin_memory", &C::pin_memory, "Page-locked host buffers for copies.")
            .old("data.pin_memory"),
        field("copy_from_cache", &C::copy_from_cache,
              "Rows of a mapped cache in memory are copied from where they lie; off: through "
              "page-locked slots."),
        field("mel_place", &C::mel_place, "Where mels are computed; auto: measured at start."),
    };
  }
};

}  // namespace stoker::config
