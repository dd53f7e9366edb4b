// From lanes into memory: vectors of band sums into finished rows.
#if defined(STOKER_AUDIO_MEL_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STOKER_AUDIO_MEL_ROWS_INL_H_
#undef STOKER_AUDIO_MEL_ROWS_INL_H_
#else
#define STOKER_AUDIO_MEL_ROWS_INL_H_
#endif

#include <hwy/highway.h>

#include <cstring>
#include <utility>

#include "stoker/audio/float16.h"
#include "stoker/audio/mel/mel_bands-inl.h"
#include "stoker/audio/mel/mel_lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace stoker::audio::HWY_NAMESPACE {
using namespace hwy::HWY_NAMESPACE;

// How a vector of finished values becomes one of each dtype.
struct AsF32 {
  using Value = float;
  template <class D>
  HWY_INLINE VFromD<D> operator()(D /*d*/, VFromD<D> x) const {
    return x;
  }
};
struct AsF16 {
  using Value = uint16_t;
  template <class D>
  HWY_INLINE VFromD<Rebind<uint16_t, D> > operator()(D d, VFromD<D> x) const {
    const Rebind<uint16_t, D> narrow;
#if HWY_TARGET == HWY_SCALAR
    (void)d;
    return Set(narrow, f16_bits(GetLane(x)));
#else
    const auto limited = Min(Max(x, Set(d, -kLargestF16)), Set(d, kLargestF16));
    return BitCast(narrow, DemoteTo(Rebind<hwy::float16_t, D>(), limited));
#endif
  }
};
struct AsBf16 {
  using Value = uint16_t;
  template <class D>
  HWY_INLINE VFromD<Rebind<uint16_t, D> > operator()(D /*d*/, VFromD<D> x) const {
    const RebindToUnsigned<D> du;
    const auto bits = BitCast(du, x);
    const auto tie = And(ShiftRight<16>(bits), Set(du, 1));
    const auto rounded = ShiftRight<16>(Add(Add(bits, tie), Set(du, 0x7FFF)));
    return DemoteTo(Rebind<uint16_t, D>(), BitCast(Rebind<int32_t, D>(), rounded));
  }
};

// One row after the other; what is behind its last band is not touched.
template <class D, class Compress, class Convert, class T = TFromD<D> >
HWY_INLINE void StoreRowsSingly(D d, std::pair<T*, size_t> bands, void* const* rows,
                                std::pair<Compress, Convert> finish) {
  using Value = typename Convert::Value;
  const CappedTag<T, 1> one;
  const CappedTag<float, 1> narrow;
  for (size_t lane = 0; lane < MaxLanes(d); ++lane) {
    auto* const row = static_cast<Value*>(rows[lane]);
    for (size_t m = 0; m < bands.second; ++m) {
      T* const sum = bands.first + m * MaxLanes(d) + lane;
      const auto value = Narrowed(one, finish.first(one, Load(one, sum)));
      *sum = T(0);
      Store(finish.second(narrow, value), Rebind<Value, CappedTag<float, 1> >(), row + m);
    }
  }
}

#if HWY_TARGET != HWY_SCALAR

// Four values of lanes 0, 4, 8 ... are in v one after the other; each goes to band m of its row.
template <class D>
HWY_INLINE void StoreFours(D d, VFromD<D> v, void* const* rows, size_t m) {
  if constexpr (MaxLanes(d) == 4) {
    StoreU(v, d, static_cast<TFromD<D>*>(rows[0]) + m);
  } else {
    const Half<D> half;
    StoreFours(half, LowerHalf(half, v), rows, m);
    StoreFours(half, UpperHalf(half, v), rows + MaxLanes(half), m);
  }
}

template <class N, class T, class Compress>
HWY_INLINE FourVectors<VFromD<N> > FinishFour(N d, T* sums, Compress compress) {
  const auto band = [sums, compress](size_t m) HWY_ATTR {
    const Rebind<T, N> wide;
    T* const at = sums + m * MaxLanes(wide);
    const auto sum = Load(wide, at);
    Store(Zero(wide), wide, at);
    return Narrowed(wide, compress(wide, sum));
  };
  return TransposeBlocks(d, FourVectors<VFromD<N> >{band(0), band(1), band(2), band(3)});
}

template <class N, class Convert>
HWY_INLINE void StoreFour(N d, const FourVectors<VFromD<N> >& four,
                          std::pair<void* const*, size_t> rows_and_band, Convert convert) {
  const auto [rows, m] = rows_and_band;
  const Rebind<typename Convert::Value, N> to;
  StoreFours(to, convert(d, four.v0), rows, m);
  StoreFours(to, convert(d, four.v1), rows + 1, m);
  StoreFours(to, convert(d, four.v2), rows + 2, m);
  StoreFours(to, convert(d, four.v3), rows + 3, m);
}

template <class N, class T, class Compress, class Convert>
HWY_INLINE void StoreRowsByFours(N d, std::pair<T*, size_t> bands, void* const* rows,
                                 std::pair<Compress, Convert> finish) {
  using Value = typename Convert::Value;
  const auto [values, num_mels] = bands;
  size_t m = 0;
  for (; m + 4 <= num_mels; m += 4) {
    StoreFour(d, FinishFour(d, values + m * MaxLanes(d), finish.first), std::pair(rows, m),
              finish.second);
  }
  if (m == num_mels) return;
  // The last one to three bands take a detour, so that nothing is written behind a row.
  Value rest[MaxLanes(d)][4];
  void* places[MaxLanes(d)];
  for (size_t lane = 0; lane < MaxLanes(d); ++lane) places[lane] = rest[lane];
  StoreFour(d, FinishFour(d, values + m * MaxLanes(d), finish.first),
            std::pair<void* const*, size_t>(places, 0), finish.second);
  for (size_t lane = 0; lane < MaxLanes(d); ++lane) {
    std::memcpy(static_cast<Value*>(rows[lane]) + m, rest[lane], (num_mels - m) * sizeof(Value));
  }
}

#endif

// bands: one vector each and their number; memory for it rounded up to four. They are compressed
// and converted on the way, and left at zero for the next step. rows: where each lane's frame goes.
template <class D, class Compress, class Convert, class T = TFromD<D> >
HWY_INLINE void StoreRows(D d, std::pair<T*, size_t> bands, void* const* rows,
                          std::pair<Compress, Convert> finish) {
#if HWY_TARGET != HWY_SCALAR
  if constexpr (MaxLanes(d) >= 4) {
    return StoreRowsByFours(Rebind<float, D>(), bands, rows, finish);
  }
#endif
  StoreRowsSingly(d, bands, rows, finish);
}

}  // namespace stoker::audio::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
