// What one worker is doing right now, written by it without a lock and read by the watchdog.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace stoker::pipeline {

inline constexpr std::size_t kMaxStages = 8;
inline constexpr std::uint64_t kNoItem = ~std::uint64_t{0};

// One writer, any number of readers; each field is exact, together they may be one step apart.
class Activity {
 public:
  void begin(std::uint64_t sequence, std::chrono::nanoseconds now) {
    store(sequence_, sequence);
    store(stage_, 0);
    store(item_, kNoItem);
    entered_ = now;
    step();
    // Release, paired with the acquire of is_busy(): who sees the worker busy sees its step too,
    // and does not count the time it slept as time without a step.
    busy_.store(1, std::memory_order_release);
  }
  // Ends the time of the stage before and starts that of `stage`.
  void enter(std::size_t stage, std::chrono::nanoseconds now) {
    charge(now);
    store(stage_, stage);
    step();
  }
  void at_item(std::uint64_t item) {
    store(item_, item);
    step();
  }
  void finish(std::chrono::nanoseconds now) {
    charge(now);
    store(busy_, 0);
    store(num_fills_, load(num_fills_) + 1);
    step();
  }

  bool is_busy() const { return busy_.load(std::memory_order_acquire) != 0; }
  std::uint64_t sequence() const { return load(sequence_); }
  std::size_t stage() const { return load(stage_); }
  std::uint64_t item() const { return load(item_); }
  std::uint64_t num_fills() const { return load(num_fills_); }
  // Changes whenever the worker gets anywhere.
  std::uint64_t progress() const { return load(progress_); }
  std::chrono::nanoseconds stage_time(std::size_t stage) const {
    return std::chrono::nanoseconds(static_cast<std::int64_t>(load(stage_ns_[stage])));
  }

 private:
  using Word = std::atomic<std::uint64_t>;
  static std::uint64_t load(const Word& word) { return word.load(std::memory_order_relaxed); }
  static void store(Word& word, std::uint64_t value) {
    word.store(value, std::memory_order_relaxed);
  }
  void step() { store(progress_, load(progress_) + 1); }
  void charge(std::chrono::nanoseconds now) {
    Word& total = stage_ns_[load(stage_)];
    store(total, load(total) + static_cast<std::uint64_t>((now - entered_).count()));
    entered_ = now;
  }

  Word busy_{0}, sequence_{0}, stage_{0}, item_{kNoItem}, progress_{0}, num_fills_{0};
  std::array<Word, kMaxStages> stage_ns_{};
  std::chrono::nanoseconds entered_{};
};

}  // namespace stoker::pipeline
