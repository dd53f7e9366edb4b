// Between memory and lanes: samples of several frames into vectors, vectors of bands into rows.
#if defined(STOKER_AUDIO_MEL_LANES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STOKER_AUDIO_MEL_LANES_INL_H_
#undef STOKER_AUDIO_MEL_LANES_INL_H_
#else
#define STOKER_AUDIO_MEL_LANES_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "stoker/audio/float16.h"
#include "stoker/audio/mel_plan.h"

HWY_BEFORE_NAMESPACE();
namespace stoker::audio::HWY_NAMESPACE {
using namespace hwy::HWY_NAMESPACE;

using FloatTag = ScalableTag<float>;
using DoubleTag = ScalableTag<double>;

// Beyond this a float sample is cut, so that no square overflows.
constexpr float kLargestSample = 1048576.0F;

template <class D>
HWY_INLINE VFromD<D> FiniteSample(D d, VFromD<D> x) {
  const auto number = IfThenElseZero(Eq(x, x), x);
  return Min(Max(number, Set(d, -kLargestSample)), Set(d, kLargestSample));
}

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

HWY_INLINE float LaneSample(int16_t sample) { return static_cast<float>(sample) * 65536.0F; }
HWY_INLINE float LaneSample(float sample) {
  return std::isnan(sample) ? 0.0F : std::clamp(sample, -kLargestSample, kLargestSample);
}

// One sample of every lane after the other.
template <class D, class Sample>
HWY_INLINE void LoadLanesSingly(D d, const Sample* const* lanes, std::pair<size_t, size_t> range,
                                TFromD<D>* to) {
  for (size_t i = range.first; i < range.second; ++i) {
    for (size_t lane = 0; lane < MaxLanes(d); ++lane) *to++ = LaneSample(lanes[lane][i]);
  }
}

// One row after the other; what is behind its last band is not touched.
template <class D, class Compress, class Convert>
HWY_INLINE void StoreRowsSingly(D d, std::pair<float*, size_t> bands, void* const* rows,
                                std::pair<Compress, Convert> finish) {
  using Value = typename Convert::Value;
  const CappedTag<float, 1> one;
  for (size_t lane = 0; lane < MaxLanes(d); ++lane) {
    auto* const row = static_cast<Value*>(rows[lane]);
    for (size_t m = 0; m < bands.second; ++m) {
      float* const sum = bands.first + m * MaxLanes(d) + lane;
      const auto value = finish.first(one, Load(one, sum));
      *sum = 0.0F;
      Store(finish.second(one, value), Rebind<Value, CappedTag<float, 1> >(), row + m);
    }
  }
}

#if HWY_TARGET != HWY_SCALAR

template <class V>
struct FourVectors {
  V v0, v1, v2, v3;
};

#if HWY_TARGET == HWY_AVX3
// GatherBlocks for 16 lanes in four instructions.
template <class D, class T>
HWY_INLINE VFromD<D> GatherSixteen(D d, const T* const* lanes, size_t offset) {
  const auto block = [&](size_t lane) HWY_ATTR {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(lanes[lane] + offset));
  };
  __m512i all = _mm512_castsi128_si512(block(0));
  all = _mm512_mask_broadcast_i32x4(all, 0x00F0, block(4));
  all = _mm512_mask_broadcast_i32x4(all, 0x0F00, block(8));
  all = _mm512_mask_broadcast_i32x4(all, 0xF000, block(12));
  return BitCast(d, VFromD<RebindToSigned<D> >{all});
}
#endif

// 128-bit block b holds the 16 bytes at `offset` of lane 4*b.
template <class D, class T>
HWY_INLINE VFromD<D> GatherBlocks(D d, const T* const* lanes, size_t offset) {
  if constexpr (MaxLanes(d) == 4) {
    return LoadU(d, reinterpret_cast<const TFromD<D>*>(lanes[0] + offset));
#if HWY_TARGET == HWY_AVX3
  } else if constexpr (MaxLanes(d) == 16) {
    return GatherSixteen(d, lanes, offset);
#endif
  } else {
    const Half<D> half;
    const auto low = GatherBlocks(half, lanes, offset);
    return Combine(d, GatherBlocks(half, lanes + MaxLanes(half), offset), low);
  }
}

// Within each 128-bit block: columns become rows.
template <class D, class V = VFromD<D> >
HWY_INLINE FourVectors<V> TransposeBlocks(D d, const FourVectors<V>& in) {
  const RepartitionToWide<D> wide;
  const auto low01 = BitCast(wide, InterleaveLower(d, in.v0, in.v1));
  const auto low23 = BitCast(wide, InterleaveLower(d, in.v2, in.v3));
  const auto high01 = BitCast(wide, InterleaveUpper(d, in.v0, in.v1));
  const auto high23 = BitCast(wide, InterleaveUpper(d, in.v2, in.v3));
  return {BitCast(d, InterleaveLower(wide, low01, low23)),
          BitCast(d, InterleaveUpper(wide, low01, low23)),
          BitCast(d, InterleaveLower(wide, high01, high23)),
          BitCast(d, InterleaveUpper(wide, high01, high23))};
}

