// From a transform's bins to log-mel values, one frame per lane.
#if defined(STOKER_AUDIO_MEL_BANDS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STOKER_AUDIO_MEL_BANDS_INL_H_
#undef STOKER_AUDIO_MEL_BANDS_INL_H_
#else
#define STOKER_AUDIO_MEL_BANDS_INL_H_
#endif

#include <hwy/highway.h>

#include <iterator>

#include "stoker/audio/mel_plan.h"

HWY_BEFORE_NAMESPACE();
namespace stoker::audio::HWY_NAMESPACE {
using namespace hwy::HWY_NAMESPACE;

// x86's estimate is good to 12 bits or more: one Newton step is enough, and costs a third of a
// root.
constexpr bool kUsesEstimate = HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR;

// re^2 + im^2 + epsilon.
template <class D>
struct PowerSink {
  VFromD<D> epsilon;
  HWY_INLINE void operator()(VFromD<D> re, VFromD<D> im, float* to) const {
    Store(MulAdd(re, re, MulAdd(im, im, epsilon)), D(), to);
  }
};

// Its root; twice that with kUsesEstimate (x*r*(3 - x*r*r) leaves out Newton's factor 1/2, which
// the mel weights carry).
template <class D>
struct MagnitudeSink {
  VFromD<D> epsilon;
  HWY_INLINE void operator()(VFromD<D> re, VFromD<D> im, float* to) const {
    const auto power = MulAdd(re, re, MulAdd(im, im, epsilon));
    if constexpr (kUsesEstimate) {
      const auto estimate = ApproximateReciprocalSqrt(power);
      const auto root = Mul(power, estimate);
      Store(Mul(root, NegMulAdd(root, estimate, Set(D(), 3.0F))), D(), to);
    } else {
      Store(Sqrt(power), D(), to);
    }
  }
};

// Walks the needed bins once: each falls in one band and rises in the next.
template <class D>
HWY_NOINLINE void SumBands(D d, const MelBands& bands, const float* HWY_RESTRICT bins,
                           float* HWY_RESTRICT mels) {
  const float* HWY_RESTRICT weight = bands.weights.data();
  const float* HWY_RESTRICT bin = bins + bands.first_bin * MaxLanes(d);
  auto falling = Zero(d);
  for (size_t segment = 0; segment <= bands.num_mels; ++segment) {
    auto rising = Zero(d);
    for (size_t left = bands.segment_bins[segment]; left > 0; --left) {
      const auto value = Load(d, bin);
      falling = MulAdd(value, Set(d, weight[0]), falling);
      rising = MulAdd(value, Set(d, weight[1]), rising);
      bin += MaxLanes(d);
      weight += 2;
    }
    if (segment > 0) Store(falling, d, mels + (segment - 1) * MaxLanes(d));
    falling = rising;
  }
}

// ln(1+t)/t on [-1/3, 1/3], highest power first; minimax in the terms from t^2 on, 9e-9.
constexpr float kLogTerms[] = {0.144008696F,  -0.152694911F, 0.139153689F,
                               -0.164467216F, 0.200163677F,  -0.250052989F,
                               0.333331048F,  -0.5F,         1.0F};

// ln(x) for normal x > 0: x = 2^e * (1+t) with 1+t in [2/3, 4/3). Within one unit in the last
// place, and 8e-8 near 1.
template <class D>
HWY_INLINE VFromD<D> NaturalLog(D d, VFromD<D> x) {
  const RebindToSigned<D> di;
  const auto two_thirds = Set(di, 0x3F2AAAAB);
  const auto offset = Sub(BitCast(di, x), two_thirds);
  const auto exponent = ConvertTo(d, ShiftRight<23>(offset));
  const auto mantissa = Add(And(offset, Set(di, 0x7FFFFF)), two_thirds);
  const auto t = Sub(BitCast(d, mantissa), Set(d, 1.0F));
  auto p = Set(d, kLogTerms[0]);
  for (size_t i = 1; i < std::size(kLogTerms); ++i) {
    p = MulAdd(p, t, Set(d, kLogTerms[i]));
  }
  // ln(2) in two parts, the first of so few bits that its product is exact: one rounding at the
  // size of the result, with or without fused instructions.
  const auto small = MulAdd(exponent, Set(d, -2.12194440e-4F), Mul(p, t));
  return MulAdd(exponent, Set(d, 0.693359375F), small);
}

template <class D, class Compress>
HWY_INLINE void ForEachBand(D d, size_t num_mels, float* HWY_RESTRICT mels, Compress compress) {
  for (size_t m = 0; m < num_mels; ++m) {
    Store(compress(Load(d, mels + m * MaxLanes(d))), d, mels + m * MaxLanes(d));
  }
}

// Floor and logarithm, in place.
template <class D>
HWY_NOINLINE void CompressBands(D d, const MelPlan& plan, float* HWY_RESTRICT mels) {
  using V = VFromD<D>;
  const bool adds = plan.recipe.floor_mode == config::MelFloor::kAdd;
  const auto floor = Set(d, plan.floor);
  const auto factor = Set(d, plan.log_factor);
  const auto keep = [&](V x) HWY_ATTR { return adds ? Add(x, floor) : Max(x, floor); };
  const size_t num_mels = plan.bands.num_mels;
  if (plan.recipe.log == config::MelLog::kNone) {
    ForEachBand(d, num_mels, mels, [&](V x) HWY_ATTR { return keep(x); });
  } else if (plan.recipe.log == config::MelLog::kLn && !adds) {
    ForEachBand(d, num_mels, mels, [=](V x) HWY_ATTR { return NaturalLog(d, Max(x, floor)); });
  } else {
    ForEachBand(d, num_mels, mels,
                [&](V x) HWY_ATTR { return Mul(NaturalLog(d, keep(x)), factor); });
  }
}

}  // namespace stoker::audio::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
