#include "stoker/bench/rate_compare.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <utility>

#include "stoker/bench/errors.h"
#include "stoker/observe/statistics.h"

namespace stoker::bench {
namespace {

[[noreturn]] void raise_no_report(const KeptRows& kept, std::string found) {
  raise({.code = &kBenchChoice,
         .place = {.file = kept.path},
         .promised = "a report of this benchmark (--json) with one of these rows",
         .found = std::move(found),
         .cure = "compare with a report of the same loaders, paths and grids"});
}

// How many standard errors 95 of 100 cases are within, by how many parts the error is from.
double deviations_of(std::size_t num_parts) {
  constexpr std::array kOfFew{0.0, 0.0, 12.7, 4.3, 3.2, 2.8, 2.6, 2.4, 2.4, 2.3};
  return num_parts < kOfFew.size() ? kOfFew[num_parts] : 2.0;
}

// The range's half as a share of the rate; 0 where there are too few parts.
double relative_range(const Json& row, const RateKeys& keys) {
  if (!row.contains(keys.parts)) return 0;
  std::vector<double> rates;
  for (const Json& each : row.at(keys.parts).elements()) rates.push_back(each.number());
  if (rates.size() < 2) return 0;
  const double mean = observe::mean_of(rates);
  double squares = 0;
  for (const double each : rates) squares += (each - mean) * (each - mean);
  const auto count = static_cast<double>(rates.size());
  const double error = mean > 0 ? std::sqrt(squares / (count - 1) / count) / mean : 0;
  return deviations_of(rates.size()) * error;
}

bool is_same_row(const Json& row, const Json& then) {
  const auto model_of = [](const Json& each) {
    return each.contains("model") ? each.at("model").text() : std::string();
  };
  return row_name(then) == row_name(row) && model_of(then) == model_of(row);
}

template <class Found>
void for_each_pair(const std::vector<Json>& rows, const KeptRows& kept, const Found& found) {
  bool any = false;
  try {
    for (const Json& row : rows) {
      for (const Json& then : kept.report.at("rows").elements()) {
        if (!is_same_row(row, then)) continue;
        any = true;
        found(row, then);
      }
    }
  } catch (const std::out_of_range&) {
    raise_no_report(kept, "something else");
  }
  if (!any) raise_no_report(kept, "none of them");
}

}  // namespace

std::optional<double> figure_at(const Json& row, std::string_view key) {
  try {
    return row.at(key).number();
  } catch (const std::out_of_range&) {
    return std::nullopt;
  }
}

std::string row_name(const Json& row) {
  std::string name = row.at("loader").text() + " " + row.at("path").text();
  for (const Json& change : row.at("changed").elements()) name += " " + change.text();
  return name;
}

std::vector<RankedRate> rank_rates(const std::vector<Json>& rows, const RateKeys& keys) {
  std::vector<RankedRate> ranking;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double rate = figure_at(rows[i], keys.rate).value_or(0);
    if (rate <= 0) continue;
    ranking.push_back({.name = row_name(rows[i]),
                       .index = i,
                       .rate = rate,
                       .plus_minus = rate * relative_range(rows[i], keys)});
  }
  std::stable_sort(ranking.begin(), ranking.end(),
                   [](const RankedRate& a, const RankedRate& b) { return a.rate > b.rate; });
  if (ranking.empty()) return ranking;
  const double floor = ranking.front().rate - ranking.front().plus_minus;
  for (RankedRate& each : ranking) each.may_be_best = each.rate + each.plus_minus >= floor;
  return ranking;
}

void check_kept(const std::vector<Json>& rows, const KeptRows& kept) {
  for_each_pair(rows, kept, [](const Json&, const Json&) {});
}

std::vector<RateDifference> compare_rates(const std::vector<Json>& rows, const KeptRows& kept,
                                          const RateKeys& keys) {
  std::vector<RateDifference> differences;
  for_each_pair(rows, kept, [&](const Json& now, const Json& then) {
    const double before = figure_at(then, keys.rate).value_or(0);
    const double ratio = before > 0 ? figure_at(now, keys.rate).value_or(0) / before : 0;
    const double range = std::hypot(relative_range(now, keys), relative_range(then, keys));
    differences.push_back({.name = row_name(now),
                           .ratio = ratio,
                           .low = std::max(0.0, ratio * (1 - range)),
                           .high = ratio * (1 + range)});
  });
  return differences;
}

}  // namespace stoker::bench
