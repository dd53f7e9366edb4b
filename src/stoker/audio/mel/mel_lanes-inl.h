// From memory into lanes: samples of several frames into vectors.
#if defined(STOKER_AUDIO_MEL_LANES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STOKER_AUDIO_MEL_LANES_INL_H_
#undef STOKER_AUDIO_MEL_LANES_INL_H_
#else
#define STOKER_AUDIO_MEL_LANES_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "stoker/audio/mel/mel_plan.h"

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

}  // namespace stoker::audio::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
