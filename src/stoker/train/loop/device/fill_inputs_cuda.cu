#include "stoker/train/loop/device/fill_inputs.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>

#include "stoker/audio/launch.cuh"
#include "stoker/train/loop/device/device_time.cuh"

namespace stoker::train {
namespace {

constexpr unsigned kThreads = 256;
constexpr unsigned kMostBlocksOfRow = 64;

__device__ float float_of(float value) { return value; }
__device__ float float_of(__half value) { return __half2float(value); }
__device__ float float_of(__nv_bfloat16 value) { return __bfloat162float(value); }

template <class T, int kWidth>
struct alignas(sizeof(T) * kWidth) Group {
  T values[kWidth];
};

// [count] values, all threads of the grid's row together; both begin at whole groups.
template <class T, int kWidth>
__device__ void normalise(const T* from, float* to, std::uint64_t count, const FillTarget& rule) {
  const auto* groups = reinterpret_cast<const Group<T, kWidth>*>(from);
  auto* out = reinterpret_cast<Group<float, kWidth>*>(to);
  const std::uint64_t step = std::uint64_t{gridDim.x} * kThreads;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x; i < count / kWidth;
       i += step) {
    const Group<T, kWidth> group = groups[i];
    Group<float, kWidth> result;
    for (int k = 0; k < kWidth; ++k) {
      result.values[k] = (float_of(group.values[k]) - rule.mean) / rule.deviation;
    }
    out[i] = result;
  }
}

// The same, each band mixed of the two on either side of it.
template <class T>
__device__ void stretch(const T* from, float* to, std::uint64_t count, const FillTarget& rule,
                        const float* places) {
  const std::uint64_t step = std::uint64_t{gridDim.x} * kThreads;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x; i < count; i += step) {
    const auto band = static_cast<std::uint32_t>(i % rule.num_mels);
    const T* const frame = from + (i - band);
    const float place = places[band];
    const auto below = static_cast<std::uint32_t>(place);
    const float low = float_of(frame[below]);
    const float high = float_of(frame[below + 1 < rule.num_mels ? below + 1 : below]);
    const float mixed = low + (high - low) * (place - static_cast<float>(below));
    to[i] = (mixed - rule.mean) / rule.deviation;
  }
}

template <class T, int kWidth>
__device__ void take_mel(const T* from, float* to, std::uint64_t count, const FillTarget& rule,
                         std::uint32_t warp) {
  if (rule.warps == nullptr) {
    normalise<T, kWidth>(from, to, count, rule);
  } else {
    stretch<T>(from, to, count, rule, rule.warps + std::uint64_t{warp} * rule.num_mels);
  }
}

template <class T>
__device__ void clear(T* to, std::uint64_t begin, std::uint64_t end) {
  const std::uint64_t step = std::uint64_t{gridDim.x} * kThreads;
  const std::uint64_t first = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x;
  for (std::uint64_t i = begin + first; i < end; i += step) to[i] = T{};
}

__device__ void take_text(const FillSource& from, const FillTarget& to, const RowPlace& place,
                          unsigned row) {
  for (std::uint32_t i = threadIdx.x; i < place.num_tokens; i += kThreads) {
    to.tokens[place.to_token + i] = from.tokens[place.from_token + i];
  }
  if (threadIdx.x != 0) return;
  to.text_len[row] = place.num_tokens;
  to.mel_len[row] = place.num_frames;
  if (to.reference != nullptr) to.reference_len[row] = place.reference_frames;
}

template <class T, int kWidth>
__device__ void take_reference(const FillSource& from, const FillTarget& to, const RowPlace& place,
                               unsigned row) {
  const std::uint64_t width = to.num_mels;
  float* const out = to.reference + row * to.reference_frames * width;
  const std::uint64_t taken = place.reference_frames * width;
  if (taken > 0) {
    take_mel<T, kWidth>(static_cast<const T*>(from.reference) + row * from.reference_stride * width,
                        out, taken, to, place.warp);
  }
  clear(out, taken, to.reference_frames * width);
}

// A RowPlace as it is loaded: the table may be in host memory, where few large loads are best.
constexpr unsigned kRowWords = sizeof(RowPlace) / sizeof(uint4);
struct RowWords {
  uint4 words[kRowWords];
};
static_assert(sizeof(RowWords) == sizeof(RowPlace));

// A row of the grid for each row of the target, and one for what is behind the last.
template <class T, int kWidth>
__global__ void fill_kernel(FillSource from, FillTarget to, std::uint64_t step) {
  __shared__ RowWords shared;
  const unsigned row = blockIdx.y;
  if (threadIdx.x < kRowWords) {
    const auto* words = reinterpret_cast<const uint4*>(from.rows + row);
    shared.words[threadIdx.x] = row < from.num_rows ? words[threadIdx.x] : uint4{};
  }
  if (row == 0 && blockIdx.x == 0 && threadIdx.x == 0) {
    to.ledger->step = step;
    open_span(*to.ledger);
  }
  __syncthreads();
  const RowPlace place = reinterpret_cast<const RowPlace&>(shared);
  const std::uint64_t width = to.num_mels;
  if (row == to.num_rows) {
    clear(to.mel, from.num_frames * width, to.num_frames * width);
    clear(to.tokens, from.num_tokens, to.num_tokens);
    return;
  }
  take_mel<T, kWidth>(static_cast<const T*>(from.mel) + place.from_frame * width,
                      to.mel + place.to_frame * width, place.num_frames * width, to, place.warp);
  if (to.reference != nullptr) take_reference<T, kWidth>(from, to, place, row);
  if (blockIdx.x == 0) take_text(from, to, place, row);
}

template <class T>
bool has_groups(const FillSource& from, const FillTarget& to) {
  const auto is_whole = [](const void* memory) {
    return reinterpret_cast<std::uintptr_t>(memory) % (4 * sizeof(T)) == 0;
  };
  return to.num_mels % 4 == 0 && is_whole(from.mel) && is_whole(from.reference);
}

template <class T>
void launch_fill(const FillSource& from, const FillTarget& to, std::uint64_t step,
                 cuda::StreamView stream) {
  const std::uint64_t most_values =
      std::uint64_t{std::max(from.longest_frames, to.reference_frames)} * to.num_mels;
  const auto num_blocks = static_cast<unsigned>(
      std::clamp<std::uint64_t>(most_values / (kThreads * 8U), 1, kMostBlocksOfRow));
  const dim3 grid(num_blocks, to.num_rows + 1);
  audio::launch("fill_kernel", [&] {
    if (has_groups<T>(from, to)) {
      fill_kernel<T, 4><<<grid, kThreads, 0, stream.handle()>>>(from, to, step);
    } else {
      fill_kernel<T, 1><<<grid, kThreads, 0, stream.handle()>>>(from, to, step);
    }
  });
}

}  // namespace

void fill_inputs(const FillSource& from, const FillTarget& to, std::uint64_t step,
                 cuda::StreamView stream) {
  switch (from.dtype) {
    case config::MelDtype::kF32:
      return launch_fill<float>(from, to, step, stream);
    case config::MelDtype::kF16:
      return launch_fill<__half>(from, to, step, stream);
    case config::MelDtype::kBf16:
      return launch_fill<__nv_bfloat16>(from, to, step, stream);
  }
}

bool is_device_memory(const void* memory) {
  cudaPointerAttributes attributes{};
  cuda::call("cudaPointerGetAttributes",
             [&] { return cudaPointerGetAttributes(&attributes, memory); });
  return attributes.type == cudaMemoryTypeDevice;
}

}  // namespace stoker::train
