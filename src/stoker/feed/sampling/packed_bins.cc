#include "stoker/feed/sampling/packed_bins.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <utility>

#include "stoker/base/checked.h"
#include "stoker/base/number_text.h"
#include "stoker/feed/errors.h"

namespace stoker::feed {
namespace {

constexpr std::uint64_t kStep = 8;
constexpr std::size_t kLookAhead = 256;

struct Totals {
  std::uint64_t frames = 0;
  std::uint64_t tokens = 0;
  std::uint64_t rows = 0;
  std::uint32_t longest_frames = 1;
  std::uint32_t longest_tokens = 1;
};

Totals totals_of(const std::vector<SampledUtterance>& rows, const std::vector<double>& weights) {
  Totals totals;
  double frames = 0, tokens = 0, count = 0;
  for (const SampledUtterance& row : rows) {
    if (!row.is_used) continue;
    const double weight = weights[row.source];
    frames += weight * row.num_frames;
    tokens += weight * row.num_tokens;
    count += weight;
    totals.longest_frames = std::max(totals.longest_frames, row.num_frames);
    totals.longest_tokens = std::max(totals.longest_tokens, row.num_tokens);
  }
  totals.frames = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(frames));
  totals.tokens = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(tokens));
  totals.rows = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(count));
  return totals;
}

// Room left in the bin that is being filled.
struct Room {
  std::uint64_t frames;
  std::uint64_t tokens;
  std::uint64_t rows;

  bool holds(const SampledUtterance& row) const {
    return rows > 0 && row.num_frames <= frames && row.num_tokens <= tokens;
  }
  void take(const SampledUtterance& row) {
    frames -= row.num_frames;
    tokens -= row.num_tokens;
    --rows;
  }
};

// The rows of the look-ahead that fill `room` best, alone or as a pair.
struct BestFit {
  std::size_t count = 0;  // 0, 1 or 2 of the places below
  std::array<std::size_t, 2> places{};
  std::uint64_t frames = 0;

  void offer(std::uint64_t sum, std::size_t num, std::array<std::size_t, 2> at) {
    if (count > 0 && sum <= frames) return;
    *this = {num, at, sum};
  }
};

BestFit find_best_fit(const std::vector<SampledUtterance>& rows,
                      std::span<const std::uint32_t> ahead, const Room& room) {
  std::array<std::pair<std::uint32_t, std::size_t>, kLookAhead> by_length;
  std::size_t num = 0;
  for (std::size_t i = 0; i < ahead.size(); ++i) {
    if (room.holds(rows[ahead[i]])) by_length[num++] = {rows[ahead[i]].num_frames, i};
  }
  BestFit best;
  if (num == 0) return best;
  std::sort(by_length.begin(), by_length.begin() + static_cast<std::ptrdiff_t>(num));
  best.offer(by_length[num - 1].first, 1, {by_length[num - 1].second, 0});
  // Two fingers: the short one rises, the long one falls while the pair is too long.
  std::size_t high = num - 1;
  for (std::size_t low = 0; low < high && room.rows >= 2; ++low) {
    while (high > low &&
           std::uint64_t{by_length[low].first} + by_length[high].first > room.frames) {
      --high;
    }
    if (high == low) break;
    const auto [short_frames, short_at] = by_length[low];
    const auto [long_frames, long_at] = by_length[high];
    const std::uint64_t tokens =
        std::uint64_t{rows[ahead[short_at]].num_tokens} + rows[ahead[long_at]].num_tokens;
    if (tokens > room.tokens) continue;
    best.offer(std::uint64_t{short_frames} + long_frames, 2,
               {std::min(short_at, long_at), std::max(short_at, long_at)});
  }
  return best;
}

// Fills bins one after another from the front of `order`.
class Packer {
 public:
  Packer(const std::vector<SampledUtterance>& rows, std::vector<std::uint32_t>& order)
      : rows_(rows), order_(order) {}

  bool done() const { return next_ == order_.size(); }
  std::uint32_t position() const { return static_cast<std::uint32_t>(next_); }

