#include <algorithm>
#include <array>
#include <cmath>

#include "stoker/train/model/draw_value.h"

namespace stoker::train {
namespace {

// Blocks that are made together, one a lane, so that the compiler uses vectors.
constexpr std::size_t kLanes = 32;
using Lanes = std::array<std::uint32_t, kLanes>;

struct BlockWords {
  std::array<Lanes, kBlockValues> words;
};

// The ten rounds of philox4x32_10, with the loop over lanes inside.
void fill_words(const RowDraws& draws, std::size_t row, std::size_t first_block, BlockWords& out) {
  auto& [a, b, c, d] = out.words;
  for (std::size_t i = 0; i < kLanes; ++i) {
    a[i] = static_cast<std::uint32_t>(first_block + i);
    b[i] = draws.step_low;
    c[i] = static_cast<std::uint32_t>(row);
    d[i] = draws.step_high_and_site;
  }
  PhiloxKey key = draws.key;
  for (int round = 0; round < 10; ++round) {
    for (std::size_t i = 0; i < kLanes; ++i) {
      const std::uint64_t product0 = std::uint64_t{0xD2511F53} * a[i];
      const std::uint64_t product1 = std::uint64_t{0xCD9E8D57} * c[i];
      a[i] = static_cast<std::uint32_t>(product1 >> 32U) ^ b[i] ^ key[0];
      b[i] = static_cast<std::uint32_t>(product1);
      c[i] = static_cast<std::uint32_t>(product0 >> 32U) ^ d[i] ^ key[1];
      d[i] = static_cast<std::uint32_t>(product0);
    }
    key = {key[0] + 0x9E3779B9U, key[1] + 0xBB67AE85U};
  }
}

using Values = std::array<float, kLanes * kBlockValues>;

void make_uniform(const BlockWords& words, Values& values) {
  for (std::size_t i = 0; i < kLanes; ++i) {
    for (std::size_t k = 0; k < kBlockValues; ++k)
      values[i * kBlockValues + k] = uniform_from(words.words[k][i]);
  }
}

void make_normal(const BlockWords& words, Values& values) {
  for (std::size_t k = 0; k < kBlockValues; k += 2) {
    std::array<float, kLanes> even;
    std::array<float, kLanes> odd;
    for (std::size_t i = 0; i < kLanes; ++i) {
      const NormalPair pair = normal_pair_from(words.words[k][i], words.words[k + 1][i]);
      const float radius = std::sqrt(pair.radius_squared);
      even[i] = radius * pair.cosine;
      odd[i] = radius * pair.sine;
    }
    for (std::size_t i = 0; i < kLanes; ++i) {
      values[i * kBlockValues + k] = even[i];
      values[i * kBlockValues + k + 1] = odd[i];
    }
  }
}

template <class Make>
void fill(const DrawStream& stream, const DrawTarget& out, Make make) {
  const RowDraws draws = row_draws(stream);
  BlockWords words;
  Values values;
  for (std::size_t row = 0; row < out.num_rows; ++row) {
    float* to = out.values + row * out.row_values;
    for (std::size_t at = 0; at < out.row_values; at += values.size()) {
      fill_words(draws, out.first_row + row, at / kBlockValues, words);
      make(words, values);
      std::copy_n(values.begin(), std::min(values.size(), out.row_values - at), to + at);
    }
  }
}

}  // namespace

void fill_uniform(const DrawStream& stream, const DrawTarget& out) {
  fill(stream, out, make_uniform);
}

void fill_normal(const DrawStream& stream, const DrawTarget& out) {
  fill(stream, out, make_normal);
}

}  // namespace stoker::train
