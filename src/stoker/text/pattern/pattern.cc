#include "stoker/text/pattern/pattern.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "stoker/base/utf8.h"
#include "stoker/text/pattern/program.h"

namespace stoker::text {
namespace {

using StepKind = PatternStep::Kind;
constexpr std::size_t kNowhere = std::numeric_limits<std::size_t>::max();

// Where the machine is: the byte, and the code points on both sides of it.
struct Position {
  std::size_t byte = 0;
  std::size_t text_bytes = 0;
  std::uint32_t before = 0;  // 0 at the begin
  std::uint32_t after = 0;   // 0 at the end
};

bool holds(const PatternNode& test, const Position& at) {
  const bool is_edge = is_word(at.before) != is_word(at.after);
  switch (test.kind) {
    case PatternNode::Kind::kTextBegin:
      return at.byte == 0;
    case PatternNode::Kind::kTextEnd:
      return at.byte == at.text_bytes;
    case PatternNode::Kind::kWordEdge:
      return is_edge;
    default:
      return !is_edge;
  }
}

// The ways that are still open at one position, the preferred one first, each with its own slots.
// A step is in it once at most: that bounds the work for a code point by the number of steps.
class Ways {
 public:
  Ways(std::size_t num_steps, std::size_t num_slots)
      : seen_at_(num_steps, kNowhere), num_slots_(num_slots) {}

  void clear() {
    steps_.clear();
    slots_.clear();
  }
  bool add_once(std::size_t step, std::size_t byte) {
    return std::exchange(seen_at_[step], byte) != byte;
  }
  void add(std::size_t step, const std::vector<std::size_t>& slots) {
    steps_.push_back(step);
    slots_.insert(slots_.end(), slots.begin(), slots.end());
  }
  const std::vector<std::size_t>& steps() const { return steps_; }
  void copy_slots(std::size_t way, std::vector<std::size_t>& out) const {
    const auto first = slots_.begin() + static_cast<std::ptrdiff_t>(way * num_slots_);
    std::copy_n(first, num_slots_, out.begin());
  }

 private:
  std::vector<std::size_t> steps_;
  std::vector<std::size_t> slots_;    // [way, slot]
  std::vector<std::size_t> seen_at_;  // by step: the byte at which it was added last
  std::size_t num_slots_;
};

class Machine {
 public:
  Machine(const std::vector<PatternStep>& steps, std::size_t num_slots)
      : steps_(steps),
        now_(steps.size(), num_slots),
        next_(steps.size(), num_slots),
        slots_(num_slots, kNowhere),
        best_(num_slots, kNowhere) {}

  // Slots of the leftmost match; null where there is none.
  const std::vector<std::size_t>* run(std::string_view text) {
    Position at{.text_bytes = text.size()};
    for (;;) {
      const Utf8Char next = at.byte < text.size() ? decode_utf8(text.substr(at.byte)) : Utf8Char{};
      at.after = at.byte < text.size() ? next.code_point : 0;
      if (at.byte == 0) start(at);
      if (now_.steps().empty() && is_matched_) break;
      if (at.byte == text.size()) {
        take_match();
        break;
      }
      step(at, next.size_bytes, text);
    }
    return is_matched_ ? &best_ : nullptr;
  }

 private:
  struct Pending {
    std::size_t step = 0;
    std::size_t slot = kNowhere;  // where set: gives the slot its old value back instead
    std::size_t old_place = 0;
  };

  void start(const Position& at) {
    std::fill(slots_.begin(), slots_.end(), kNowhere);
    follow(0, at, now_);
  }

  // The end of the text: only a way that is at its end counts.
  void take_match() {
    for (std::size_t way = 0; way < now_.steps().size(); ++way) {
      if (steps_[now_.steps()[way]].kind != StepKind::kMatch) continue;
      now_.copy_slots(way, best_);
      is_matched_ = true;
      return;
    }
  }

  void step(Position& at, std::size_t size_bytes, std::string_view text) {
    Position then{.byte = at.byte + size_bytes, .text_bytes = at.text_bytes, .before = at.after};
    if (then.byte < text.size()) then.after = decode_utf8(text.substr(then.byte)).code_point;
    next_.clear();
    for (std::size_t way = 0; way < now_.steps().size(); ++way) {
      const std::size_t number = now_.steps()[way];
      if (steps_[number].kind == StepKind::kMatch) {
        // What comes after this way is less preferred.
        now_.copy_slots(way, best_);
        is_matched_ = true;
        break;
      }
      if (!is_in(steps_[number].test, at.after)) continue;
      now_.copy_slots(way, slots_);
      follow(number + 1, then, next_);
    }
    std::swap(now_, next_);
    at = then;
    // A match that begins later is less preferred than every way under way.
    if (!is_matched_) start(at);
  }

  // Adds every step that is reached from `first` without a code point, the preferred way first.
  void follow(std::size_t first, const Position& at, Ways& ways) {
    pending_.assign(1, {.step = first});
    while (!pending_.empty()) {
      const Pending now = pending_.back();
      pending_.pop_back();
      if (now.slot != kNowhere)
        slots_[now.slot] = now.old_place;
      else
        take_step(now.step, at, ways);
    }
  }

  void take_step(std::size_t number, const Position& at, Ways& ways) {
    if (!ways.add_once(number, at.byte)) return;
    const PatternStep& step = steps_[number];
    switch (step.kind) {
      case StepKind::kFork:
        pending_.push_back({.step = step.second});
        pending_.push_back({.step = step.first});
        return;
      case StepKind::kRemember:
        pending_.push_back({.slot = step.first, .old_place = slots_[step.first]});
        slots_[step.first] = at.byte;
        pending_.push_back({.step = number + 1});
        return;
      case StepKind::kPosition:
        if (holds(step.test, at)) pending_.push_back({.step = number + 1});
        return;
      default:
        ways.add(number, slots_);
    }
  }

  const std::vector<PatternStep>& steps_;
  Ways now_;
  Ways next_;
  std::vector<std::size_t> slots_;
  std::vector<std::size_t> best_;
  std::vector<Pending> pending_;
  bool is_matched_ = false;
};

}  // namespace

Result<Pattern> Pattern::compile(std::string_view source, const ErrorCode& refusal) {
  Result<PatternTree> tree = parse_pattern(source, refusal);
  if (!tree) return std::move(tree).error();
  std::optional<std::vector<PatternStep>> steps = make_steps(*tree);
  if (steps) return Pattern(std::move(*steps), tree->num_groups);
  return Error{.code = &refusal,
               .promised = fmt::format("a pattern of fewer than {} steps", kMostSteps),
               .found = "more, by its counted repeats"};
}

Pattern::Pattern(std::vector<PatternStep> steps, std::size_t num_groups)
    : steps_(std::move(steps)), num_groups_(num_groups) {}
Pattern::Pattern(Pattern&&) noexcept = default;
Pattern& Pattern::operator=(Pattern&&) noexcept = default;
Pattern::~Pattern() = default;

std::optional<std::vector<std::optional<PatternGroup>>> Pattern::find(std::string_view text) const {
  Machine machine(steps_, 2 * (num_groups_ + 1));
  const std::vector<std::size_t>* const slots = machine.run(text);
  if (slots == nullptr) return std::nullopt;
  std::vector<std::optional<PatternGroup>> groups(num_groups_ + 1);
  for (std::size_t group = 0; group <= num_groups_; ++group) {
    const PatternGroup found{(*slots)[2 * group], (*slots)[2 * group + 1]};
    if (found.begin != kNowhere && found.end != kNowhere) groups[group] = found;
  }
  return groups;
}

}  // namespace stoker::text
