#include <cstdint>

#include "stoker/audio/launch.cuh"
#include "stoker/train/errors.h"
#include "stoker/train/model/alignment_search.h"

namespace stoker::train {
namespace {

constexpr int kLanes = 32;
constexpr int kMostThreads = 1024;
constexpr unsigned kAllLanes = 0xFFFFFFFFU;

struct RowSize {
  int num_tokens;
  int num_frames;
};

__device__ RowSize size_of(const AlignmentBatch& batch, std::int64_t row) {
  const std::int64_t tokens = min(batch.text_len[row], batch.num_tokens);
  const std::int64_t frames = min(batch.mel_len[row], batch.num_frames);
  if (tokens <= 0 || frames < tokens) return {0, 0};
  return {static_cast<int>(tokens), static_cast<int>(frames)};
}

__device__ float strength_of(const DiagonalPull& pull) {
  return static_cast<float>(pull.step_on_device == nullptr ? pull.strength
                                                           : diagonal_pull(*pull.step_on_device));
}

// A thread owns kPer tokens, side by side, and keeps their best sums in registers. It reads the
// scores of kAhead frames before it needs them, and writes their flags as one word: bit
// j * kPer + k says that the best way to token k in frame j came from the token before.
template <int kPer>
struct Search {
  static constexpr int kAhead = kLanes / kPer;
  using Scores = float[kAhead][kPer];

  const AlignmentBatch& batch;
  const float* score;
  RowSize size;
  float pull;

  __device__ void read(int first_frame, Scores& out) const {
    const int first = static_cast<int>(threadIdx.x) * kPer;
    for (int j = 0; j < kAhead; ++j) {
      for (int k = 0; k < kPer; ++k) {
        const bool is_there = first + k < size.num_tokens && first_frame + j < size.num_frames;
        out[j][k] = is_there ? score[(first + k) * batch.token_stride() +
                                     (first_frame + j) * batch.frame_stride()]
                             : -INFINITY;
      }
    }
    if (pull == 0) return;
    for (int j = 0; j < kAhead; ++j) {
      const float place =
          (static_cast<float>(first_frame + j) + 0.5F) / static_cast<float>(size.num_frames);
      for (int k = 0; k < kPer; ++k) {
        const float beside =
            (static_cast<float>(first + k) + 0.5F) / static_cast<float>(size.num_tokens) - place;
        out[j][k] -= pull * (beside * beside);
      }
    }
  }

  // Best sum of the last token of the thread before, one frame ago.
  __device__ static float left_of(float last, const float* edges) {
    const float beside = __shfl_up_sync(kAllLanes, last, 1);
    if (threadIdx.x % kLanes != 0) return beside;
    return threadIdx.x == 0 ? -INFINITY : edges[threadIdx.x / kLanes - 1];
  }

  // Not yet reached tokens have -inf, so that a way can only come from the token before.
  __device__ std::uint32_t add_frame(const float (&scores)[kPer], float left,
                                     float (&best)[kPer]) const {
    std::uint32_t flags = 0;
    for (int k = 0; k < kPer; ++k) {
      const float stay = best[k];
      const bool is_advance = left > stay;
      best[k] = scores[k] + (is_advance ? left : stay);
      flags |= is_advance ? 1U << k : 0U;
      left = stay;
    }
    return flags;
  }

  // Two buffers of edges take turns, so one barrier a frame is enough.
  __device__ void sum_scores(float (*edges)[kMostThreads / kLanes], std::uint32_t* flags) const {
    float best[kPer];
    for (int k = 0; k < kPer; ++k) best[k] = -INFINITY;
    if (threadIdx.x == 0) best[0] = 0;
    Scores now;
    Scores next;
    read(0, now);
    float left_edge = -INFINITY;
    for (int first = 0; first < size.num_frames; first += kAhead) {
      read(first + kAhead, next);
      std::uint32_t word = 0;
#pragma unroll
      for (int j = 0; j < kAhead; ++j) {
        if (first + j >= size.num_frames) break;
        const float left = first + j == 0 ? -INFINITY : left_edge;
        word |= add_frame(now[j], left, best) << (j * kPer);
        const int turn = (first + j) & 1;
        if (threadIdx.x % kLanes == kLanes - 1) edges[turn][threadIdx.x / kLanes] = best[kPer - 1];
        __syncthreads();
        left_edge = left_of(best[kPer - 1], edges[turn]);
      }
      flags[first / kAhead * blockDim.x + threadIdx.x] = word;
      for (int j = 0; j < kAhead; ++j)
        for (int k = 0; k < kPer; ++k) now[j][k] = next[j][k];
    }
  }

