#include <algorithm>
#include <cstddef>
#include <span>

#include "stoker/audio/mel/cuda/banks_generated.h"
#include "stoker/audio/mel/cuda/kernels.h"

namespace stoker::audio::device {
namespace {

// Weights of the bin at half the rate are rounding; the compiled banks leave that bin out.
constexpr float kNothing = 1e-9F;
constexpr std::size_t kLastBin = 512;

template <class Bank>
bool is_bank(const MelBands& bands) {
  if (bands.num_mels != Bank::kNumMels || bands.first_bin != Bank::kFirstBin) return false;
  const std::size_t num_bins = Bank::kFall.size();
  if (bands.weights.size() / 2 < num_bins) return false;
  std::size_t bin = bands.first_bin;
  for (std::size_t segment = 0; segment <= bands.num_mels; ++segment) {
    const std::size_t first = std::min<std::size_t>(bin, Bank::kEndBin);
    if (first != static_cast<std::size_t>(Bank::kSegments[segment])) return false;
    bin += bands.segment_bins[segment];
  }
  for (std::size_t i = 0; i < num_bins; ++i) {
    if (bands.weights[2 * i] != Bank::kFall[i] || bands.weights[2 * i + 1] != Bank::kRise[i]) {
      return false;
    }
  }
  return std::ranges::all_of(std::span(bands.weights).subspan(2 * num_bins),
                             [](float weight) { return weight < kNothing; });
}

}  // namespace

bool needs_last_bin(const MelBands& bands) {
  if (bands.end_bin <= kLastBin) return false;
  const std::span last = std::span(bands.weights).last(2);
  return last[0] >= kNothing || last[1] >= kNothing;
}

MelBank matching_bank(const MelBands& bands) {
  if (is_bank<BankSlaney8000>(bands)) return MelBank::kSlaney8000;
  if (is_bank<BankSlaney11025>(bands)) return MelBank::kSlaney11025;
  if (is_bank<BankHtk11025>(bands)) return MelBank::kHtk11025;
  if (is_bank<BankHtk12000>(bands)) return MelBank::kHtk12000;
  return MelBank::kTable;
}

}  // namespace stoker::audio::device