  void fill_in_order(Room& room, std::uint64_t keep_free_frames) {
    while (!done()) {
      const SampledUtterance& row = rows_[order_[next_]];
      if (!room.holds(row) || room.frames < row.num_frames + keep_free_frames) return;
      room.take(row);
      ++next_;
    }
  }

  void fill_the_end(Room& room) {
    for (;;) {
      const std::span<std::uint32_t> ahead =
          std::span(order_).subspan(next_, std::min(kLookAhead, order_.size() - next_));
      const BestFit best = find_best_fit(rows_, ahead, room);
      if (best.count == 0) return;
      for (std::size_t i = 0; i < best.count; ++i) {
        room.take(rows_[ahead[best.places[i]]]);
        std::swap(ahead[i], ahead[best.places[i]]);
      }
      next_ += best.count;
    }
  }

 private:
  const std::vector<SampledUtterance>& rows_;
  std::vector<std::uint32_t>& order_;
  std::size_t next_ = 0;
};

}  // namespace

PackedBins::PackedBins(const std::vector<SampledUtterance>& rows, const SamplerSettings& settings)
    : drop_last_(settings.drop_last), keep_order_(!settings.shuffle) {
  const Totals totals = totals_of(rows, settings.source_weights);
  const std::uint64_t bins = settings.batch_multiple;
  const std::uint64_t most_frames = settings.batch_frames / bins / kStep * kStep;
  if (settings.batch_size > 0 || most_frames < totals.longest_frames) {
    raise({.code = &kFeedShape,
           .place = {},
           .promised = "batch_frames for the packed layout, with room for the longest utterance, " +
                       grouped(totals.longest_frames) + " frames, in each of " + grouped(bins) +
                       " bins",
           .found = settings.batch_size > 0 ? "batch_size " + grouped(settings.batch_size)
                                            : grouped(most_frames) + " frames per bin",
           .action = {},
           .cure = {}});
  }
  // One part in 400 of slack is more than the best fit wastes.
  const std::uint64_t needed = totals.frames + totals.frames / 400 + 1;
  const std::uint64_t batch_frames = most_frames * bins;
  const std::uint64_t num_bins = (needed + batch_frames - 1) / batch_frames * bins;
  const std::uint64_t bin_frames =
      std::clamp(round_up((needed + num_bins - 1) / num_bins, kStep),
                 round_up(std::uint64_t{totals.longest_frames}, kStep), most_frames);
  const std::uint64_t bin_tokens = std::max<std::uint64_t>(
      totals.longest_tokens, totals.tokens * bin_frames * 13 / 10 / totals.frames);
  shape_ = {static_cast<std::uint32_t>(bins), static_cast<std::uint32_t>(bin_frames),
            static_cast<std::uint32_t>(round_up(bin_tokens, kStep))};
  max_rows_ =
      static_cast<std::uint32_t>(round_up(2 * bin_frames * totals.rows / totals.frames + 2, kStep));
}

void PackedBins::pack(const std::vector<SampledUtterance>& rows, EpochPlan& plan) const {
  std::uint64_t longest = 0;
  for (const std::uint32_t row : plan.rows)
    longest = std::max<std::uint64_t>(longest, rows[row].num_frames);
  Packer packer(rows, plan.rows);
  plan.bin_begins.assign(1, 0);
  while (!packer.done()) {
    Room room{shape_.num_frames, shape_.num_tokens, max_rows_};
    packer.fill_in_order(room, keep_order_ ? 0 : 2 * longest);
    if (!keep_order_) packer.fill_the_end(room);
    plan.bin_begins.push_back(packer.position());
  }
  const std::size_t bins = shape_.num_rows;
  std::size_t num_bins = plan.bin_begins.size() - 1;
  num_bins = drop_last_ ? num_bins / bins * bins : round_up(num_bins, bins);
  plan.bin_begins.resize(num_bins + 1, packer.position());
  for (std::size_t bin = 0; bin < num_bins; bin += bins) {
    const std::uint32_t first = plan.bin_begins[bin];
    plan.batches.push_back({0, first, plan.bin_begins[bin + bins] - first});
  }
}

}  // namespace stoker::feed
