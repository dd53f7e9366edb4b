#include "stoker/feed/sampling/bucket_edges.h"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>

#include "stoker/base/checked.h"
#include "stoker/base/invariant.h"

namespace stoker::feed {
namespace {

constexpr std::uint64_t kFrameStep = 8;
constexpr std::uint64_t kFinestGrid = 256;  // classes of 8 frames before the step doubles
constexpr std::size_t kMaxClasses = 320;
// Costs in 32nds of a frame. An eighth of a full batch for each batch keeps batches full; a 32nd
// for each shape joins buckets where batches are few.
constexpr std::uint64_t kFrameCost = 32;
constexpr std::uint64_t kBatchCost = 4;
constexpr std::uint64_t kFullCost = kFrameCost + kBatchCost;  // a frame of a full batch
// Leftover counts kept for each (buckets, class); more gain less than 0.01 % of padding.
constexpr std::size_t kBeam = 8;

// The step at a length: 8 frames up to 8 * grid, twice that up to 16 * grid, and so on.
std::uint64_t step_at(std::uint64_t num_frames, std::uint64_t grid) {
  std::uint64_t step = kFrameStep;
  while (num_frames > step * grid) step *= 2;
  return step;
}

std::uint32_t class_end(std::uint32_t num_frames, std::uint64_t grid) {
  const std::uint64_t frames = std::max(num_frames, 1U);
  return static_cast<std::uint32_t>(round_up(frames, step_at(frames, grid)));
}

// A choice of buckets for the shortest classes.
struct Choice {
  std::uint64_t cost = 0;          // of the batches so far
  std::uint64_t num_leftover = 0;  // rows still to be placed in the next longer bucket
  std::uint64_t at_least = 0;      // cost, and the leftovers in full batches of this bucket
  std::uint32_t batch_rows = 0;
  std::uint16_t from_class = 0;   // where the previous bucket ended (one past its class)
  std::uint16_t from_choice = 0;  // which Choice of that cell this one extends
  bool spills = false;
};

// The best few choices of one cell, ascending by at_least; one for each leftover count.
class Beam {
 public:
  bool refuses(std::uint64_t at_least) const {
    return num_ == kBeam && at_least >= choices_[num_ - 1].at_least;
  }
  void offer(const Choice& choice) {
    if (refuses(choice.at_least)) return;
    for (std::size_t i = 0; i < num_; ++i) {
      if (choices_[i].num_leftover != choice.num_leftover) continue;
      if (choices_[i].at_least <= choice.at_least) return;
      remove(i);
      break;
    }
    insert(choice);
  }
  std::size_t size() const { return num_; }
  const Choice& operator[](std::size_t i) const { return choices_[i]; }

 private:
  void remove(std::size_t at) {
    std::copy(choices_.begin() + static_cast<std::ptrdiff_t>(at) + 1,
              choices_.begin() + static_cast<std::ptrdiff_t>(num_),
              choices_.begin() + static_cast<std::ptrdiff_t>(at));
    --num_;
  }
  void insert(const Choice& choice) {
    if (num_ < kBeam) ++num_;
    std::size_t at = num_ - 1;
    for (; at > 0 && choices_[at - 1].at_least > choice.at_least; --at)
      choices_[at] = choices_[at - 1];
    choices_[at] = choice;
  }

  std::array<Choice, kBeam> choices_;
  std::size_t num_ = 0;
};

class BucketTable {
 public:
  BucketTable(const std::vector<LengthClass>& classes, const BucketSearch& search)
      : classes_(classes), search_(search), num_cells_(classes.size() + 1) {
    rows_before_.push_back(0);
    for (const LengthClass& each : classes) {
      rows_before_.push_back(rows_before_.back() + each.num_rows);
      most_rows_.push_back(search.most_rows(each.num_frames));
    }
    Beam start;
    start.offer({});
    levels_.emplace_back(num_cells_);
    levels_[0][0] = start;
  }

  // Fills the cells that use one bucket more than the last level.
  void add_level() {
    levels_.emplace_back(num_cells_);
    // The nearest ends first: they are the good ones, so that the others are refused at a glance.
    for (std::size_t end = 1; end < num_cells_; ++end)
      for (std::size_t begin = end; begin-- > 0;) extend(begin, end);
  }

  // Cost of a whole epoch when the last level's best choice is taken; ~0 when there is none.
  std::uint64_t best_cost() const {
    const Beam& last = levels_.back()[num_cells_ - 1];
    return last.size() == 0 ? ~std::uint64_t{0} : last[0].at_least;
  }

  std::vector<Bucket> buckets(std::size_t level) const {
    std::vector<Bucket> found;
    std::size_t cell = num_cells_ - 1;
    std::size_t index = 0;
    for (; level > 0; --level) {
      const Choice& choice = levels_[level][cell][index];
      found.push_back({classes_[cell - 1].num_frames, choice.batch_rows, choice.spills});
      cell = choice.from_class;
      index = choice.from_choice;
    }
    std::reverse(found.begin(), found.end());
    return found;
  }

 private:
  // Adds a bucket of the classes [begin, end) to each choice that ends at `begin`.
  void extend(std::size_t begin, std::size_t end) {
    const Beam& from = levels_[levels_.size() - 2][begin];
    Beam& to = levels_.back()[end];
    const std::uint64_t frames = classes_[end - 1].num_frames;
    const std::uint64_t most_rows = most_rows_[end - 1];
    const std::uint64_t own_rows = rows_before_[end] - rows_before_[begin];
    for (std::size_t i = 0; i < from.size(); ++i) {
      // No batch costs less for its rows than a full one.
      const std::uint64_t bucket_cost = most_rows * frames;
      if (to.refuses(from[i].at_least + bucket_cost + own_rows * kFullCost * frames)) break;
      Choice choice;
      choice.from_class = static_cast<std::uint16_t>(begin);
      choice.from_choice = static_cast<std::uint16_t>(i);
      choice.cost = from[i].cost + bucket_cost;
      const std::uint64_t num_rows = from[i].num_leftover + own_rows;
      const bool is_last = end == num_cells_ - 1;
      if (is_last ? keeps_size() : num_rows >= most_rows)
        to.offer(spilling(choice, num_rows, end - 1));
      if (keeps_size()) continue;
      if (const auto closed = closing(choice, from[i], own_rows, end - 1)) to.offer(*closed);
    }
  }

