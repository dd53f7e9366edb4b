// Looks at GPUs, machine and feed once per interval and makes one value of it.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "stoker/base/clock.h"
#include "stoker/base/io/io.h"
#include "stoker/observe/live/feed_watch.h"
#include "stoker/observe/live/live_figures.h"
#include "stoker/observe/machine/gpu_gauge.h"

namespace stoker::observe {

struct NamedGauge {
  unsigned index = 0;
  std::string name{};
  GpuGauge gauge{};
};
struct GpuGauges {
  std::vector<NamedGauge> gauges{};
  std::string why_none{};
};
// All GPUs that the driver knows, or those of `wanted`, by the numbers that nvidia-smi gives them.
// CUDA is not asked: a view must not take memory of a card. Throws E-LIVE-GPU for a number that no
// card has where there are cards. `library` is for tests.
GpuGauges open_gpu_gauges(const std::vector<unsigned>& wanted,
                          const char* library = cuda::Nvml::kLibrary);

struct LiveSourceOptions {
  FeedTarget feed{};
  GpuGauges gpus{};
  std::string disk_path = ".";  // whose disk is shown
  Io* io = &system_io();
  std::string root{};  // replaces "/" of /proc and /sys
  const Clock* clock = &system_clock();
  std::function<std::vector<feed::FallbackCount>()> fallbacks{};  // of a feed of this process
};

// One thread at a time.
class LiveSource {
 public:
  explicit LiveSource(LiveSourceOptions options);
  ~LiveSource();

  // The figures since the last look. May take 40 ms for each card.
  LiveFigures look();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace stoker::observe
