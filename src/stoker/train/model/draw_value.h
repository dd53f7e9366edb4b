// The arithmetic of one drawn value, written once for both back ends: sums, products and shifts
// that CPU and GPU round alike, so that their bytes are equal.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "stoker/base/philox.h"
#include "stoker/train/model/step_draws.h"

namespace stoker::train {

inline constexpr std::size_t kBlockValues = 4;  // that one Philox block gives

// (seed, stage) are the key; block of the row, step, row and site the counter. The upper half of a
// step shares a word with the site: neither reaches the other's 16 bits.
struct RowDraws {
  PhiloxKey key;
  std::uint32_t step_low;
  std::uint32_t step_high_and_site;
};

inline RowDraws row_draws(const DrawStream& stream) {
  return {philox_key(stream.key.seed, stream.stage), static_cast<std::uint32_t>(stream.key.step),
          (static_cast<std::uint32_t>(stream.key.step >> 32U) << 16U) ^ stream.site};
}

// The draws of a kernel: where the step is in device memory, the kernel reads it when it runs.
struct LateDraws {
  RowDraws draws;
  const std::uint64_t* step = nullptr;
};

inline LateDraws late_draws(const DrawStream& stream) {
  DrawStream own = stream;
  if (own.key.step_on_device != nullptr) own.key.step = 0;
  return {row_draws(own), own.key.step_on_device};
}

constexpr RowDraws with_step(const LateDraws& late) {
  RowDraws draws = late.draws;
  if (late.step != nullptr) {
    draws.step_low = static_cast<std::uint32_t>(*late.step);
    draws.step_high_and_site ^= static_cast<std::uint32_t>(*late.step >> 32U) << 16U;
  }
  return draws;
}

constexpr PhiloxCounter words_of(const RowDraws& draws, std::size_t row, std::size_t block) {
  return philox4x32_10({static_cast<std::uint32_t>(block), draws.step_low,
                        static_cast<std::uint32_t>(row), draws.step_high_and_site},
                       draws.key);
}

constexpr float uniform_from(std::uint32_t word) {
  return static_cast<float>(static_cast<std::int32_t>(word >> 8U)) * 0x1p-24F;
}

// Natural logarithm for normal, positive numbers; within two units in the last place. The
// polynomial is that of Cephes' logf.
constexpr float log_of(float value) {
  constexpr std::uint32_t kRootHalf = 0x3F3504F3U;  // bits of sqrt(1/2)
  const auto shifted = static_cast<std::int32_t>(std::bit_cast<std::uint32_t>(value) - kRootHalf);
  const auto exponent = static_cast<float>(shifted >> 23);
  const float fraction =
      std::bit_cast<float>((static_cast<std::uint32_t>(shifted) & 0x007FFFFFU) + kRootHalf);
  const float x = fraction - 1.0F;  // sqrt(1/2) - 1 … sqrt(2) - 1
  const float z = x * x;
  float p = 7.0376836292E-2F;
  p = p * x - 1.1514610310E-1F;
  p = p * x + 1.1676998740E-1F;
  p = p * x - 1.2420140846E-1F;
  p = p * x + 1.4249322787E-1F;
  p = p * x - 1.6668057665E-1F;
  p = p * x + 2.0000714765E-1F;
  p = p * x - 2.4999993993E-1F;
  p = p * x + 3.3333331174E-1F;
  const float small = x * z * p - exponent * 2.12194440E-4F - 0.5F * z;
  return x + small + exponent * 0.693359375F;
}

// Two normal values are radius times cosine and sine (Box and Muller, 1958). The caller takes the
// root: it is rounded correctly everywhere, but is no constant expression.
struct NormalPair {
  float radius_squared;
  float cosine;
  float sine;
};

constexpr NormalPair normal_pair_from(std::uint32_t first, std::uint32_t second) {
  const float unit = (static_cast<float>(static_cast<std::int32_t>(first >> 1U)) + 0.5F) * 0x1p-31F;
  // The upper two bits are the quarter turn, the others an angle of -pi/4 … pi/4 beside it.
  constexpr float kEighthTurn = 0.78539816339744831F * 0x1p-31F;
  const float x = static_cast<float>(static_cast<std::int32_t>(second << 2U)) * kEighthTurn;
  const float z = x * x;
  const float sine =
      x + x * z * (-1.6666654611E-1F + z * (8.3321608736E-3F - z * 1.9515295891E-4F));
  const float cosine =
      1.0F - 0.5F * z +
      z * z * (4.166664568298827E-2F + z * (-1.388731625493765E-3F + z * 2.443315711809948E-5F));
  const std::uint32_t is_odd = 0U - ((second >> 30U) & 1U);  // all bits or none
  const std::uint32_t sine_bits = std::bit_cast<std::uint32_t>(sine);
  const std::uint32_t cosine_bits = std::bit_cast<std::uint32_t>(cosine);
  const std::uint32_t swapped = (sine_bits ^ cosine_bits) & is_odd;
  const std::uint32_t flip = second & 0x80000000U;
  return {-2.0F * log_of(unit), std::bit_cast<float>((cosine_bits ^ swapped) ^ flip),
          std::bit_cast<float>((sine_bits ^ swapped) ^ flip)};
}

}  // namespace stoker::train
