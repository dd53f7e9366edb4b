#include "stoker/data/pace.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "stoker/data/errors.h"
#include "stoker/data/row_check.h"

namespace stoker::data {
namespace {

constexpr double kFastestSpeech = 60.0;  // characters per second; auctioneers reach about 35
constexpr std::size_t kRowsForAMedian = 8;

double pace_of(const Utterance& row) {
  return static_cast<double>(count_characters(row.text)) / row.duration_s();
}

}  // namespace

void warn_of_pace(const UtteranceTable& rows, double factor, Account& account) {
  std::vector<float> paces;
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (rows[i].num_samples > 0) paces.push_back(static_cast<float>(pace_of(rows[i])));
  if (paces.empty()) return;
  const auto middle = paces.begin() + static_cast<std::ptrdiff_t>(paces.size() / 2);
  std::nth_element(paces.begin(), middle, paces.end());
  const double median = static_cast<double>(*middle);
  const bool has_median = paces.size() >= kRowsForAMedian;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Utterance row = rows[i];
    if (row.num_samples == 0) continue;
    const double pace = pace_of(row);
    const bool far = has_median && (pace > median * factor || pace * factor < median);
    if (!far && pace <= kFastestSpeech) continue;
    account.warn(
        {.id = std::string(row.id),
         .line = row.line,
         .source = row.source,
         .error = {.code = &kDataPace,
                   .place = {.file = std::string(row.file)},
                   .promised = fmt::format("about {:.1f} characters per second", median),
                   .found = fmt::format("{:.1f} ({:.2f} s of sound)", pace, row.duration_s())}});
  }
}

}  // namespace stoker::data
