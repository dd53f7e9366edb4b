#include "stoker/audio/device_mel_tables.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

#include "stoker/audio/mel_window.h"

namespace stoker::audio {
namespace {

void append_root(std::vector<float>& table, double turn) {
  table.push_back(static_cast<float>(std::cos(2.0 * std::numbers::pi * turn)));
  table.push_back(static_cast<float>(-std::sin(2.0 * std::numbers::pi * turn)));
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

std::vector<float> window_table(const config::MelRecipe& recipe, double sample_scale) {
  std::vector<float> table;
  for (const double w : mel_window(recipe)) {
    table.push_back(static_cast<float>(w * (sample_scale * recipe.waveform_scale)));
  }
  return table;
}

std::vector<float> lane_window_table(const config::MelRecipe& recipe, double sample_scale) {
  std::vector<float> window = window_table(recipe, sample_scale);
  window.resize(1024, 0.0F);
  std::vector<float> table;
  for (std::size_t j = 0; j < 8; ++j) {
    for (std::size_t lane = 0; lane < 32; ++lane) {
      const std::size_t n = lane + 64 * j;
      for (const std::size_t at : {n, n + 512, n + 32, n + 544}) table.push_back(window[at]);
    }
  }
  return table;
}

std::vector<float> lane_twiddle_table() {
  std::vector<float> table;
  for (int two = 0; two < 8; ++two) {
    for (int lane = 0; lane < 32; ++lane) {
      append_root(table, lane_turn(lane, 2 * two));
      append_root(table, lane_turn(lane, 2 * two + 1));
    }
  }
  return table;
}

std::vector<float> root_table(std::int64_t n) {
  std::vector<float> table;
  for (std::int64_t k = 0; k < n; ++k) {
    append_root(table, static_cast<double>(k) / static_cast<double>(n));
  }
  return table;
}

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