  // From the last token back, by one warp, 32 frames at a time: within them the token changes by at
  // most 31, so lane l reads the words of the l-th thread before the token's.
  __device__ void walk_back(const std::uint32_t* flags, std::int64_t* out) const {
    const int lane = static_cast<int>(threadIdx.x);
    int x = size.num_tokens - 1;
    for (int chunk = (size.num_frames - 1) / kLanes * kLanes; chunk >= 0; chunk -= kLanes) {
      const int top = x / kPer;
      std::uint32_t words[kPer];
      for (int group = 0; group < kPer; ++group) {
        const bool is_there = lane <= top && chunk + group * kAhead < size.num_frames;
        words[group] = is_there ? flags[(chunk / kAhead + group) * blockDim.x + (top - lane)] : 0U;
      }
      int own = 0;
#pragma unroll
      for (int i = kLanes - 1; i >= 0; --i) {
        if (chunk + i >= size.num_frames) continue;
        if (lane == i) own = x;
        const std::uint32_t bits = __shfl_sync(kAllLanes, words[i / kAhead], top - x / kPer);
        x -= static_cast<int>((bits >> (i % kAhead * kPer + x % kPer)) & 1U);
      }
      if (chunk + lane < size.num_frames) out[chunk + lane] = own;
    }
  }
};

template <int kPer>
constexpr std::size_t words_of_row(std::int64_t num_frames, unsigned num_threads) {
  constexpr int kAhead = Search<kPer>::kAhead;
  return static_cast<std::size_t>((num_frames + kAhead - 1) / kAhead) * num_threads;
}

template <int kPer>
__global__ void search_kernel(AlignmentBatch batch, DiagonalPull pull, std::uint32_t* flags) {
  __shared__ float edges[2][kMostThreads / kLanes];
  const std::int64_t row = blockIdx.x;
  const RowSize size = size_of(batch, row);
  std::int64_t* out = batch.token_of_frame + row * batch.num_frames;
  for (std::int64_t y = size.num_frames + threadIdx.x; y < batch.num_frames; y += blockDim.x)
    out[y] = 0;
  if (size.num_tokens == 0) return;
  flags += row * static_cast<std::int64_t>(words_of_row<kPer>(batch.num_frames, blockDim.x));
  const Search<kPer> search{batch, batch.score + row * batch.num_tokens * batch.num_frames, size,
                            strength_of(pull)};
  search.sum_scores(edges, flags);
  __syncthreads();
  if (threadIdx.x < kLanes) search.walk_back(flags, out);
}

template <int kPer>
unsigned threads_for(std::int64_t num_tokens) {
  const std::int64_t owners = (max(num_tokens, std::int64_t{1}) + kPer - 1) / kPer;
  return static_cast<unsigned>((owners + kLanes - 1) / kLanes * kLanes);
}

// Calls `work` with the smallest number of tokens a thread that a block can own all with.
template <class Work>
void with_tokens_per_thread(std::int64_t num_tokens, Work&& work) {
  if (num_tokens <= 4 * kMostThreads) return work.template operator()<4>();
  if (num_tokens <= 8 * kMostThreads) return work.template operator()<8>();
  if (num_tokens <= 16 * kMostThreads) return work.template operator()<16>();
  if (num_tokens <= kMostDeviceTokens) return work.template operator()<32>();
  raise({.code = &kTrainSettings,
         .promised = "at most " + std::to_string(kMostDeviceTokens) + " states of tokens in a row",
         .found = std::to_string(num_tokens),
         .cure = "set data.max_text_tokens, or train on the CPU"});
}

}  // namespace

std::size_t alignment_scratch_bytes(const AlignmentBatch& batch) {
  std::size_t words = 0;
  with_tokens_per_thread(batch.num_tokens, [&]<int kPer>() {
    words = static_cast<std::size_t>(batch.num_rows) *
            words_of_row<kPer>(batch.num_frames, threads_for<kPer>(batch.num_tokens));
  });
  return words * sizeof(std::uint32_t);
}

void search_alignment(const AlignmentBatch& batch, const DeviceSearch& search,
                      cuda::StreamView stream) {
  if (batch.num_rows == 0 || batch.num_frames == 0) return;
  with_tokens_per_thread(batch.num_tokens, [&]<int kPer>() {
    audio::launch("search_kernel", [&] {
      search_kernel<kPer>
          <<<static_cast<unsigned>(batch.num_rows), threads_for<kPer>(batch.num_tokens), 0,
             stream.handle()>>>(batch, search.pull, static_cast<std::uint32_t*>(search.scratch));
    });
  });
}

}  // namespace stoker::train