// Four 32-bit values of every lane, one vector each.
template <class D, class T>
HWY_INLINE FourVectors<VFromD<D> > GatherFour(D d, const T* const* lanes, size_t offset) {
  return TransposeBlocks(
      d, FourVectors<VFromD<D> >{GatherBlocks(d, lanes, offset), GatherBlocks(d, lanes + 1, offset),
                                 GatherBlocks(d, lanes + 2, offset),
                                 GatherBlocks(d, lanes + 3, offset)});
}

// Stores f32 lanes in the precision of `to`.
template <class N>
HWY_INLINE void StoreLanes(N d, VFromD<N> v, float* to) {
  Store(v, d, to);
}
template <class N>
HWY_INLINE void StoreLanes(N /*d*/, VFromD<N> v, double* to) {
  const Rebind<double, N> wide;
  Store(PromoteTo(wide, v), wide, to);
}

// Eight samples of every lane. Two int16 travel as one 32-bit value; each comes out as
// sample * 65536, so that no sign has to be extended. The window carries the factor.
template <class N, class T>
HWY_INLINE void LoadPiece(N d, const int16_t* const* lanes, size_t first, T* to) {
  const RebindToSigned<N> di;
  const auto store_pair = [d, di](VFromD<RebindToSigned<N> > pair, T* at) HWY_ATTR {
    StoreLanes(d, ConvertTo(d, ShiftLeft<16>(pair)), at);
    StoreLanes(d, ConvertTo(d, And(pair, Set(di, -65536))), at + MaxLanes(d));
  };
  const auto pairs = GatherFour(di, lanes, first);
  store_pair(pairs.v0, to);
  store_pair(pairs.v1, to + 2 * MaxLanes(d));
  store_pair(pairs.v2, to + 4 * MaxLanes(d));
  store_pair(pairs.v3, to + 6 * MaxLanes(d));
}

template <class N, class T>
HWY_INLINE void LoadPiece(N d, const float* const* lanes, size_t first, T* to) {
  for (size_t i = 0; i < kPieceSamples; i += 4) {
    const auto four = GatherFour(d, lanes, first + i);
    StoreLanes(d, FiniteSample(d, four.v0), to + i * MaxLanes(d));
    StoreLanes(d, FiniteSample(d, four.v1), to + (i + 1) * MaxLanes(d));
    StoreLanes(d, FiniteSample(d, four.v2), to + (i + 2) * MaxLanes(d));
    StoreLanes(d, FiniteSample(d, four.v3), to + (i + 3) * MaxLanes(d));
  }
}

// Four values of lanes 0, 4, 8 ... stand in v one after the other; each goes to band m of its row.
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

template <class N, class Compress>
HWY_INLINE FourVectors<VFromD<N> > FinishFour(N d, float* sums, Compress compress) {
  const auto band = [&](size_t m) HWY_ATTR {
    float* const at = sums + m * MaxLanes(d);
    const auto sum = Load(d, at);
    Store(Zero(d), d, at);
    return compress(d, sum);
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

template <class N, class Compress, class Convert>
HWY_INLINE void StoreRowsByFours(N d, std::pair<float*, size_t> bands, void* const* rows,
                                 std::pair<Compress, Convert> finish) {
  using Value = typename Convert::Value;
  const auto [values, num_mels] = bands;
  size_t m = 0;
  for (; m + 4 <= num_mels; m += 4) {
    StoreFour(d, FinishFour(d, values + m * MaxLanes(d), finish.first), std::pair(rows, m),
              finish.second);
  }
  if (m == num_mels) return;
  // The last one to three bands take a way round, so that nothing is written behind a row.
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

// Brings samples range.first ... range.second-1 of every lane into vectors one after the other;
// their number is a multiple of kPieceSamples.
template <class D, class Sample>
HWY_INLINE void LoadLanes(D d, const Sample* const* lanes, std::pair<size_t, size_t> range,
                          TFromD<D>* to) {
#if HWY_TARGET != HWY_SCALAR
  if constexpr (MaxLanes(d) >= 4) {
    for (size_t i = range.first; i < range.second; i += kPieceSamples) {
      LoadPiece(Rebind<float, D>(), lanes, i, to);
      to += kPieceSamples * MaxLanes(d);
    }
    return;
  }
#endif
  LoadLanesSingly(d, lanes, range, to);
}

// bands: one f32 vector each, as many lanes as D has, and their number; memory for it rounded up to
// four. They are compressed and converted on the way, and left at zero for the next step. rows:
// where each lane's frame goes.
template <class D, class Compress, class Convert>
HWY_INLINE void StoreRows(D d, std::pair<float*, size_t> bands, void* const* rows,
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
