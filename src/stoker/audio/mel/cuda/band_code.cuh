// Mel bands of 32 frames, one frame a lane: straight-line code with the weights in its instructions
// for the filters known when this is compiled, a table for others.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "stoker/audio/mel/cuda/banks_generated.h"
#include "stoker/audio/mel/cuda/kernel_task.h"
#include "stoker/audio/mel/cuda/part_split.h"

namespace stoker::audio::device {

template <int kBegin, int kEnd, class Step>
__device__ __forceinline__ void static_for(Step&& step) {
  if constexpr (kBegin < kEnd) {
    [&]<int... kIndex>(std::integer_sequence<int, kIndex...>) {
      (step(std::integral_constant<int, kBegin + kIndex>{}), ...);
    }
    (std::make_integer_sequence<int, kEnd - kBegin>{});
  }
}

// A kernel's filters: a bank, or void for a table.

// Rows of 32 bins that a transform must give.
template <class Bank>
constexpr int rows_of_bank() {
  if constexpr (std::is_void_v<Bank>) {
    return 16;
  } else {
    return (Bank::kEndBin + 31) / 32;
  }
}

// Whether the kernel can look for an utterance's range: others save two instructions a value.
template <class Bank>
constexpr bool is_ranged() {
  return std::is_void_v<Bank> || std::is_same_v<Bank, BankHtk11025>;
}

template <class Bank, int kParts, int kAlign>
struct BankSplit {
  static constexpr auto kBounds =
      split_bands(Bank::kSegments, Bank::kNumMels, {.num_parts = kParts, .align = kAlign});
};

// Bands kBegin ... kEnd-1 of a lane's magnitudes; `take(band, value)` gets them in order.
template <class Bank, int kBegin, int kEnd, class Take>
__device__ __forceinline__ void fixed_bands(const float* bins, Take&& take) {
  float falling = 0.0F;
  float rising = 0.0F;
  static_for<kBegin, kEnd + 1>([&](auto segment) {
    constexpr int kSegment = segment;
    falling = rising;
    rising = 0.0F;
    static_for<Bank::kSegments[kSegment], Bank::kSegments[kSegment + 1]>([&](auto bin) {
      constexpr float kFall = Bank::kFall[bin - Bank::kFirstBin];
      constexpr float kRise = Bank::kRise[bin - Bank::kFirstBin];
      const float x = bins[bin];
      if constexpr (kSegment > kBegin) falling = fmaf(x, kFall, falling);
      if constexpr (kSegment < kEnd) rising = fmaf(x, kRise, rising);
    });
    if constexpr (kSegment > kBegin) take(std::integral_constant<int, kSegment - 1>{}, falling);
  });
}

template <class Bank, int kParts, int kAlign, class Take>
__device__ __forceinline__ void fixed_part(int part, const float* bins, Take&& take) {
  static_for<0, kParts>([&](auto candidate) {
    using Split = BankSplit<Bank, kParts, kAlign>;
    constexpr int kBegin = Split::kBounds[candidate];
    constexpr int kEnd = Split::kBounds[candidate + 1];
    if constexpr (kBegin < kEnd) {
      if (part == candidate) fixed_bands<Bank, kBegin, kEnd>(bins, take);
    }
  });
}

// The same from a table: weights per bin from first_bin, segments[num_mels + 2] of first bins.
// `take(group, index, value)` gets band group+index; index is known when this is compiled, so that
// eight values can wait in registers.
template <class Take>
__device__ __forceinline__ void table_bands(const DeviceMelTask& task, int begin, int end,
                                            const float* bins, Take&& take) {
  const auto* const weights = reinterpret_cast<const float2*>(task.weights) - task.first_bin;
  float rising = 0.0F;
  int bin = task.segments[begin];
  const auto add_segment = [&](int segment) {
    float falling = rising;
    rising = 0.0F;
    for (const int end_bin = task.segments[segment + 1]; bin < end_bin; ++bin) {
      const float2 weight = __ldg(weights + bin);
      falling = fmaf(bins[bin], weight.x, falling);
      rising = fmaf(bins[bin], weight.y, rising);
    }
    return falling;
  };
  add_segment(begin);
  for (int group = begin; group < end; group += 8) {
#pragma unroll
    for (int index = 0; index < 8; ++index) {
      if (group + index < end) take(group, index, add_segment(group + index + 1));
    }
  }
}

}  // namespace stoker::audio::device
