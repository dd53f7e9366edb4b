// How long one fill spent in each stage, and the item that held it up most: for those who keep a
// record of every slot.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "stoker/base/ticks.h"
#include "stoker/pipeline/activity.h"

namespace stoker::pipeline {

// One thread; marks are given in the order of time. The time between two marks belongs to the stage
// and to the item that were entered last. Stages are timed by the clock, items by the processor's
// ticks: there are many of them.
class FillTimes {
 public:
  struct Stage {
    std::chrono::nanoseconds begin{};  // when it was entered first
    std::chrono::nanoseconds end{};    // when it was left last
    std::chrono::nanoseconds busy{};
  };
  // The longest time without a mark that an item took.
  struct Slowest {
    std::chrono::nanoseconds time{};
    std::uint64_t item = kNoItem;
    std::size_t stage = 0;
  };

  void begin(std::chrono::nanoseconds now) {
    *this = {};
    stages_[0].begin = now;
    begun_ = last_ = now;
    first_tick_ = last_tick_ = ticks_now();
  }
  void enter(std::size_t stage, std::chrono::nanoseconds now) {
    end_stretch();
    charge(now);
    if (stages_[stage].busy.count() == 0 && stage != stage_) stages_[stage].begin = now;
    stage_ = stage;
  }
  void begin_item(std::uint64_t item) {
    end_stretch();
    item_ = item;
  }
  void end(std::chrono::nanoseconds now) {
    end_stretch();
    charge(now);
    const std::int64_t num_ticks = std::max<std::int64_t>(1, last_tick_ - first_tick_);
    slowest_.time = std::chrono::nanoseconds(static_cast<std::int64_t>(
        static_cast<double>(slowest_ticks_) * static_cast<double>((now - begun_).count()) /
        static_cast<double>(num_ticks)));
  }

  const Stage& stage(std::size_t stage) const { return stages_[stage]; }
  const Slowest& slowest() const { return slowest_; }  // after end()
  std::chrono::nanoseconds begun() const { return begun_; }
  std::chrono::nanoseconds ended() const { return last_; }

 private:
  void charge(std::chrono::nanoseconds now) {
    stages_[stage_].busy += now - last_;
    stages_[stage_].end = now;
    last_ = now;
  }
  void end_stretch() {
    const std::int64_t tick = ticks_now();
    if (tick - last_tick_ > slowest_ticks_ && item_ != kNoItem) {
      slowest_ticks_ = tick - last_tick_;
      slowest_.item = item_;
      slowest_.stage = stage_;
    }
    last_tick_ = tick;
  }

  std::array<Stage, kMaxStages> stages_{};
  Slowest slowest_;
  std::size_t stage_ = 0;
  std::uint64_t item_ = kNoItem;
  std::chrono::nanoseconds begun_{};
  std::chrono::nanoseconds last_{};
  std::int64_t first_tick_ = 0;
  std::int64_t last_tick_ = 0;
  std::int64_t slowest_ticks_ = 0;
};

}  // namespace stoker::pipeline
