// From a transform's bins to log-mel values, one frame per lane.
#if defined(STOKER_AUDIO_MEL_BANDS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STOKER_AUDIO_MEL_BANDS_INL_H_
#undef STOKER_AUDIO_MEL_BANDS_INL_H_
#else
#define STOKER_AUDIO_MEL_BANDS_INL_H_
#endif

#include <hwy/highway.h>

#include <iterator>

#include "stoker/audio/mel/mel_plan.h"

HWY_BEFORE_NAMESPACE();
namespace stoker::audio::HWY_NAMESPACE {
using namespace hwy::HWY_NAMESPACE;

// f32 with as many lanes as D: what finished values are rounded to.
template <class D>
using NarrowTag = Rebind<float, D>;

template <class D>
HWY_INLINE VFromD<NarrowTag<D> > Narrowed(D /*d*/, VFromD<D> x) {
  if constexpr (sizeof(TFromD<D>) == sizeof(float)) {
    return x;
  } else {
    return DemoteTo(NarrowTag<D>(), x);
  }
}

// Adds a bin to the band it falls in and to the next one, in which it rises. The sums stay in the
// first-level cache while the bins themselves, five times as many, would not.
template <class D>
struct BandSums {
  using T = TFromD<D>;
  T* HWY_RESTRICT mels;
  HWY_INLINE void add(VFromD<D> value, const BinShare<T>* bin) const {
    const D d;
    auto* const falling = reinterpret_cast<T*>(reinterpret_cast<char*>(mels) + bin->place_bytes);
    T* const rising = falling + MaxLanes(d);
    Store(MulAdd(value, Set(d, bin->falling), Load(d, falling)), d, falling);
    Store(MulAdd(value, Set(d, bin->rising), Load(d, rising)), d, rising);
  }
};

// re^2 + im^2 + epsilon.
template <class D>
struct PowerSink {
  BandSums<D> sums;
  VFromD<D> epsilon;
  HWY_INLINE void operator()(VFromD<D> re, VFromD<D> im, const BinShare<TFromD<D> >* bin) const {
    sums.add(MulAdd(re, re, MulAdd(im, im, epsilon)), bin);
  }
};

// Its root, by the instruction that IEEE defines: an estimate of 1/root with Newton steps takes as
// long where additions and multiplications keep the core busy, and each maker of processors
// estimates in its own way.
template <class D>
struct MagnitudeSink {
  BandSums<D> sums;
  VFromD<D> epsilon;
  HWY_INLINE void operator()(VFromD<D> re, VFromD<D> im, const BinShare<TFromD<D> >* bin) const {
    sums.add(Sqrt(MulAdd(re, re, MulAdd(im, im, epsilon))), bin);
  }
};

// ln(1+t)/t on [-1/3, 1/3], highest power first; minimax in the terms from t^2 on, 9e-9.
constexpr float kLogTerms[] = {0.144008696F,  -0.152694911F, 0.139153689F,
                               -0.164467216F, 0.200163677F,  -0.250052989F,
                               0.333331048F,  -0.5F,         1.0F};

// ln(x) for normal x > 0: x = 2^e * (1+t) with 1+t in [2/3, 4/3). Within one unit in the last
// place, and 8e-8 near 1.
template <class D>
  requires(sizeof(TFromD<D>) == sizeof(float))
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

// The same in f64, within 1e-11: ln(m) = 2*(s + s^3/3 + s^5/5 + ...) with s = (m-1)/(m+1).
template <class D>
  requires(sizeof(TFromD<D>) == sizeof(double))
HWY_INLINE VFromD<D> NaturalLog(D d, VFromD<D> x) {
  const RebindToSigned<D> di;
  const auto two_thirds = Set(di, 0x3FE5555555555555);
  const auto offset = Sub(BitCast(di, x), two_thirds);
  const auto exponent = ConvertTo(d, ShiftRight<52>(offset));
  const auto mantissa = BitCast(d, Add(And(offset, Set(di, 0xFFFFFFFFFFFFF)), two_thirds));
  const auto s = Div(Sub(mantissa, Set(d, 1.0)), Add(mantissa, Set(d, 1.0)));
  const auto square = Mul(s, s);
  auto p = Set(d, 2.0 / 15.0);
  for (int odd = 13; odd > 0; odd -= 2) p = MulAdd(p, square, Set(d, 2.0 / odd));
  return MulAdd(exponent, Set(d, 0.69314718055994531), Mul(p, s));
}

// Floor, then logarithm: what a recipe does with each mel value.
struct FloorOnly {
  bool adds;
  double floor;
  template <class D>
  HWY_INLINE VFromD<D> operator()(D d, VFromD<D> x) const {
    const auto least = Set(d, static_cast<TFromD<D> >(floor));
    return adds ? Add(x, least) : Max(x, least);
  }
};
struct FloorAndLn {
  double floor;
  template <class D>
  HWY_INLINE VFromD<D> operator()(D d, VFromD<D> x) const {
    return NaturalLog(d, Max(x, Set(d, static_cast<TFromD<D> >(floor))));
  }
};
struct FloorAndScaledLog {
  FloorOnly keep;
  double factor;
  template <class D>
  HWY_INLINE VFromD<D> operator()(D d, VFromD<D> x) const {
    return Mul(NaturalLog(d, keep(d, x)), Set(d, static_cast<TFromD<D> >(factor)));
  }
};

// Calls `use` with the compression of the plan's recipe.
template <class Use>
HWY_INLINE void WithCompression(const MelPlan& plan, Use use) {
  const FloorOnly keep{plan.recipe.floor_mode == config::MelFloor::kAdd, plan.floor};
  if (plan.recipe.log == config::MelLog::kNone) {
    use(keep);
  } else if (plan.recipe.log == config::MelLog::kLn && !keep.adds) {
    use(FloorAndLn{plan.floor});
  } else {
    use(FloorAndScaledLog{keep, plan.log_factor});
  }
}

}  // namespace stoker::audio::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
