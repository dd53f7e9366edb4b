#include "stoker/audio/mel/mel_finish.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "stoker/audio/float16.h"

namespace stoker::audio {
namespace {

// The smallest range that min_max divides by.
constexpr float kSmallestRange = 1e-6F;

void apply_range(const config::MelRecipe& recipe, std::span<float> whole) {
  if (recipe.range == config::MelRange::kNone || whole.empty()) return;
  float lowest = whole[0];
  float highest = whole[0];
  for (const float x : whole) {
    lowest = std::min(lowest, x);
    highest = std::max(highest, x);
  }
  if (recipe.range == config::MelRange::kBelowMax) {
    const float floor = highest - static_cast<float>(recipe.range_below_max);
    for (float& x : whole) x = std::max(x, floor);
    return;
  }
  const float range = std::max(highest - lowest, kSmallestRange);
  for (float& x : whole) x = (x - lowest) / range;
}

void apply_affine(const config::MelRecipe& recipe, std::span<float> whole) {
  const auto offset = static_cast<float>(recipe.out_offset);
  const auto scale = static_cast<float>(recipe.out_scale);
  if (offset != 0.0F || scale != 1.0F) {
    for (float& x : whole) x = (x + offset) * scale;
  }
  const auto num_mels = static_cast<std::size_t>(recipe.num_mels);
  for (std::size_t i = 0; !recipe.channel_divisors.empty() && i < whole.size(); ++i) {
    whole[i] /= static_cast<float>(recipe.channel_divisors[i % num_mels]);
  }
}

template <class Value, class Convert>
void write_rows(std::span<const float> whole, std::size_t num_mels, const MelView& out,
                Convert convert) {
  for (std::size_t row = 0; row * num_mels < whole.size(); ++row) {
    Value* const to = static_cast<Value*>(out.data) + row * out.row_stride;
    std::ranges::transform(whole.subspan(row * num_mels, num_mels), to, convert);
  }
}

}  // namespace

void finish_mel(const config::MelRecipe& recipe, std::span<float> whole, const MelView& out) {
  apply_range(recipe, whole);
  apply_affine(recipe, whole);
  const auto num_mels = static_cast<std::size_t>(recipe.num_mels);
  switch (out.dtype) {
    case config::MelDtype::kF32:
      return write_rows<float>(whole, num_mels, out, [](float x) { return x; });
    case config::MelDtype::kF16:
      return write_rows<std::uint16_t>(whole, num_mels, out, [](float x) { return f16_bits(x); });
    case config::MelDtype::kBf16:
      return write_rows<std::uint16_t>(whole, num_mels, out, [](float x) { return bf16_bits(x); });
  }
}

float mel_padding_value(const config::MelRecipe& recipe) {
  if (recipe.range == config::MelRange::kMinMax) return 0.0F;
  const double silent = recipe.floor;
  double value = silent;
  if (recipe.log == config::MelLog::kLn) value = std::log(silent);
  if (recipe.log == config::MelLog::kLog10) value = std::log10(silent);
  if (recipe.log == config::MelLog::kDb) value = 10.0 * std::log10(silent);
  return static_cast<float>((value + recipe.out_offset) * recipe.out_scale);
}

}  // namespace stoker::audio
