#include "stoker/feed/tuner/tuner_policy.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "stoker/base/number_text.h"

namespace stoker::feed {
namespace {

constexpr std::array<TunerKnob, 3> kOrder{TunerKnob::kWorkers, TunerKnob::kDepth,
                                          TunerKnob::kReadAhead};
constexpr unsigned kSettling = 1;   // windows in which a move is not yet seen
constexpr unsigned kLooked = 2;     // windows looked at, before and after a move
constexpr unsigned kFirstRest = 8;  // windows
constexpr unsigned kLongestRest = 512;
constexpr unsigned kFirstReadAhead = 8;
constexpr double kIdle = 0.7;  // of the cores: below it workers wait for something else
constexpr double kStallFell = 0.5;
constexpr double kUnpaced = 0.5;  // of its time such a consumer waits, and more

std::string percent(double share) { return std::to_string(std::lround(100 * share)); }

std::string rate_text(double batches_per_s) {
  return batches_per_s >= 100
             ? grouped(static_cast<std::uint64_t>(batches_per_s))
             : std::to_string(static_cast<int>(batches_per_s * 10) / 10.0).substr(0, 4);
}

}  // namespace

TunerPolicy::TunerPolicy(const TunerKnobs& start, const TunerLimits& limits)
    : knobs_(start), limits_(limits) {
  next_rest_.fill(kFirstRest);
}

// The best of a few short windows: disturbances only slow.
void TunerPolicy::remember(const TunerSample& sample) {
  ++num_windows_;
  if (trial_ && num_windows_ <= kSettling) return;
  const double rate =
      sample.seconds > 0 ? static_cast<double>(sample.num_batches) / sample.seconds : 0.0;
  best_rate_ = std::max(best_rate_, rate);
  least_stall_ = std::min(least_stall_, sample.stall_share);
  most_slack_ = std::max(most_slack_, sample.slack_share);
  if (sample.slack_share >= kSlack)
    pause_stall_ = std::max(pause_stall_, sample.buffer_stall_share);
}

std::optional<TunerMove> TunerPolicy::decide(const TunerSample& sample) {
  for (unsigned& windows : rest_) windows -= std::min(windows, 1U);
  const bool is_full = sample.slack_share >= kMostlyFull && sample.buffer_stall_share < kStallMet;
  num_full_windows_ = is_full ? num_full_windows_ + 1 : 0;
  remember(sample);
  if (num_windows_ < kLooked + (trial_ ? kSettling : 0)) return std::nullopt;
  std::optional<TunerMove> move = trial_ ? end_trial(sample) : begin_trial(sample);
  num_windows_ = 0;
  best_rate_ = 0;
  least_stall_ = 1;
  pause_stall_ = most_slack_ = 0;
  return move;
}

unsigned TunerPolicy::larger(TunerKnob knob, const TunerSample& sample) const {
  const unsigned now = knobs_.at(knob);
  unsigned most = limits_.most.at(knob);
  unsigned wanted = now * 2;
  if (knob == TunerKnob::kWorkers) {
    wanted = now + std::max(1U, now / 2);
    // Where supply is close to demand, a thread more than the cores costs the consumer its own.
    const bool is_starved = least_stall_ >= kStarved;
    if (is_starved && sample.cpu_share < kIdle) most = std::max(most, limits_.most_idle_workers);
  }
  if (knob == TunerKnob::kReadAhead) wanted = std::max(wanted, kFirstReadAhead);
  return std::max(now, std::min(wanted, most));
}

std::optional<TunerMove> TunerPolicy::begin_trial(const TunerSample& sample) {
  if (std::optional<TunerMove> longer = lengthen_buffer()) return longer;
  if (least_stall_ < kStallMet) return shorten_buffer();
  for (const TunerKnob knob : kOrder) {
    if (rest_[static_cast<std::size_t>(knob)] > 0) continue;
    if (knob == TunerKnob::kDepth && is_deep_enough(sample)) continue;
    const unsigned to = larger(knob, sample);
    const unsigned from = knobs_.at(knob);
    if (to == from) continue;
    if (knob == TunerKnob::kWorkers) {
      if (std::optional<TunerMove> room = make_room(to)) return room;
    }
    trial_ = Trial{knob, from, best_rate_, least_stall_};
    knobs_.at(knob) = to;
    return TunerMove{knob, from, to,
                     "the consumer waits " + percent(least_stall_) + " % of its time, cores " +
                         percent(sample.cpu_share) + " % busy"};
  }
  return std::nullopt;
}

// Busy cores bring what they can, and it is taken at once: more slots would only take memory. A
// consumer that waits less than half of its time has a pace of its own, and pauses to bridge.
bool TunerPolicy::is_deep_enough(const TunerSample& sample) const {
  return least_stall_ >= kUnpaced && sample.cpu_share >= kIdle && most_slack_ == 0 &&
         knobs_.at(TunerKnob::kDepth) >= 2 * knobs_.at(TunerKnob::kWorkers);
}

// Depth batches wait and one is filled: with fewer than that, another worker has nothing to do.
std::optional<TunerMove> TunerPolicy::make_room(unsigned num_workers) {
  unsigned& depth = knobs_.at(TunerKnob::kDepth);
  const unsigned wanted = std::min(2 * num_workers, limits_.most.at(TunerKnob::kDepth));
  if (depth >= num_workers || wanted <= depth) return std::nullopt;
  const unsigned from = depth;
  depth = wanted;
  return TunerMove{TunerKnob::kDepth, from, wanted,
                   "room for " + std::to_string(num_workers) + " workers"};
}

// Kept without a trial: pauses are too rare for one.
std::optional<TunerMove> TunerPolicy::lengthen_buffer() {
  if (!limits_.buffer || pause_stall_ < kStallMet) return std::nullopt;
  unsigned& length = knobs_.at(*limits_.buffer);
  const unsigned wanted = std::min(2 * length, limits_.most.at(*limits_.buffer));
  shortest_without_ = std::max(shortest_without_, length);
  if (wanted <= length) return std::nullopt;
  const unsigned from = std::exchange(length, wanted);
  return TunerMove{
      *limits_.buffer, from, wanted,
      "the consumer waits " + percent(pause_stall_) + " % of its time between full buffers"};
}

std::optional<TunerMove> TunerPolicy::shorten_buffer() {
  if (!limits_.buffer || limits_.least_buffer == 0) return std::nullopt;
  if (num_full_windows_ < kFullWindows) return std::nullopt;
  unsigned& length = knobs_.at(*limits_.buffer);
  const unsigned least = std::max(limits_.least_buffer, shortest_without_ + 1);
  const unsigned wanted = std::max(least, length - length / 4);
  if (wanted >= length) return std::nullopt;
  num_full_windows_ = 0;
  const unsigned from = std::exchange(length, wanted);
  return TunerMove{*limits_.buffer, from, wanted, "the buffer is full most of the time"};
}

bool TunerPolicy::has_helped(const Trial& trial) const {
  const bool has_own_cores = knobs_.at(trial.knob) <= limits_.most.at(trial.knob);
  if (trial.knob == TunerKnob::kWorkers && has_own_cores)
    return best_rate_ * kHelped >= trial.rate_before;
  return best_rate_ >= kHelped * trial.rate_before ||
         least_stall_ <= kStallFell * trial.stall_before;
}

std::optional<TunerMove> TunerPolicy::end_trial(const TunerSample& sample) {
  const Trial trial = *trial_;
  trial_.reset();
  unsigned& rest = rest_[static_cast<std::size_t>(trial.knob)];
  unsigned& next_rest = next_rest_[static_cast<std::size_t>(trial.knob)];
  if (has_helped(trial)) {
    next_rest = kFirstRest;
    return begin_trial(sample);
  }
  rest = next_rest;
  next_rest = std::min(kLongestRest, next_rest * 2);
  const unsigned tried = knobs_.at(trial.knob);
  knobs_.at(trial.knob) = trial.from;
  return TunerMove{
      trial.knob, tried, trial.from,
      "undone: " + rate_text(best_rate_) + " batches/s after " + rate_text(trial.rate_before)};
}

}  // namespace stoker::feed
