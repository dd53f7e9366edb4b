// Rows of a benchmark beside each other and beside those of a kept report, with how sure each
// difference is.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/json.h"

namespace stoker::bench {

// Where a row has its figures.
struct RateKeys {
  std::string_view rate;   // "clips_per_s"
  std::string_view parts;  // the same of each window or part of the run
};
inline constexpr RateKeys kFeedRate{"median_clips_per_s", "windows_clips_per_s"};
inline constexpr RateKeys kTrainRate{"frames_per_s", "block_frames_per_s"};

// The number at `key`; nothing where it is null or absent.
std::optional<double> figure_at(const Json& row, std::string_view key);

// "naive files data.batch_size=8"
std::string row_name(const Json& row);

struct RankedRate {
  std::string name;
  std::size_t index = 0;  // in the report
  double rate = 0;
  double plus_minus = 0;     // half of the range in which the rate is in 95 of 100 cases
  bool may_be_best = false;  // its range meets that of the first
};
// The fastest first; rows without a rate are left out.
std::vector<RankedRate> rank_rates(const std::vector<Json>& rows, const RateKeys& keys);

// A row's rate beside that of the row of the same name in a kept report, with the range in which
// the ratio is in 95 of 100 cases as far as the parts of both windows tell.
struct RateDifference {
  std::string name;
  double ratio = 0;  // now over then
  double low = 0;
  double high = 0;
};
// Rows that only one of the two has are left out. Throws E-BENCH-CHOICE, which names `path`, where
// `kept` is no report of this benchmark or has none of the rows. Rows need no figures for the
// check.
struct KeptRows {
  const Json& report;
  std::string path;  // where it was read
};
void check_kept(const std::vector<Json>& rows, const KeptRows& kept);
std::vector<RateDifference> compare_rates(const std::vector<Json>& rows, const KeptRows& kept,
                                          const RateKeys& keys);

}  // namespace stoker::bench