  // Batches of batch_size rows and no others were asked for.
  bool keeps_size() const { return search_.is_by_size && search_.drop_last; }

  Choice spilling(Choice choice, std::uint64_t num_rows, std::size_t last_class) const {
    const std::uint64_t frames = classes_[last_class].num_frames;
    choice.spills = true;
    choice.batch_rows = most_rows_[last_class];
    choice.num_leftover = num_rows % choice.batch_rows;
    choice.cost += (num_rows - choice.num_leftover) * kFullCost * frames;
    choice.at_least = choice.cost + choice.num_leftover * kFullCost * frames;
    return choice;
  }

  // All rows in as few batches as they need, each with equally many; empty when drop_last would
  // leave all of them out.
  std::optional<Choice> closing(Choice choice, const Choice& from, std::uint64_t own_rows,
                                std::size_t last_class) const {
    const std::uint64_t frames = classes_[last_class].num_frames;
    const std::uint64_t most_rows = most_rows_[last_class];
    const std::uint64_t multiple = search_.batch_multiple;
    const std::uint64_t num_rows = from.num_leftover + own_rows;
    const std::uint64_t planned = planned_rows(from, own_rows);
    if (planned == 0) return std::nullopt;
    const std::uint64_t num_batches = (planned + most_rows - 1) / most_rows;
    std::uint64_t batch_rows = 0;
    if (search_.is_by_size)
      batch_rows = std::min(most_rows, round_up(planned, multiple));
    else if (search_.drop_last)
      batch_rows = planned / num_batches / multiple * multiple;
    else
      batch_rows = round_up((planned + num_batches - 1) / num_batches, multiple);
    if (batch_rows == 0) return std::nullopt;
    choice.batch_rows = static_cast<std::uint32_t>(batch_rows);
    choice.cost += num_batches * (kFrameCost * batch_rows + kBatchCost * most_rows) * frames;
    if (num_rows > num_batches * batch_rows)  // left out
      choice.cost += (num_rows - num_batches * batch_rows) * kFullCost * frames;
    choice.at_least = choice.cost;
    return choice;
  }

  // Rows of a bucket that does not spill. Those of another epoch differ where a weight is
  // fractional: then the most that can come, so that no epoch needs one more batch for a few rows;
  // with drop_last the fewest, so that none leaves a batch out.
  std::uint64_t planned_rows(const Choice& from, std::uint64_t own_rows) const {
    const std::uint64_t uncertain = search_.num_fractional;
    if (uncertain == 0) return from.num_leftover + own_rows;
    if (search_.drop_last) return own_rows - std::min(own_rows, uncertain);
    return own_rows + uncertain + (from.spills ? from.batch_rows - 1 : 0);
  }

  const std::vector<LengthClass>& classes_;
  const BucketSearch& search_;
  std::size_t num_cells_;
  std::vector<std::uint64_t> rows_before_;
  std::vector<std::uint32_t> most_rows_;
  std::vector<std::vector<Beam>> levels_;
};

}  // namespace

void LengthCounts::add(std::uint32_t num_frames, std::uint64_t num_rows) {
  const std::uint32_t end = class_end(num_frames, kFinestGrid);
  // Place in the finest grid: each doubling of the step adds half a grid of classes.
  const std::uint64_t step = step_at(end, kFinestGrid);
  const auto num_doublings = static_cast<std::uint64_t>(std::countr_zero(step / kFrameStep));
  const std::uint64_t place = num_doublings * (kFinestGrid / 2) + end / step;
  if (place >= counts_.size()) counts_.resize(place + 1);
  counts_[place].num_frames = end;
  counts_[place].num_rows += num_rows;
}

std::vector<LengthClass> LengthCounts::classes() const {
  // Each grid's ends are among those of the next finer one, so classes can be joined as they are.
  for (std::uint64_t grid = kFinestGrid;; grid /= 2) {
    std::vector<LengthClass> found;
    for (const LengthClass& each : counts_) {
      if (each.num_frames == 0) continue;
      const std::uint32_t end = class_end(each.num_frames, grid);
      if (found.empty() || found.back().num_frames != end) found.push_back({end, 0});
      found.back().num_rows += each.num_rows;
    }
    if (found.size() <= kMaxClasses || grid == 1) return found;
  }
}

std::vector<Bucket> find_buckets(const std::vector<LengthClass>& classes,
                                 const BucketSearch& search) {
  check_invariant(!classes.empty() && search.max_shapes > 0, "buckets of nothing");
  BucketTable table(classes, search);
  const std::size_t max_level = std::min<std::size_t>(search.max_shapes, classes.size());
  std::size_t best_level = 0;
  std::uint64_t best_cost = ~std::uint64_t{0};
  for (std::size_t level = 1; level <= max_level; ++level) {
    table.add_level();
    if (table.best_cost() >= best_cost) continue;
    best_cost = table.best_cost();
    best_level = level;
  }
  if (best_level > 0) return table.buckets(best_level);
  // drop_last, and fewer rows than batch_multiple: no batch at all.
  const std::uint32_t longest = classes.back().num_frames;
  return {{longest, search.most_rows(longest), false}};
}

}  // namespace stoker::feed
