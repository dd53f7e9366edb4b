#include "stoker/feed/sampling/bucket_edges.h"

#include <algorithm>
#include <array>

#include "stoker/base/checked.h"
#include "stoker/base/invariant.h"

namespace stoker::feed {
namespace {

constexpr std::uint32_t kFrameStep = 8;
constexpr std::uint32_t kMaxClasses = 256;
// Leftover counts kept for each (edges used, class); more gain less than 0.01 % of padding.
constexpr std::size_t kBeam = 8;

// A way to cut the shortest classes into buckets.
struct Cut {
  std::uint64_t padded_frames = 0;  // of the full batches so far
  std::uint64_t num_leftover = 0;   // rows still to be placed in the next longer bucket
  std::uint64_t at_least = 0;       // padded_frames plus the leftovers at this bucket's length
  std::uint16_t from_class = 0;     // where the previous bucket ended (one past its class)
  std::uint16_t from_cut = 0;       // which Cut of that cell this one extends
};

// The best few cuts of one cell, ascending by at_least; one for each leftover count.
class Beam {
 public:
  void offer(const Cut& cut) {
    if (num_ == kBeam && cut.at_least >= cuts_[num_ - 1].at_least) return;
    for (std::size_t i = 0; i < num_; ++i) {
      if (cuts_[i].num_leftover != cut.num_leftover) continue;
      if (cuts_[i].at_least <= cut.at_least) return;
      remove(i);
      break;
    }
    insert(cut);
  }
  std::size_t size() const { return num_; }
  const Cut& operator[](std::size_t i) const { return cuts_[i]; }

 private:
  void remove(std::size_t at) {
    std::copy(cuts_.begin() + static_cast<std::ptrdiff_t>(at) + 1,
              cuts_.begin() + static_cast<std::ptrdiff_t>(num_),
              cuts_.begin() + static_cast<std::ptrdiff_t>(at));
    --num_;
  }
  void insert(const Cut& cut) {
    if (num_ < kBeam) ++num_;
    std::size_t at = num_ - 1;
    for (; at > 0 && cuts_[at - 1].at_least > cut.at_least; --at) cuts_[at] = cuts_[at - 1];
    cuts_[at] = cut;
  }

  std::array<Cut, kBeam> cuts_;
  std::size_t num_ = 0;
};

class EdgeTable {
 public:
  EdgeTable(const std::vector<LengthClass>& classes, const EdgeSearch& search)
      : classes_(classes), search_(search), num_cells_(classes.size() + 1) {
    rows_before_.push_back(0);
    for (const LengthClass& each : classes) {
      rows_before_.push_back(rows_before_.back() + each.num_rows);
      rows_per_batch_.push_back(search.rows_per_batch(each.num_frames));
    }
    Beam start;
    start.offer({});
    levels_.emplace_back(num_cells_);
    levels_[0][0] = start;
  }

  // Fills the cells that use one edge more than the last level.
  void add_level() {
    levels_.emplace_back(num_cells_);
    const std::vector<Beam>& before = levels_[levels_.size() - 2];
    for (std::size_t end = 1; end < num_cells_; ++end) {
      for (std::size_t begin = 0; begin < end; ++begin) extend(before[begin], begin, end);
    }
  }

  // Frames of a whole epoch when the last level's best cut is taken; ~0 when there is none.
  std::uint64_t best_cost() const {
    const Beam& last = levels_.back()[num_cells_ - 1];
    return last.size() == 0 ? ~std::uint64_t{0} : last[0].at_least;
  }

  std::vector<std::uint32_t> edges(std::size_t level) const {
    std::vector<std::uint32_t> found;
    std::size_t cell = num_cells_ - 1;
    std::size_t cut_index = 0;
    for (; level > 0; --level) {
      found.push_back(classes_[cell - 1].num_frames);
      const Cut& cut = levels_[level][cell][cut_index];
      cell = cut.from_class;
      cut_index = cut.from_cut;
    }
    std::reverse(found.begin(), found.end());
    return found;
  }

 private:
  void extend(const Beam& from, std::size_t begin, std::size_t end) {
    const std::uint64_t frames = classes_[end - 1].num_frames;
    const std::uint32_t batch_rows = rows_per_batch_[end - 1];
    const std::uint64_t own_rows = rows_before_[end] - rows_before_[begin];
    const bool is_last = end == num_cells_ - 1;
    for (std::size_t i = 0; i < from.size(); ++i) {
      const auto rows = static_cast<std::uint32_t>(from[i].num_leftover + own_rows);
      Cut cut;
      cut.num_leftover = rows % batch_rows;
      cut.padded_frames = from[i].padded_frames + (rows - cut.num_leftover) * frames;
      cut.at_least = cut.padded_frames + cut.num_leftover * frames;
      if (is_last && cut.num_leftover > 0 && !search_.drop_last) {
        cut.at_least = cut.padded_frames + batch_rows * frames;
      }
      cut.from_class = static_cast<std::uint16_t>(begin);
      cut.from_cut = static_cast<std::uint16_t>(i);
      levels_.back()[end].offer(cut);
    }
  }

  const std::vector<LengthClass>& classes_;
  const EdgeSearch& search_;
  std::size_t num_cells_;
  std::vector<std::uint64_t> rows_before_;
  std::vector<std::uint32_t> rows_per_batch_;
  std::vector<std::vector<Beam>> levels_;
};

}  // namespace

std::vector<std::uint32_t> find_bucket_edges(const std::vector<LengthClass>& classes,
                                             const EdgeSearch& search) {
  check_invariant(!classes.empty() && search.max_shapes > 0, "buckets of nothing");
  EdgeTable table(classes, search);
  const std::size_t max_level = std::min<std::size_t>(search.max_shapes, classes.size());
  std::size_t best_level = 1;
  std::uint64_t best_cost = ~std::uint64_t{0};
  for (std::size_t level = 1; level <= max_level; ++level) {
    table.add_level();
    if (table.best_cost() >= best_cost) continue;
    best_cost = table.best_cost();
    best_level = level;
  }
  return table.edges(best_level);
}

std::vector<LengthClass> length_classes(const std::vector<std::uint32_t>& num_frames) {
  check_invariant(!num_frames.empty(), "length classes of nothing");
  const std::uint32_t longest = *std::max_element(num_frames.begin(), num_frames.end());
  const std::uint32_t step =
      round_up(std::max(1U, (longest + kMaxClasses - 1) / kMaxClasses), kFrameStep);
  std::vector<std::uint64_t> counts(longest / step + 1);
  for (const std::uint32_t frames : num_frames) ++counts[(std::max(frames, 1U) - 1) / step];
  std::vector<LengthClass> classes;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const auto end_frames = static_cast<std::uint32_t>((i + 1) * step);
    if (counts[i] > 0) classes.push_back({end_frames, counts[i]});
  }
  return classes;
}

}  // namespace stoker::feed
