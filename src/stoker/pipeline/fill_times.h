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
// ticks: there are many of them. Fills that follow within kBetweenItemsTimed go without ticks;
// there an item's time is known where it enters stages of its own, as all do that are read from
// files.
class FillTimes {
 public:
  struct Stage {
    std::chrono::nanoseconds begin{};  // when it was entered first
    std::chrono::nanoseconds end{};    // when it was left last
    std::chrono::nanoseconds busy{};
  };
  static constexpr std::chrono::milliseconds kBetweenItemsTimed{1};

  // The longest time without a mark that an item took; kNoItem where none is known.
  struct Slowest {
    std::chrono::nanoseconds time{};
    std::uint64_t item = kNoItem;
    std::size_t stage = 0;
  };

  void begin(std::chrono::nanoseconds now) {
    const std::chrono::nanoseconds items_timed = items_timed_;
    *this = {};
    times_items_ = now - items_timed >= kBetweenItemsTimed;
    items_timed_ = times_items_ ? now : items_timed;
    stages_[0].begin = now;
    begun_ = last_ = now;
    if (times_items_) first_tick_ = last_tick_ = ticks_now();
  }
  void enter(std::size_t stage, std::chrono::nanoseconds now) {
    end_stretch();
    end_clocked_stretch(now);
    charge(now);
    if (stages_[stage].busy.count() == 0 && stage != stage_) stages_[stage].begin = now;
    stage_ = stage;
  }
  void begin_item(std::uint64_t item) {
    end_stretch();
    item_ = item;
    ++num_begun_;
  }
  void end(std::chrono::nanoseconds now) {
    end_stretch();
    end_clocked_stretch(now);
    charge(now);
    if (!times_items_) return;
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
  // From one stage to the next: the item's that entered the first of them, unless others came
  // between.
  void end_clocked_stretch(std::chrono::nanoseconds now) {
    if (times_items_) return;
    if (owner_ != kNoItem && num_begun_ <= 1 && now - last_ > slowest_.time)
      slowest_ = {now - last_, owner_, stage_};
    owner_ = item_;
    num_begun_ = 0;
  }
  void end_stretch() {
    if (!times_items_) return;
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
  bool times_items_ = false;
  std::uint64_t owner_ = kNoItem;  // of the time since the last stage began
  unsigned num_begun_ = 0;         // items since then
  std::chrono::nanoseconds items_timed_ = -kBetweenItemsTimed;  // the last fill of which they were
};

}  // namespace stoker::pipeline
