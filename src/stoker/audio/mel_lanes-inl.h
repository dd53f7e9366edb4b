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

// How one vector of finished values is written in each dtype.
struct AsF32 {
  using Value = float;
  template <class D>
  HWY_INLINE void operator()(D d, VFromD<D> x, float* to) const {
    Store(x, d, to);
  }
};
struct AsF16 {
  using Value = uint16_t;
  template <class D>
  HWY_INLINE void operator()(D d, VFromD<D> x, uint16_t* to) const {
#if HWY_TARGET == HWY_SCALAR
    (void)d;
    *to = f16_bits(GetLane(x));
#else
    const Rebind<hwy::float16_t, D> narrow;
    const auto limited = Min(Max(x, Set(d, -kLargestF16)), Set(d, kLargestF16));
    Store(DemoteTo(narrow, limited), narrow, reinterpret_cast<hwy::float16_t*>(to));
#endif
  }
};
struct AsBf16 {
  using Value = uint16_t;
  template <class D>
  HWY_INLINE void operator()(D /*d*/, VFromD<D> x, uint16_t* to) const {
    const RebindToUnsigned<D> du;
    const Rebind<int32_t, D> di;
    const Rebind<uint16_t, D> narrow;
    const auto bits = BitCast(du, x);
    const auto tie = And(ShiftRight<16>(bits), Set(du, 1));
    const auto rounded = ShiftRight<16>(Add(Add(bits, tie), Set(du, 0x7FFF)));
    Store(DemoteTo(narrow, BitCast(di, rounded)), narrow, to);
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

template <class Write>
HWY_INLINE void StoreRows(const float* values, size_t num_mels, void* const* rows, Write write) {
  const FloatTag d;
  auto* const row = static_cast<typename Write::Value*>(rows[0]);
  for (size_t m = 0; m < num_mels; ++m) write(d, Load(d, values + m), row + m);
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
// multiple of eight.
HWY_INLINE void LoadLanes(const int16_t* const* lanes, size_t first, size_t count, float* to) {
  const RebindToSigned<FloatTag> di;
  for (size_t i = 0; i < count; i += 8) {
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

// block: value i of lane 4*b+j stands at [j][4*b+i]; at most four go to band m of each row.
template <class Value>
HWY_INLINE void CopyBlocks(const Value* block, void* const* rows, size_t m, size_t num_mels) {
  const auto from = [&](size_t lane) { return block + lane % 4 * kLanes + lane / 4 * 4; };
  if (num_mels - m >= 4) {
    HWY_UNROLL(16) for (size_t lane = 0; lane < kLanes; ++lane) {
      std::memcpy(static_cast<Value*>(rows[lane]) + m, from(lane), 4 * sizeof(Value));
    }
    return;
  }
  for (size_t lane = 0; lane < kLanes; ++lane) {
    std::memcpy(static_cast<Value*>(rows[lane]) + m, from(lane), (num_mels - m) * sizeof(Value));
  }
}

// values: one vector per band, their number rounded up to four. rows: where each lane's frame goes.
template <class Write>
HWY_INLINE void StoreRows(const float* values, size_t num_mels, void* const* rows, Write write) {
  using Value = typename Write::Value;
  const FloatTag d;
  HWY_ALIGN Value block[4 * kLanes];
  for (size_t m = 0; m < num_mels; m += 4) {
    const auto v = TransposeBlocks(
        d, FourVectors<VFromD<FloatTag> >{
               Load(d, values + m * kLanes), Load(d, values + (m + 1) * kLanes),
               Load(d, values + (m + 2) * kLanes), Load(d, values + (m + 3) * kLanes)});
    write(d, v.v0, block);
    write(d, v.v1, block + kLanes);
    write(d, v.v2, block + 2 * kLanes);
    write(d, v.v3, block + 3 * kLanes);
    CopyBlocks(block, rows, m, num_mels);
  }
}

#endif

}  // namespace stoker::audio::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
