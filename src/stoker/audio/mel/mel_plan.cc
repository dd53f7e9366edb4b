#include "stoker/audio/mel/mel_plan.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "stoker/audio/mel/mel_frame_grid.h"
#include "stoker/base/checked.h"
#include "stoker/base/invariant.h"

namespace stoker::audio {
namespace {

constexpr double kI16Scale = 1.0 / (32768.0 * 65536.0);
// Keeps roots away from denormals, which take an Intel core a hundred cycles more, where the recipe
// adds nothing; 1e-15 is far below every floor.
constexpr double kSmallestPower = 1e-30;

bool fits_1024(const config::MelRecipe& r) {
  return r.n_fft == 1024 && r.hop_samples == static_cast<std::int64_t>(kHop1024) && !r.remove_dc &&
         r.preemphasis == 0.0;
}

bool has_finish(const config::MelRecipe& r) {
  return r.range != config::MelRange::kNone || r.out_offset != 0.0 || r.out_scale != 1.0 ||
         !r.channel_divisors.empty();
}

// The recipes that f32 computes well enough for a feed: a bank with area norm keeps quiet bands
// near the size of loud ones, and the generated code for them is the one that has to be fast.
// Without the norm a band 120 dB below the frame's largest is still far above the floor, and all of
// f32's rounding shows in its logarithm. One lane at a time f64 costs nothing.
bool suits_f32(const config::MelRecipe& r, SimdLevel level, MelArithmetic arithmetic) {
  return arithmetic == MelArithmetic::kFast && fits_1024(r) && r.norm == config::MelNorm::kSlaney &&
         level != SimdLevel::kScalar;
}

template <class Real>
std::vector<Real> scaled_window(const config::MelRecipe& r, std::size_t length, double scale) {
  const std::vector<double> window = mel_window(r);
  std::vector<Real> scaled(length, Real{});
  std::ranges::transform(window, scaled.begin(), [&](double w) {
    return static_cast<Real>(w * (scale * r.waveform_scale));
  });
  return scaled;
}

template <class Real>
std::vector<Real> make_twiddles_1024() {
  std::vector<Real> table;
  for (int n2 = 0; n2 < 32; ++n2) {
    for (int k1 = 0; k1 < 16; ++k1) {
      const double angle = -2.0 * std::numbers::pi * n2 * k1 / 1024.0;
      table.push_back(static_cast<Real>(std::cos(angle)));
      table.push_back(static_cast<Real>(std::sin(angle)));
    }
  }
  return table;
}

// [n2][32]: as the columns of the generated code read it, one after the other.
template <class Real>
std::vector<Real> in_columns(const std::vector<Real>& window) {
  std::vector<Real> columns;
  for (std::size_t n2 = 0; n2 < 32; ++n2) {
    for (std::size_t n1 = 0; n1 < 32; ++n1) columns.push_back(window[32 * n1 + n2]);
  }
  return columns;
}

// [k1][32]: as its rows meet them. Bins above the middle are mirrored.
template <class Real>
std::vector<BinShare<Real>> in_rows(const std::vector<BinShare<Real>>& bins) {
  std::vector<BinShare<Real>> rows;
  for (std::size_t k1 = 0; k1 <= 16; ++k1) {
    for (std::size_t bin = k1; bin < 1024; bin += 32) {
      rows.push_back(bins[std::min(bin, 1024 - bin)]);
    }
  }
  return rows;
}

template <class Real>
std::vector<BinShare<Real>> shares_of(const MelBands& bands, std::size_t num_bins,
                                      std::size_t num_lanes) {
  std::vector<BinShare<Real>> shares(num_bins, BinShare<Real>{});
  const float* weight = bands.weights.data();
  std::size_t bin = bands.first_bin;
  for (std::size_t segment = 0; segment <= bands.num_mels; ++segment) {
    for (std::size_t left = bands.segment_bins[segment]; left > 0; --left, weight += 2, ++bin) {
      shares[bin] = {.falling = weight[0],
                     .rising = weight[1],
                     .place_bytes = segment * num_lanes * sizeof(Real)};
    }
  }
  return shares;
}

template <class Real>
MelTables<Real> make_tables(const MelPlan& plan) {
  const config::MelRecipe& r = plan.recipe;
  MelTables<Real> tables;
  tables.window_i16 = scaled_window<Real>(r, plan.window_samples, kI16Scale);
  tables.window_f32 = scaled_window<Real>(r, plan.window_samples, 1.0);
  tables.bins =
      shares_of<Real>(plan.bands, static_cast<std::size_t>(r.n_fft) / 2 + 1, plan.num_lanes());
  if (!plan.is_1024) return tables;
  tables.window_i16 = in_columns(tables.window_i16);
  tables.window_f32 = in_columns(tables.window_f32);
  tables.twiddles_1024 = make_twiddles_1024<Real>();
  tables.bins = in_rows(tables.bins);
  return tables;
}

double log_factor_of(config::MelLog log) {
  if (log == config::MelLog::kLog10) return 1.0 / std::numbers::ln10;
  if (log == config::MelLog::kDb) return 10.0 / std::numbers::ln10;
  return 1.0;
}

}  // namespace

MelPlan::MelPlan(const config::MelRecipe& r, SimdLevel simd_level, MelArithmetic arithmetic)
    : recipe(r),
      level(simd_level),
      kernels(&mel_kernels(simd_level)),
      grid(r),
      is_1024(fits_1024(r)),
      is_f64(!suits_f32(r, simd_level, arithmetic)),
      finishes_whole(has_finish(r)),
      window_samples(static_cast<std::size_t>(is_1024 ? r.n_fft : r.win_samples)),
      bands(sparse_bands(r)),
      epsilon(r.power == 1 ? std::max(r.magnitude_epsilon, kSmallestPower) : r.magnitude_epsilon),
      floor(r.floor),
      log_factor(log_factor_of(r.log)) {
  if (is_f64) {
    tables_f64 = make_tables<double>(*this);
  } else {
    tables_f32 = make_tables<float>(*this);
  }
  if (!is_1024) fft.emplace(static_cast<std::size_t>(r.n_fft));
}

MelScratch::Floats MelScratch::floats(std::size_t count) {
  constexpr std::size_t kAlignment = 128;
  const std::size_t rounded = round_up(std::max<std::size_t>(count, 1), kAlignment / sizeof(float));
  Floats memory = make_aligned<float>(rounded, kAlignment);
  std::fill_n(memory.get(), rounded, 0.0F);
  return memory;
}

MelScratch::MelScratch(const MelPlan& plan, std::size_t max_samples) {
  const std::size_t lanes = plan.num_lanes();
  // Two floats make room for a double.
  const std::size_t vector = lanes * (plan.is_f64 ? 2 : 1);
  const std::size_t span =
      plan.is_1024 ? kHop1024 : round_up<std::size_t>(plan.window_samples, kPieceSamples);
  samples = floats((plan.is_1024 ? 4 * kBlock1024 : span) * vector);
  spectrum = floats((plan.is_1024 ? kSpectrum1024 : 4 * plan.fft->num_points) * vector);
  mels = floats((2 + round_up<std::size_t>(plan.bands.num_mels, 4)) * vector);
  edges = floats(span * lanes);
  zeros = floats(span);
  unused_row = floats(round_up<std::size_t>(plan.bands.num_mels, 4));
  if (plan.finishes_whole) {
    whole_rows = plan.grid.num_frames(max_samples);
    whole = floats(whole_rows * plan.bands.num_mels);
  }
}

}  // namespace stoker::audio
