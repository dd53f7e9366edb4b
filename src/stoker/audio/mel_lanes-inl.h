// Between memory and lanes: samples of several frames into vectors, vectors of bands into rows.
#if defined(STOKER_AUDIO_MEL_LANES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STOKER_AUDIO_MEL_LANES_INL_H_
#undef STOKER_AUDIO_MEL_LANES_INL_H_
#else
#define STOKER_AUDIO_MEL_LANES_INL_H_
#endif

#include <hwy/highway.h>

#include <cstring>

#include "stoker/audio/float16.h"
#include "stoker/audio/mel_plan.h"

HWY_BEFORE_NAMESPACE();
namespace stoker::audio::HWY_NAMESPACE {
using namespace hwy::HWY_NAMESPACE;

using FloatTag = ScalableTag<float>;
constexpr size_t kLanes = MaxLanes(FloatTag());

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

#if HWY_TARGET == HWY_SCALAR

HWY_INLINE void LoadLanes(const int16_t* const* lanes, size_t first, size_t count, float* to) {
  for (size_t i = 0; i < count; ++i) to[i] = static_cast<float>(lanes[0][first + i]) * 65536.0F;
}

HWY_INLINE void LoadLanes(const float* const* lanes, size_t first, size_t count, float* to) {
  const FloatTag d;
  for (size_t i = 0; i < count; ++i)
    Store(FiniteSample(d, Load(d, lanes[0] + first + i)), d, to + i);
}

template <class Compress, class Convert>
HWY_INLINE void StoreRows(const float* values, size_t num_mels, void* const* rows,
                          Compress compress, Convert convert) {
  using Value = typename Convert::Value;
  const FloatTag d;
  auto* const row = static_cast<Value*>(rows[0]);
  for (size_t m = 0; m < num_mels; ++m) {
    Store(convert(d, compress(d, Load(d, values + m))), Rebind<Value, FloatTag>(), row + m);
  }
}

#else

template <class V>
struct FourVectors {
  V v0, v1, v2, v3;
};

// 128-bit block b holds the 16 bytes at `offset` of lane 4*b.
template <class D, class T>
HWY_INLINE VFromD<D> GatherBlocks(D d, const T* const* lanes, size_t offset) {
  if constexpr (MaxLanes(d) == 4) {
    return LoadU(d, reinterpret_cast<const TFromD<D>*>(lanes[0] + offset));
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

// Two int16 travel as one 32-bit value; each comes out as sample * 65536, so that no sign has to be
// extended. The window carries the factor.
template <class V>
HWY_INLINE void StorePair(V pair, float* to) {
  const FloatTag d;
  const RebindToSigned<FloatTag> di;
  Store(ConvertTo(d, ShiftLeft<16>(pair)), d, to);
  Store(ConvertTo(d, And(pair, Set(di, -65536))), d, to + kLanes);
}

// Brings samples first ... first+count-1 of every lane into vectors one after the other; count is a
// multiple of kPieceSamples.
HWY_INLINE void LoadLanes(const int16_t* const* lanes, size_t first, size_t count, float* to) {
  const RebindToSigned<FloatTag> di;
  for (size_t i = 0; i < count; i += kPieceSamples) {
    const auto pairs = GatherFour(di, lanes, first + i);
    StorePair(pairs.v0, to + i * kLanes);
    StorePair(pairs.v1, to + (i + 2) * kLanes);
    StorePair(pairs.v2, to + (i + 4) * kLanes);
    StorePair(pairs.v3, to + (i + 6) * kLanes);
  }
}

HWY_INLINE void LoadLanes(const float* const* lanes, size_t first, size_t count, float* to) {
  const FloatTag d;
  for (size_t i = 0; i < count; i += 4) {
    const auto four = GatherFour(d, lanes, first + i);
    Store(FiniteSample(d, four.v0), d, to + i * kLanes);
    Store(FiniteSample(d, four.v1), d, to + (i + 1) * kLanes);
    Store(FiniteSample(d, four.v2), d, to + (i + 2) * kLanes);
    Store(FiniteSample(d, four.v3), d, to + (i + 3) * kLanes);
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

template <class Compress>
HWY_INLINE FourVectors<VFromD<FloatTag> > FinishFour(const float* values, Compress compress) {
  const FloatTag d;
  return TransposeBlocks(
      d, FourVectors<VFromD<FloatTag> >{
             compress(d, Load(d, values)), compress(d, Load(d, values + kLanes)),
             compress(d, Load(d, values + 2 * kLanes)), compress(d, Load(d, values + 3 * kLanes))});
}

template <class Convert>
HWY_INLINE void StoreFour(const FourVectors<VFromD<FloatTag> >& four, void* const* rows, size_t m,
                          Convert convert) {
  const FloatTag d;
  const Rebind<typename Convert::Value, FloatTag> to;
  StoreFours(to, convert(d, four.v0), rows, m);
  StoreFours(to, convert(d, four.v1), rows + 1, m);
  StoreFours(to, convert(d, four.v2), rows + 2, m);
  StoreFours(to, convert(d, four.v3), rows + 3, m);
}

// values: one vector per band, their number rounded up to four; they are compressed and converted
// on the way. rows: where each lane's frame goes.
template <class Compress, class Convert>
HWY_INLINE void StoreRows(const float* values, size_t num_mels, void* const* rows,
                          Compress compress, Convert convert) {
  using Value = typename Convert::Value;
  size_t m = 0;
  for (; m + 4 <= num_mels; m += 4) {
    StoreFour(FinishFour(values + m * kLanes, compress), rows, m, convert);
  }
  if (m == num_mels) return;
  // The last one to three bands take a way round, so that nothing is written behind a row.
  Value rest[kLanes][4];
  void* places[kLanes];
  for (size_t lane = 0; lane < kLanes; ++lane) places[lane] = rest[lane];
  StoreFour(FinishFour(values + m * kLanes, compress), places, 0, convert);
  for (size_t lane = 0; lane < kLanes; ++lane) {
    std::memcpy(static_cast<Value*>(rows[lane]) + m, rest[lane], (num_mels - m) * sizeof(Value));
  }
}

#endif

}  // namespace stoker::audio::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
