// Where a feed's mels come from when they go to a GPU: the cache, the CPU, or the GPU itself.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "stoker/config/settings.h"
#include "stoker/feed/device/gpu_mode.h"
#include "stoker/feed/source/data_set_source.h"

namespace stoker::feed {

enum class MelSource { kCache, kCpu, kGpu };

struct MelRoute {
  MelSource source = MelSource::kCpu;
  std::string reason;       // one clause, to be printed
  bool is_refused = false;  // mel_place says gpu, and other settings do not allow it
};

struct MelRouteRequest {
  const config::Settings& settings;
  const DataSetSource& store;
  const DeviceView& view;
  int device = 0;
  unsigned num_workers = 1;
  std::function<bool()> has_kernels{};  // called when the GPU may make mels; null: it can
  std::string saved_path{};             // numeric path of a state to go on from; empty: a new run
};

inline constexpr std::string_view kCudaPath = "cuda";  // the numeric path of mels made on a GPU

// A saved path and an explicit setting decide; else a complete cache; else what was measured here,
// within a second.
MelRoute choose_mel_route(const MelRouteRequest& request);

// Utterances a second by each route, from what was measured on one thread and on the device.
struct MelRates {
  double cpu_clips_per_s = 0;
  double gpu_clips_per_s = 0;
  double seconds = 0;  // that measuring took
};
MelRates measure_mel_rates(const MelRouteRequest& request);

}  // namespace stoker::feed
