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
enum class TunerKnob : std::uint8_t { kWorkers, kDepth, kReadAhead, kDeviceDepth };
inline constexpr std::array<std::string_view, 4> kTunerKnobNames{"num_workers", "depth",
                                                                 "read_ahead", "device_depth"};

struct TunerKnobs {
  std::array<unsigned, kTunerKnobNames.size()> values{};  // by TunerKnob

  unsigned& at(TunerKnob knob) { return values[static_cast<std::size_t>(knob)]; }
  unsigned at(TunerKnob knob) const { return values[static_cast<std::size_t>(knob)]; }
  bool operator==(const TunerKnobs&) const = default;
};

struct TunerLimits {
  TunerKnobs most;                 // workers: the cores allowed; depth: what the memory allows
  unsigned most_idle_workers = 1;  // workers while the cores have time left: they wait for storage
  // The buffer that the consumer takes from, where its length is chosen here; and the shortest it
  // may become, 0: it is not shortened.
  std::optional<TunerKnob> buffer{};
  unsigned least_buffer = 0;
};

// What one window looked like.
struct TunerSample {
  double seconds = 0;
  std::uint64_t num_batches = 0;  // delivered in it
  double stall_share = 0;         // time the consumer waited over all time
  double cpu_share = 0;           // of the cores allowed
  double buffer_stall_share = 0;  // as stall_share, of the buffer that the consumer takes from
  double slack_share = 0;         // time in which that buffer was full and nothing could be added
};

struct TunerMove {
  TunerKnob knob = TunerKnob::kWorkers;
  unsigned from = 0;
  unsigned to = 0;
  std::string reason;
};

// Depth comes first where further workers would find no slot to fill. Any other move is tried for a
// few windows, kept when batches came faster or the stall fell, else undone
// and left alone for a while. Workers on cores of their own are taken away only where they slowed
// the feed: a consumer that hardly waits cannot become faster by much, and would take more at any
// moment. Nothing moves while the consumer's demand is met.
//
// A consumer that waits although its buffer was full in the same window has met a pause: the buffer
// becomes longer; one that was never full, has room for all workers and is filled by busy cores for
// a consumer without a pace is not tried longer. One that is full most of the time for long becomes
// shorter, and never again as short as it was when a pause was met.
class TunerPolicy {
 public:
  TunerPolicy(const TunerKnobs& start, const TunerLimits& limits);

  // The move to make after this window, if any; knobs() has it already.
  std::optional<TunerMove> decide(const TunerSample& sample);
  const TunerKnobs& knobs() const { return knobs_; }

  static constexpr double kStallMet = 0.005;  // below it demand is met
  static constexpr double kHelped = 1.03;     // times as many batches
  static constexpr double kStarved = 0.1;     // above it more workers than cores may be needed
  static constexpr double kSlack = 0.02;      // above it supply exceeds demand
  static constexpr double kMostlyFull = 0.5;
  static constexpr unsigned kFullWindows = 64;  // before a buffer becomes shorter

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
  std::optional<TunerMove> lengthen_buffer();
  std::optional<TunerMove> shorten_buffer();
  unsigned larger(TunerKnob knob, const TunerSample& sample) const;
  bool has_helped(const Trial& trial) const;
  bool is_deep_enough(const TunerSample& sample) const;

  TunerKnobs knobs_;
  TunerLimits limits_;
  std::optional<Trial> trial_;
  unsigned num_windows_ = 0;  // since the last move
  double best_rate_ = 0;      // of those
  double least_stall_ = 1;
  double most_slack_ = 0;
  double pause_stall_ = 0;         // the most of a window whose buffer was full at times
  unsigned num_full_windows_ = 0;  // one after the other
  unsigned shortest_without_ = 0;  // pauses: the buffer stays longer than that
  std::array<unsigned, kTunerKnobNames.size()> rest_{};       // windows until it is tried again
  std::array<unsigned, kTunerKnobNames.size()> next_rest_{};  // doubles each time it did not help
};

}  // namespace stoker::feed
