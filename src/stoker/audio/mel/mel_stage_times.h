// Where the time of a log-mel run goes, for `stoker bench mel`.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <string_view>

namespace stoker::audio {

enum class MelStage : std::size_t { kLoad, kTransform, kLogStore };

inline constexpr std::array<std::string_view, 3> kMelStageNames{
    "load and transpose", "window, FFT, magnitude and bands", "log, convert and store"};

struct MelStageTimes {
  std::array<std::chrono::nanoseconds, kMelStageNames.size()> spent{};
};

// Adds the time since the last call to a stage; does nothing without a place to add to.
class MelStageWatch {
 public:
  explicit MelStageWatch(MelStageTimes* times) : times_(times) { restart(); }
  void restart() {
    if (times_ != nullptr) last_ = std::chrono::steady_clock::now();
  }
  void stop(MelStage stage) {
    if (times_ == nullptr) return;
    const auto now = std::chrono::steady_clock::now();
    times_->spent[static_cast<std::size_t>(stage)] += now - last_;
    last_ = now;
  }

 private:
  MelStageTimes* times_;
  std::chrono::steady_clock::time_point last_;
};

}  // namespace stoker::audio
