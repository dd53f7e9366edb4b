#include "stoker/data/sample_statistics.h"

#include <fmt/format.h>

#include <algorithm>

#include "stoker/base/number_text.h"
#include "stoker/data/errors.h"

namespace stoker::data {
namespace {

constexpr float kFullScale = 32767.0F / 32768.0F;
// Peaks touch full scale now and then; a thousandth of all samples is a recording that was cut.
constexpr double kClippedShare = 0.001;

}  // namespace

void SampleStatistics::add(std::span<const float> samples) {
  if (samples.empty()) return;
  if (num_samples_ == 0) lowest_ = highest_ = samples.front();
  for (const float sample : samples) {
    lowest_ = std::min(lowest_, sample);
    highest_ = std::max(highest_, sample);
    num_full_scale_ += static_cast<std::uint64_t>(sample >= kFullScale || sample <= -kFullScale);
  }
  num_samples_ += samples.size();
  digest_.add(std::as_bytes(samples));
}

std::optional<Error> SampleStatistics::oddity() const {
  if (lowest_ == highest_)
    return Error{.code = lowest_ == 0.0F ? &kDataSilent : &kDataConstant,
                 .promised = "sound",
                 .found = fmt::format("every sample is {}", lowest_)};
  if (static_cast<double>(num_full_scale_) > kClippedShare * static_cast<double>(num_samples_))
    return Error{.code = &kDataClipped,
                 .promised = "samples below full scale",
                 .found = fmt::format("{} of {} at or beyond it", grouped(num_full_scale_),
                                      grouped(num_samples_))};
  return std::nullopt;
}

}  // namespace stoker::data
