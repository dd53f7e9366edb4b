// Decides, window by window, which knob of a feed to turn next: a pure state machine, so that a log
// of what it saw gives the same moves again.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace stoker::feed {

// What may be turned while running; none of it changes a byte.
enum class TunerKnob : std::uint8_t { kWorkers, kDepth, kReadAhead };
inline constexpr std::array<std::string_view, 3> kTunerKnobNames{"num_workers", "depth",
                                                                 "read_ahead"};

struct TunerKnobs {
  std::array<unsigned, kTunerKnobNames.size()> values{};  // by TunerKnob

  unsigned& at(TunerKnob knob) { return values[static_cast<std::size_t>(knob)]; }
  unsigned at(TunerKnob knob) const { return values[static_cast<std::size_t>(knob)]; }
  bool operator==(const TunerKnobs&) const = default;
};

struct TunerLimits {
  TunerKnobs most;                 // workers: the cores allowed; depth: what the memory allows
  unsigned most_idle_workers = 1;  // workers while the cores have time left: they wait for storage
};

// What one window looked like.
struct TunerSample {
  double seconds = 0;
  std::uint64_t num_batches = 0;  // delivered in it
  double stall_share = 0;         // time the consumer waited over all time
  double cpu_share = 0;           // of the cores allowed
};

struct TunerMove {
  TunerKnob knob = TunerKnob::kWorkers;
  unsigned from = 0;
  unsigned to = 0;
  std::string reason;
};

// Depth comes first where further workers would find no slot to fill. Any other move is tried for a
// few windows, kept when batches came faster or the stall fell, else undone
// and left alone for a while. Nothing moves while the consumer's demand is met.
class TunerPolicy {
 public:
  TunerPolicy(const TunerKnobs& start, const TunerLimits& limits);

  // The move to make after this window, if any; knobs() has it already.
  std::optional<TunerMove> decide(const TunerSample& sample);
  const TunerKnobs& knobs() const { return knobs_; }

  static constexpr double kStallMet = 0.005;  // below it demand is met
  static constexpr double kHelped = 1.03;     // times as many batches

 private:
  struct Trial {
    TunerKnob knob = TunerKnob::kWorkers;
    unsigned from = 0;
    double rate_before = 0;
    double stall_before = 0;
  };

  void remember(const TunerSample& sample);
  std::optional<TunerMove> begin_trial(const TunerSample& sample);
  std::optional<TunerMove> end_trial(const TunerSample& sample);
  std::optional<TunerMove> make_room(unsigned num_workers);
  unsigned larger(TunerKnob knob, const TunerSample& sample) const;

  TunerKnobs knobs_;
  TunerLimits limits_;
  std::optional<Trial> trial_;
  unsigned num_windows_ = 0;  // since the last move
  double best_rate_ = 0;      // of those
  double least_stall_ = 1;
  std::array<unsigned, kTunerKnobNames.size()> rest_{};       // windows until it is tried again
  std::array<unsigned, kTunerKnobNames.size()> next_rest_{};  // doubles each time it did not help
};

}  // namespace stoker::feed
