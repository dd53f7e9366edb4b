#include "stoker/text/pattern/program.h"

#include <algorithm>
#include <utility>

namespace stoker::text {
namespace {

using Kind = PatternNode::Kind;
using StepKind = PatternStep::Kind;

bool can_be_empty(const PatternNode& node) {
  const auto child_can = [](const PatternNode& child) { return can_be_empty(child); };
  switch (node.kind) {
    case Kind::kSet:
      return false;
    case Kind::kChoice:
      return std::any_of(node.children.begin(), node.children.end(), child_can);
    case Kind::kRepeat:
      return node.min == 0 || can_be_empty(node.children[0]);
    default:
      return std::all_of(node.children.begin(), node.children.end(), child_can);
  }
}

class Writer {
 public:
  bool is_full() const { return steps_.size() >= kMostSteps; }
  std::vector<PatternStep> take() && { return std::move(steps_); }
  std::size_t add(PatternStep step) {
    if (!is_full()) steps_.push_back(std::move(step));
    return steps_.size() - 1;
  }

  void write(const PatternNode& node) {
    if (is_full()) return;
    switch (node.kind) {
      case Kind::kSet:
        add({.kind = StepKind::kSet, .test = node});
        return;
      case Kind::kSequence:
        for (const PatternNode& child : node.children) write(child);
        return;
      case Kind::kChoice:
        write_choice(node);
        return;
      case Kind::kRepeat:
        write_repeat(node);
        return;
      case Kind::kGroup:
        add({.kind = StepKind::kRemember, .first = 2 * node.group});
        write(node.children[0]);
        add({.kind = StepKind::kRemember, .first = 2 * node.group + 1});
        return;
      default:
        add({.kind = StepKind::kPosition, .test = node});
    }
  }

 private:
  void jump(std::size_t to) { add({.kind = StepKind::kFork, .first = to, .second = to}); }

  void write_choice(const PatternNode& node) {
    std::vector<std::size_t> ends;
    for (std::size_t i = 0; i + 1 < node.children.size(); ++i) {
      const std::size_t fork = add({.kind = StepKind::kFork, .first = steps_.size() + 1});
      write(node.children[i]);
      ends.push_back(add({.kind = StepKind::kFork}));
      steps_[fork].second = steps_.size();
    }
    write(node.children.back());
    for (const std::size_t end : ends) steps_[end].first = steps_[end].second = steps_.size();
  }

  // A fork between the body, which begins right behind it, and a place that is set later.
  std::size_t fork(bool is_lazy) {
    const std::size_t at = add({.kind = StepKind::kFork});
    (is_lazy ? steps_[at].second : steps_[at].first) = at + 1;
    return at;
  }
  void leave_at(std::size_t fork_at, bool is_lazy, std::size_t to) {
    (is_lazy ? steps_[fork_at].first : steps_[fork_at].second) = to;
  }

  // x{2,4} is x x (x (x)?)?, x{2,} is x x x*; so each required turn has steps of its own and may
  // match nothing, while a turn of x* that matches nothing comes back to a fork already taken.
  void write_repeat(const PatternNode& node) {
    const PatternNode& body = node.children[0];
    const bool is_open = node.max == PatternNode::kNoMaximum;
    const bool is_plus = is_open && node.min > 0 && !can_be_empty(body);
    const std::uint32_t num_required = is_plus ? node.min - 1 : node.min;
    for (std::uint32_t i = 0; i < num_required && !is_full(); ++i) {
      const std::size_t before = steps_.size();
      write(body);
      if (steps_.size() == before) return;  // nothing, however often
    }
    if (is_plus) return write_plus(body, node.is_lazy);
    if (is_open) return write_star(body, node.is_lazy);
    std::vector<std::size_t> forks;
    for (std::uint32_t i = node.min; i < node.max && !is_full(); ++i) {
      forks.push_back(fork(node.is_lazy));
      write(body);
    }
    for (const std::size_t at : forks) leave_at(at, node.is_lazy, steps_.size());
  }

  void write_star(const PatternNode& body, bool is_lazy) {
    const std::size_t at = fork(is_lazy);
    write(body);
    jump(at);
    leave_at(at, is_lazy, steps_.size());
  }

  void write_plus(const PatternNode& body, bool is_lazy) {
    const std::size_t begin = steps_.size();
    write(body);
    const std::size_t next = steps_.size() + 1;
    add({.kind = StepKind::kFork,
         .first = is_lazy ? next : begin,
         .second = is_lazy ? begin : next});
  }

  std::vector<PatternStep> steps_;
};

}  // namespace

std::optional<std::vector<PatternStep>> make_steps(const PatternTree& tree) {
  Writer writer;
  writer.add({.kind = StepKind::kRemember, .first = 0});
  writer.write(tree.root);
  writer.add({.kind = StepKind::kRemember, .first = 1});
  writer.add({.kind = StepKind::kMatch});
  if (writer.is_full()) return std::nullopt;
  return std::move(writer).take();
}

}  // namespace stoker::text
