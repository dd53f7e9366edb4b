// A real FFT of any length from 64 to 8192, one transform per lane: Stockham, radices 4 2 3 5 and
// any prime.
#if defined(STOKER_AUDIO_FFT_GENERAL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STOKER_AUDIO_FFT_GENERAL_INL_H_
#undef STOKER_AUDIO_FFT_GENERAL_INL_H_
#else
#define STOKER_AUDIO_FFT_GENERAL_INL_H_
#endif

#include <hwy/highway.h>

#include <utility>

#include "stoker/audio/mel/fft_factors.h"

HWY_BEFORE_NAMESPACE();
namespace stoker::audio::HWY_NAMESPACE {
using namespace hwy::HWY_NAMESPACE;

// One complex number per lane; in memory the real vector comes before the imaginary one.
template <class D>
struct ComplexLanes {
  using T = TFromD<D>;
  VFromD<D> re, im;

  static HWY_INLINE ComplexLanes load(D d, const T* from) {
    return {Load(d, from), Load(d, from + MaxLanes(d))};
  }
  HWY_INLINE void store(D d, T* to) const {
    Store(re, d, to);
    Store(im, d, to + MaxLanes(d));
  }
  HWY_INLINE ComplexLanes operator+(const ComplexLanes& b) const {
    return {Add(re, b.re), Add(im, b.im)};
  }
  HWY_INLINE ComplexLanes operator-(const ComplexLanes& b) const {
    return {Sub(re, b.re), Sub(im, b.im)};
  }
  HWY_INLINE ComplexLanes times_minus_i() const { return {im, Neg(re)}; }
  HWY_INLINE ComplexLanes scaled(D d, T factor) const {
    return {Mul(re, Set(d, factor)), Mul(im, Set(d, factor))};
  }
  // this + b * factor
  HWY_INLINE ComplexLanes plus_scaled(D d, const ComplexLanes& b, T factor) const {
    return {MulAdd(b.re, Set(d, factor), re), MulAdd(b.im, Set(d, factor), im)};
  }
  // this * (root[0] + i*root[1])
  HWY_INLINE ComplexLanes turned(D d, const T* root) const {
    const auto cos = Set(d, root[0]);
    const auto sin = Set(d, root[1]);
    return {NegMulAdd(im, sin, Mul(re, cos)), MulAdd(re, sin, Mul(im, cos))};
  }
};

// Where one butterfly reads (input j at in + j*in_step) and writes (output k at out + k*out_step).
template <class T>
struct ButterflyPlace {
  const T* in;
  size_t in_step;
  T* out;
  size_t out_step;
  const T* twiddles;  // of outputs 1 ... radix-1
};

template <class D>
HWY_INLINE void Butterfly2(D d, const ButterflyPlace<TFromD<D> >& at) {
  using C = ComplexLanes<D>;
  const C a = C::load(d, at.in);
  const C b = C::load(d, at.in + at.in_step);
  (a + b).store(d, at.out);
  (a - b).turned(d, at.twiddles).store(d, at.out + at.out_step);
}

template <class D>
HWY_INLINE void Butterfly3(D d, const ButterflyPlace<TFromD<D> >& at) {
  using C = ComplexLanes<D>;
  const C a = C::load(d, at.in);
  const C b = C::load(d, at.in + at.in_step);
  const C c = C::load(d, at.in + 2 * at.in_step);
  const C sum = b + c;
  const C turn = (b - c).times_minus_i().scaled(d, TFromD<D>(0.86602540378443865));
  const C middle = a.plus_scaled(d, sum, TFromD<D>(-0.5));
  (a + sum).store(d, at.out);
  (middle + turn).turned(d, at.twiddles).store(d, at.out + at.out_step);
  (middle - turn).turned(d, at.twiddles + 2).store(d, at.out + 2 * at.out_step);
}

template <class D>
HWY_INLINE void Butterfly4(D d, const ButterflyPlace<TFromD<D> >& at) {
  using C = ComplexLanes<D>;
  const C a = C::load(d, at.in);
  const C b = C::load(d, at.in + at.in_step);
  const C c = C::load(d, at.in + 2 * at.in_step);
  const C e = C::load(d, at.in + 3 * at.in_step);
  const C even_sum = a + c;
  const C even_difference = a - c;
  const C odd_sum = b + e;
  const C odd_turn = (b - e).times_minus_i();
  (even_sum + odd_sum).store(d, at.out);
  (even_difference + odd_turn).turned(d, at.twiddles).store(d, at.out + at.out_step);
  (even_sum - odd_sum).turned(d, at.twiddles + 2).store(d, at.out + 2 * at.out_step);
  (even_difference - odd_turn).turned(d, at.twiddles + 4).store(d, at.out + 3 * at.out_step);
}

template <class D>
HWY_INLINE void Butterfly5(D d, const ButterflyPlace<TFromD<D> >& at) {
  using C = ComplexLanes<D>;
  constexpr TFromD<D> kCos1(0.30901699437494742), kCos2(-0.80901699437494742);
  constexpr TFromD<D> kSin1(0.95105651629515357), kSin2(0.58778525229247313);
  const C a = C::load(d, at.in);
  const C b = C::load(d, at.in + at.in_step);
  const C c = C::load(d, at.in + 2 * at.in_step);
  const C e = C::load(d, at.in + 3 * at.in_step);
  const C f = C::load(d, at.in + 4 * at.in_step);
  const C outer = b + f;
  const C inner = c + e;
  const C outer_turn = (b - f).times_minus_i();
  const C inner_turn = (c - e).times_minus_i();
  const C first = a.plus_scaled(d, outer, kCos1).plus_scaled(d, inner, kCos2);
  const C second = a.plus_scaled(d, outer, kCos2).plus_scaled(d, inner, kCos1);
  const C first_turn = outer_turn.scaled(d, kSin1).plus_scaled(d, inner_turn, kSin2);
  const C second_turn = outer_turn.scaled(d, kSin2).plus_scaled(d, inner_turn, -kSin1);
  (a + outer + inner).store(d, at.out);
  (first + first_turn).turned(d, at.twiddles).store(d, at.out + at.out_step);
  (second + second_turn).turned(d, at.twiddles + 2).store(d, at.out + 2 * at.out_step);
  (second - second_turn).turned(d, at.twiddles + 4).store(d, at.out + 3 * at.out_step);
  (first - first_turn).turned(d, at.twiddles + 6).store(d, at.out + 4 * at.out_step);
}

// Any odd radix by its definition. Inputs j and radix-j meet the same cosine, and opposite sines.
template <class D>
HWY_INLINE void ButterflyAny(D d, const ButterflyPlace<TFromD<D> >& at,
                             const FftStageOf<TFromD<D> >& stage) {
  using C = ComplexLanes<D>;
  const size_t radix = stage.radix;
  const C a = C::load(d, at.in);
  for (size_t k = 0; k <= radix / 2; ++k) {
    C even = a;
    C odd = {Zero(d), Zero(d)};
    for (size_t j = 1, turn = k; j <= radix / 2; ++j, turn = (turn + k) % radix) {
      const C b = C::load(d, at.in + j * at.in_step);
      const C c = C::load(d, at.in + (radix - j) * at.in_step);
      even = even.plus_scaled(d, b + c, stage.roots[2 * turn]);
      odd = odd.plus_scaled(d, b - c, -stage.roots[2 * turn + 1]);
    }
    const C turn = odd.times_minus_i();
    if (k == 0) {
      even.store(d, at.out);
      continue;
    }
    (even + turn).turned(d, at.twiddles + 2 * (k - 1)).store(d, at.out + k * at.out_step);
    const size_t mirror = radix - k;
    (even - turn).turned(d, at.twiddles + 2 * (mirror - 1)).store(d, at.out + mirror * at.out_step);
  }
}

template <class D, class Butterfly>
HWY_INLINE void RunStage(const FftStageOf<TFromD<D> >& stage, const TFromD<D>* in, TFromD<D>* out,
                         Butterfly butterfly) {
  const size_t complex_step = 2 * MaxLanes(D());
  const size_t num_butterflies = stage.length / stage.radix;
  ButterflyPlace<TFromD<D> > at{.in = nullptr,
                                .in_step = num_butterflies * stage.stride * complex_step,
                                .out = nullptr,
                                .out_step = stage.stride * complex_step,
                                .twiddles = stage.twiddles.data()};
  for (size_t p = 0; p < num_butterflies; ++p) {
    at.in = in + p * stage.stride * complex_step;
    at.out = out + p * stage.radix * stage.stride * complex_step;
    for (size_t q = 0; q < stage.stride; ++q) {
      butterfly(at);
      at.in += complex_step;
      at.out += complex_step;
    }
    at.twiddles += 2 * (stage.radix - 1);
  }
}

// Transforms `num_points` complex vectors in `data`, using `other` in turn; returns where the
// result is.
template <class D>
HWY_NOINLINE const TFromD<D>* TransformComplex(D d, const FftFactorsOf<TFromD<D> >& fft,
                                               TFromD<D>* data, TFromD<D>* other) {
  using Place = ButterflyPlace<TFromD<D> >;
  for (const auto& stage : fft.stages) {
    const auto run = [&](auto butterfly) HWY_ATTR { RunStage<D>(stage, data, other, butterfly); };
    switch (stage.radix) {
      case 2:
        run([d](const Place& at) HWY_ATTR { Butterfly2(d, at); });
        break;
      case 3:
        run([d](const Place& at) HWY_ATTR { Butterfly3(d, at); });
        break;
      case 4:
        run([d](const Place& at) HWY_ATTR { Butterfly4(d, at); });
        break;
      case 5:
        run([d](const Place& at) HWY_ATTR { Butterfly5(d, at); });
        break;
      default:
        run([d, &stage](const Place& at) HWY_ATTR { ButterflyAny(d, at, stage); });
    }
    std::swap(data, other);
  }
  return data;
}

// Takes the bins of a real transform out of `points` and hands those below end_bin to the sink.
template <class D, class Sink, class Bin>
HWY_NOINLINE void SplitReal(D d, const FftFactorsOf<TFromD<D> >& fft, const TFromD<D>* points,
                            Sink sink, std::pair<const Bin*, size_t> bins_and_end) {
  using C = ComplexLanes<D>;
  const auto [bins, end_bin] = bins_and_end;
  const size_t step = 2 * MaxLanes(d);
  for (size_t k = 0; k < end_bin; ++k) {
    const C z = C::load(d, points + k % fft.num_points * step);
    if (fft.n_fft % 2 != 0) {
      sink(z.re, z.im, bins + k);
      continue;
    }
    const C y = C::load(d, points + (fft.num_points - k) % fft.num_points * step);
    const C even = {Add(z.re, y.re), Sub(z.im, y.im)};
    const C odd = {Add(z.im, y.im), Sub(y.re, z.re)};
    const C bin = (even + odd.turned(d, fft.split.data() + 2 * k)).scaled(d, TFromD<D>(0.5));
    sink(bin.re, bin.im, bins + k);
  }
}

}  // namespace stoker::audio::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
