// A filler of integers for tests of the engine: slot = square of the sequence number, with faults
// on demand, and a gate at which a fill can be held.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "stoker/base/thread/sync.h"
#include "stoker/pipeline/slot_filler.h"

namespace stoker::pipeline {

class CountingFiller final : public SlotFiller {
 public:
  static constexpr std::uint64_t kEndless = ~std::uint64_t{0};

  explicit CountingFiller(std::uint64_t num_items, unsigned num_slots = 128)
      : num_items_(num_items), values_(num_slots) {}

  // Called in each stage of each fill; may wait, throw or look at the stop token.
  std::function<void(FillContext&, std::size_t stage)> during;

  std::span<const std::string_view> stages() const override { return kStages; }

  FillEnd fill(FillContext& context) override {
    if (context.sequence() >= num_items_) return FillEnd::kPastEnd;
    for (std::size_t stage = 0; stage < kStages.size(); ++stage) {
      context.enter(stage);
      context.at_item(context.sequence());
      if (during) during(context, stage);
    }
    values_[context.slot()] = context.sequence() * context.sequence();
    return FillEnd::kFilled;
  }

  std::string name_item(std::uint64_t item) const override { return "file" + std::to_string(item); }

  std::uint64_t value(std::uint32_t slot) const { return values_[slot]; }

 private:
  static constexpr std::array<std::string_view, 3> kStages{"fetch", "work", "store"};
  std::uint64_t num_items_;
  std::vector<std::uint64_t> values_;
};

// Closed until somebody opens it.
class Gate {
 public:
  void open() {
    const Lock lock(mutex_);
    is_open_ = true;
    opened_.notify_all();
  }
  // Without a stop token: as a read from dead storage, which nothing ends.
  void wait(const std::stop_token& stop = {}) {
    Lock lock(mutex_);
    while (!is_open_) {
      if (opened_.wait(lock, stop) == WaitEnd::kStopped) return;
    }
  }

 private:
  Mutex mutex_;
  ConditionVariable opened_;
  bool is_open_ STOKER_GUARDED_BY(mutex_) = false;
};

}  // namespace stoker::pipeline
