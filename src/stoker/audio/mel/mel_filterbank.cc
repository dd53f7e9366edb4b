#include "stoker/audio/mel/mel_filterbank.h"

#include <algorithm>
#include <cmath>

#include "stoker/base/invariant.h"

namespace stoker::audio {
namespace {

constexpr double kSlaneyBreakHz = 1000.0;
constexpr double kSlaneyBreakMel = 15.0;
constexpr double kSlaneyHzPerMel = 200.0 / 3.0;
const double kSlaneyLogStep = std::log(6.4) / 27.0;

struct Edges {
  std::vector<double> flank;  // in the unit in which flanks are straight
  std::vector<double> hz;
};

Edges band_edges(const config::MelRecipe& r) {
  const auto num_edges = static_cast<std::size_t>(r.num_mels) + 2;
  const double low = hz_to_mel(r.scale, r.fmin_hz);
  const double high = hz_to_mel(r.scale, r.fmax_hz);
  const double step = (high - low) / static_cast<double>(num_edges - 1);
  Edges edges;
  for (std::size_t i = 0; i < num_edges; ++i) {
    const double mel = i + 1 == num_edges ? high : low + step * static_cast<double>(i);
    edges.hz.push_back(mel_to_hz(r.scale, mel));
    edges.flank.push_back(r.triangle == config::MelTriangle::kMel ? mel : edges.hz.back());
  }
  return edges;
}

bool fits(const std::vector<float>& bank, std::size_t num_bins, std::size_t bin,
          std::size_t segment) {
  for (std::size_t band = 0; band * num_bins < bank.size(); ++band) {
    if (bank[band * num_bins + bin] == 0.0F) continue;
    if (band != segment && band + 1 != segment) return false;
  }
  return true;
}

}  // namespace

double hz_to_mel(config::MelScale scale, double hz) {
  if (scale == config::MelScale::kHtk) return 2595.0 * std::log10(1.0 + hz / 700.0);
  if (hz < kSlaneyBreakHz) return hz / kSlaneyHzPerMel;
  return kSlaneyBreakMel + std::log(hz / kSlaneyBreakHz) / kSlaneyLogStep;
}

double mel_to_hz(config::MelScale scale, double mel) {
  if (scale == config::MelScale::kHtk) return 700.0 * (std::pow(10.0, mel / 2595.0) - 1.0);
  if (mel < kSlaneyBreakMel) return mel * kSlaneyHzPerMel;
  return kSlaneyBreakHz * std::exp(kSlaneyLogStep * (mel - kSlaneyBreakMel));
}

std::vector<float> mel_filterbank(const config::MelRecipe& r) {
  const Edges edges = band_edges(r);
  const auto num_bins = static_cast<std::size_t>(r.n_fft) / 2 + 1;
  std::vector<float> bank(static_cast<std::size_t>(r.num_mels) * num_bins);
  // The spacing of bins as numpy.fft.rfftfreq rounds it; a plain rate/n_fft flips last bits.
  const double bin_hz =
      1.0 / (static_cast<double>(r.n_fft) * (1.0 / static_cast<double>(r.sample_rate_hz)));
  for (std::size_t band = 0; band < static_cast<std::size_t>(r.num_mels); ++band) {
    const double* e = edges.flank.data() + band;
    const double* hz = edges.hz.data() + band;
    const double norm = r.norm == config::MelNorm::kSlaney ? 2.0 / (hz[2] - hz[0]) : 1.0;
    for (std::size_t bin = 0; bin < num_bins; ++bin) {
      const double f = static_cast<double>(bin) * bin_hz;
      const double at = r.triangle == config::MelTriangle::kMel ? hz_to_mel(r.scale, f) : f;
      const double rise = (at - e[0]) / (e[1] - e[0]);
      const double fall = (e[2] - at) / (e[2] - e[1]);
      const auto triangle = static_cast<float>(std::max(0.0, std::min(rise, fall)));
      bank[band * num_bins + bin] = static_cast<float>(static_cast<double>(triangle) * norm);
    }
  }
  return bank;
}

MelBands sparse_bands(const config::MelRecipe& recipe) {
  const std::vector<float> bank = mel_filterbank(recipe);
  const auto num_bins = static_cast<std::size_t>(recipe.n_fft) / 2 + 1;
  MelBands bands;
  bands.num_mels = static_cast<std::size_t>(recipe.num_mels);
  bands.segment_bins.assign(bands.num_mels + 1, 0);
  const auto used = [&](std::size_t bin) { return !fits(bank, num_bins, bin, bands.num_mels + 9); };
  while (bands.first_bin < num_bins && !used(bands.first_bin)) ++bands.first_bin;
  bands.end_bin = num_bins;
  while (bands.end_bin > bands.first_bin && !used(bands.end_bin - 1)) --bands.end_bin;
  std::size_t segment = 0;
  for (std::size_t bin = bands.first_bin; bin < bands.end_bin; ++bin) {
    while (segment <= bands.num_mels && !fits(bank, num_bins, bin, segment)) ++segment;
    check_invariant(segment <= bands.num_mels, "a bin belongs to neighbouring bands only");
    const float fall = segment > 0 ? bank[(segment - 1) * num_bins + bin] : 0.0F;
    const float rise = segment < bands.num_mels ? bank[segment * num_bins + bin] : 0.0F;
    bands.weights.push_back(fall);
    bands.weights.push_back(rise);
    ++bands.segment_bins[segment];
  }
  return bands;
}

}  // namespace stoker::audio
