#include "stoker/audio/file/wav_samples.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>

#include "stoker/audio/file/wav_format.h"
#include "stoker/base/bytes.h"
#include "stoker/base/invariant.h"

namespace stoker::audio {
namespace {

// One reader a format: the stored number, and what full scale is.
struct U8 {
  static constexpr std::size_t kBytes = 1;
  static constexpr int kBits = 8;
  static std::int32_t load(const std::byte* at) noexcept {
    return static_cast<std::int32_t>(*at) - 128;
  }
};
struct S16 {
  static constexpr std::size_t kBytes = 2;
  static constexpr int kBits = 16;
  static std::int32_t load(const std::byte* at) noexcept { return load_le<std::int16_t>(at); }
};
struct S24 {
  static constexpr std::size_t kBytes = 3;
  static constexpr int kBits = 24;
  static std::int32_t load(const std::byte* at) noexcept {
    const std::uint32_t upper = (static_cast<std::uint32_t>(at[0]) << 8U) |
                                (static_cast<std::uint32_t>(at[1]) << 16U) |
                                (static_cast<std::uint32_t>(at[2]) << 24U);
    return static_cast<std::int32_t>(upper) >> 8;
  }
};
struct S32 {
  static constexpr std::size_t kBytes = 4;
  static constexpr int kBits = 32;
  static std::int32_t load(const std::byte* at) noexcept { return load_le<std::int32_t>(at); }
};
struct F32 {
  static constexpr std::size_t kBytes = 4;
  static float load(const std::byte* at) noexcept { return load_le<float>(at); }
};
struct F64 {
  static constexpr std::size_t kBytes = 8;
  static double load(const std::byte* at) noexcept { return load_le<double>(at); }
};

template <class F>
inline constexpr bool kIsInteger = std::is_same_v<decltype(F::load(nullptr)), std::int32_t>;

template <class F>
constexpr double full_scale() noexcept {
  if constexpr (kIsInteger<F>)
    return static_cast<double>(std::uint64_t{1} << static_cast<unsigned>(F::kBits - 1));
  else
    return 1.0;
}

bool is_finite(double value) noexcept {
  constexpr std::uint64_t kExponent = 0x7FF0'0000'0000'0000ULL;
  return (std::bit_cast<std::uint64_t>(value) & kExponent) != kExponent;
}

// A double of float's range may still be too large for a float.
bool is_finite(float value) noexcept {
  return (std::bit_cast<std::uint32_t>(value) & 0x7F80'0000U) != 0x7F80'0000U;
}

template <class F>
double mean_of_frame(const std::byte* at, std::uint32_t num_channels) noexcept {
  double sum = 0;
  for (std::uint32_t c = 0; c < num_channels; ++c)
    sum += static_cast<double>(F::load(at + c * F::kBytes));
  return sum / num_channels;
}

// To nearest, ties up; precondition: finite.
std::int16_t round_to_pcm16(double scaled) noexcept {
  const double shifted = std::clamp(scaled, -32768.0, 32767.0) + 32768.5;
  return static_cast<std::int16_t>(static_cast<std::int32_t>(shifted) - 32768);
}

template <class F>
void integers_to_float(const std::byte* at, std::span<float> out) noexcept {
  constexpr auto kScale = static_cast<float>(1.0 / full_scale<F>());
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = static_cast<float>(F::load(at + i * F::kBytes)) * kScale;
}

template <class F>
std::size_t format_to_float(const InterleavedSamples& in, std::span<float> out) noexcept {
  const std::byte* at = in.bytes.data();
  if (kIsInteger<F> && in.num_channels == 1) {
    if constexpr (kIsInteger<F>) integers_to_float<F>(at, out);
    return kAllFinite;
  }
  const std::size_t step_bytes = F::kBytes * in.num_channels;
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = static_cast<float>(mean_of_frame<F>(at + i * step_bytes, in.num_channels) /
                                full_scale<F>());
    if (!is_finite(out[i])) return i;
  }
  return kAllFinite;
}

template <class F>
void integers_to_pcm16(const std::byte* at, std::span<std::int16_t> out) noexcept {
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::int32_t value = F::load(at + i * F::kBytes);
    out[i] = static_cast<std::int16_t>(F::kBits < 16 ? value * 256 : value >> (F::kBits - 16));
  }
}

template <class F>
std::size_t format_to_pcm16(const InterleavedSamples& in, std::span<std::int16_t> out) noexcept {
  const std::byte* at = in.bytes.data();
  if (kIsInteger<F> && in.num_channels == 1) {
    if constexpr (std::is_same_v<F, S16>)
      std::memcpy(out.data(), at, out.size_bytes());
    else if constexpr (kIsInteger<F>)
      integers_to_pcm16<F>(at, out);
    return kAllFinite;
  }
  const std::size_t step_bytes = F::kBytes * in.num_channels;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const double value = mean_of_frame<F>(at + i * step_bytes, in.num_channels) / full_scale<F>();
    if (!is_finite(value)) return i;
    out[i] = round_to_pcm16(value * 32768.0);
  }
  return kAllFinite;
}

template <class Out, class Do>
std::size_t dispatch(const InterleavedSamples& in, std::span<Out> out, Do convert) noexcept {
  check_invariant(in.bytes.size() == out.size() * sample_bytes(in.format) * in.num_channels,
                  "as many bytes as sample frames");
  if (out.empty()) return kAllFinite;
  switch (in.format) {
    case SampleFormat::kU8:
      return convert(U8{});
    case SampleFormat::kS16:
      return convert(S16{});
    case SampleFormat::kS24:
      return convert(S24{});
    case SampleFormat::kS32:
      return convert(S32{});
    case SampleFormat::kF32:
      return convert(F32{});
    case SampleFormat::kF64:
      return convert(F64{});
    case SampleFormat::kCoded:
      break;
  }
  invariant_broken("coded samples are not WAV samples", std::source_location::current());
}

}  // namespace

std::size_t to_mono_float(const InterleavedSamples& in, std::span<float> out) noexcept {
  return dispatch(in, out, [&]<class F>(F) noexcept { return format_to_float<F>(in, out); });
}

std::size_t to_mono_pcm16(const InterleavedSamples& in, std::span<std::int16_t> out) noexcept {
  return dispatch(in, out, [&]<class F>(F) noexcept { return format_to_pcm16<F>(in, out); });
}

}  // namespace stoker::audio
