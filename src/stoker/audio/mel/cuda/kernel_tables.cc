// The tables that the log-mel kernels read, computed on the host.
#include "stoker/audio/mel/cuda/kernel_plan.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

#include "stoker/audio/mel/mel_frame_grid.h"

namespace stoker::audio {
namespace {

template <class Real>
void append_root(std::vector<Real>& table, double turn) {
  table.push_back(static_cast<Real>(std::cos(2.0 * std::numbers::pi * turn)));
  table.push_back(static_cast<Real>(-std::sin(2.0 * std::numbers::pi * turn)));
}

// Calls `append(lane, pair)` in the order of a table of 16 pairs a lane.
template <class Real, class Append>
void append_lanes(Append append) {
  constexpr int kPairsPerUnit = 8 / static_cast<int>(sizeof(Real));
  for (int first = 0; first < 16; first += kPairsPerUnit) {
    for (int lane = 0; lane < 32; ++lane) {
      for (int pair = first; pair < first + kPairsPerUnit; ++pair) append(lane, pair);
    }
  }
}

double lane_turn(int lane, int place) {
  const int k1 = lane <= 16 ? lane : lane - 16;
  const int length =
      place == 0 ? 2 : 4 * static_cast<int>(std::bit_floor(static_cast<unsigned>(place)));
  const int m = place - length / 4;
  return static_cast<double>(k1) / (32.0 * length) +
         static_cast<double>(m) / static_cast<double>(length);
}

}  // namespace

template <class Real>
std::vector<Real> window_table(const config::MelRecipe& recipe, double sample_scale) {
  std::vector<Real> table;
  for (const double w : mel_window(recipe)) {
    table.push_back(static_cast<Real>(w * (sample_scale * recipe.waveform_scale)));
  }
  return table;
}

template <class Real>
std::vector<Real> lane_window_table(const config::MelRecipe& recipe, double sample_scale) {
  std::vector<Real> window = window_table<Real>(recipe, sample_scale);
  window.resize(1024);
  std::vector<Real> table;
  append_lanes<Real>([&](int lane, int pair) {
    const auto n = static_cast<std::size_t>(lane) + 32 * static_cast<std::size_t>(pair);
    table.push_back(window[n]);
    table.push_back(window[n + 512]);
  });
  return table;
}

template <class Real>
std::vector<Real> lane_twiddle_table() {
  std::vector<Real> table;
  append_lanes<Real>([&](int lane, int pair) { append_root<Real>(table, lane_turn(lane, pair)); });
  return table;
}

template <class Real>
std::vector<Real> root_table(std::int64_t n) {
  std::vector<Real> table;
  for (std::int64_t k = 0; k < n; ++k) {
    append_root<Real>(table, static_cast<double>(k) / static_cast<double>(n));
  }
  return table;
}

template std::vector<float> window_table<float>(const config::MelRecipe&, double);
template std::vector<double> window_table<double>(const config::MelRecipe&, double);
template std::vector<float> lane_window_table<float>(const config::MelRecipe&, double);
template std::vector<double> lane_window_table<double>(const config::MelRecipe&, double);
template std::vector<float> lane_twiddle_table<float>();
template std::vector<double> lane_twiddle_table<double>();
template std::vector<float> root_table<float>(std::int64_t);
template std::vector<double> root_table<double>(std::int64_t);

std::vector<std::int32_t> segment_firsts(const MelBands& bands, std::size_t end_bin) {
  std::size_t bin = bands.first_bin;
  std::vector<std::int32_t> firsts{static_cast<std::int32_t>(bin)};
  for (const std::uint32_t count : bands.segment_bins) {
    bin += count;
    firsts.push_back(static_cast<std::int32_t>(std::min(bin, end_bin)));
  }
  return firsts;
}

}  // namespace stoker::audio
