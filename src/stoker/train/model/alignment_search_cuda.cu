#include <cstdint>

#include "stoker/audio/launch.cuh"
#include "stoker/train/model/alignment_search.h"

namespace stoker::train {
namespace {

constexpr int kThreads = 256;
constexpr int kLanes = 32;
constexpr std::size_t kSharedBytes = 48 * 1024;  // every GPU has these without asking

constexpr std::int64_t words_of(std::int64_t num_tokens) {
  return (num_tokens + kLanes - 1) / kLanes;
}

constexpr std::size_t best_bytes(const AlignmentBatch& batch) {
  return static_cast<std::size_t>(2 * words_of(batch.num_tokens) * kLanes) * sizeof(float);
}

struct RowSize {
  std::int64_t num_tokens;
  std::int64_t num_frames;
};

__device__ RowSize size_of(const AlignmentBatch& batch, std::int64_t row) {
  const std::int64_t tokens = min(batch.text_len[row], batch.num_tokens);
  const std::int64_t frames = min(batch.mel_len[row], batch.num_frames);
  if (tokens <= 0 || frames < tokens) return {0, 0};
  return {tokens, frames};
}

// Sums of the tokens of a row, two buffers that take turns, so one barrier a frame is enough. Bit x
// of a frame's words says that the best way came from token x - 1.
struct BestSums {
  RowSize size;
  float* best;
  std::uint32_t* flags;

  __device__ std::int64_t num_words() const { return words_of(size.num_tokens); }
  __device__ std::int64_t width() const { return num_words() * kLanes; }

  // A warp has 32 neighbouring tokens x; `value` is the score of the frame.
  __device__ void add(std::int64_t x, std::int64_t y, float value) const {
    const float* before = best + (y & 1) * width();
    float* now = best + ((y & 1) ^ 1) * width();
    const std::int64_t first = max(std::int64_t{0}, size.num_tokens - size.num_frames + y);
    bool is_advance = false;
    if (x >= first && x <= y && x < size.num_tokens) {
      is_advance = x > 0 && (x == y || before[x - 1] > before[x]);
      now[x] = y == 0 ? value : value + (is_advance ? before[x - 1] : before[x]);
    }
    const std::uint32_t word = __ballot_sync(0xFFFFFFFFU, is_advance);
    if (x % kLanes == 0) flags[y * num_words() + x / kLanes] = word;
  }
};

// Frame after frame; threads own tokens.
__device__ void sum_scores(const float* score, std::int64_t stride, const BestSums& sums) {
  for (std::int64_t y = 0; y < sums.size.num_frames; ++y) {
    for (std::int64_t x = threadIdx.x; x < sums.width(); x += kThreads)
      sums.add(x, y, x < sums.size.num_tokens ? score[x * stride + y] : 0);
    __syncthreads();
  }
}

// The same, where a thread has few tokens: it reads the scores of eight frames, which are
// neighbours in memory, while it adds those of the eight before.
template <int kTokens>
__device__ void sum_scores_ahead(const float* score, std::int64_t stride, const BestSums& sums) {
  constexpr int kAhead = 8;
  const RowSize size = sums.size;
  float now[kTokens][kAhead];
  float next[kTokens][kAhead];
  const auto read = [&](std::int64_t first) {
#pragma unroll
    for (int k = 0; k < kTokens; ++k) {
      const std::int64_t x = k * kThreads + threadIdx.x;
#pragma unroll
      for (int j = 0; j < kAhead; ++j)
        next[k][j] =
            x < size.num_tokens && first + j < size.num_frames ? score[x * stride + first + j] : 0;
    }
  };
  read(0);
  for (std::int64_t first = 0; first < size.num_frames; first += kAhead) {
#pragma unroll
    for (int k = 0; k < kTokens; ++k) {
#pragma unroll
      for (int j = 0; j < kAhead; ++j) now[k][j] = next[k][j];
    }
    read(first + kAhead);
#pragma unroll
    for (int j = 0; j < kAhead; ++j) {
      if (first + j >= size.num_frames) break;
#pragma unroll
      for (int k = 0; k < kTokens; ++k) {
        const std::int64_t x = k * kThreads + threadIdx.x;
        if (x < sums.width()) sums.add(x, first + j, now[k][j]);
      }
      __syncthreads();
    }
  }
}

// From the last token back. A warp reads the words of its next 32 frames at once: within them the
// token changes by at most 31, so it stays in one word or goes to the one before.
__device__ void walk_back(RowSize size, const std::uint32_t* flags, std::int64_t* out) {
  const std::int64_t num_words = words_of(size.num_tokens);
  const int lane = static_cast<int>(threadIdx.x);
  std::int64_t x = size.num_tokens - 1;
  for (std::int64_t last = size.num_frames - 1; last >= 0; last -= kLanes) {
    const std::int64_t word = x / kLanes;
    const std::int64_t y = last - lane;
    const std::uint32_t high = y >= 0 ? flags[y * num_words + word] : 0;
    const std::uint32_t low = y >= 0 && word > 0 ? flags[y * num_words + word - 1] : 0;
    std::int64_t own = 0;
    for (int i = 0; i < kLanes; ++i) {
      if (lane == i) own = x;
      const std::uint32_t bits = __shfl_sync(0xFFFFFFFFU, x / kLanes == word ? high : low, i);
      x -= (bits >> (x % kLanes)) & 1U;
    }
    if (y >= 0) out[y] = own;
  }
}

// At a row's first frame no bit is set, so x never falls below 0.
__global__ void search_kernel(AlignmentBatch batch, std::uint32_t* flags, float* best_of_rows) {
  extern __shared__ float shared_best[];
  const std::int64_t row = blockIdx.x;
  const RowSize size = size_of(batch, row);
  std::int64_t* out = batch.token_of_frame + row * batch.num_frames;
  for (std::int64_t y = size.num_frames + threadIdx.x; y < batch.num_frames; y += kThreads)
    out[y] = 0;
  if (size.num_tokens == 0) return;
  const std::int64_t num_words = words_of(batch.num_tokens);
  flags += row * batch.num_frames * num_words;
  float* best = best_of_rows == nullptr ? shared_best : best_of_rows + row * 2 * num_words * kLanes;
  const float* score = batch.score + row * batch.num_tokens * batch.num_frames;
  const BestSums sums{size, best, flags};
  if (sums.width() <= kThreads) {
    sum_scores_ahead<1>(score, batch.num_frames, sums);
  } else if (sums.width() <= 2 * kThreads) {
    sum_scores_ahead<2>(score, batch.num_frames, sums);
  } else if (sums.width() <= 4 * kThreads) {
    sum_scores_ahead<4>(score, batch.num_frames, sums);
  } else {
    sum_scores(score, batch.num_frames, sums);
  }
  if (threadIdx.x < kLanes) walk_back(size, flags, out);
}

// Blocks of a row share its states; nothing is read where there is no pull.
constexpr unsigned kStateBlocks = 16;
__global__ void pull_kernel(PulledScores scores, DiagonalPull by) {
  const auto pull = static_cast<float>(
      by.step_on_device != nullptr ? diagonal_pull(*by.step_on_device) : by.strength);
  const std::int64_t frame = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (pull == 0 || frame >= scores.num_frames) return;
  const std::int64_t row = blockIdx.z;
  const auto share = [](std::int64_t place, std::int64_t length) {
    return (static_cast<float>(place) + 0.5F) / static_cast<float>(max(length, std::int64_t{1}));
  };
  const float at = share(frame, scores.mel_len[row]);
  for (std::int64_t state = blockIdx.y; state < scores.num_states; state += gridDim.y) {
    const float beside = share(state, scores.state_len[row]) - at;
    scores.score[(row * scores.num_states + state) * scores.num_frames + frame] -=
        pull * (beside * beside);
  }
}

}  // namespace

void pull_to_diagonal(const PulledScores& scores, const DiagonalPull& pull, cuda::StreamView on) {
  if (pull.step_on_device == nullptr && pull.strength == 0) return;
  if (scores.num_rows == 0 || scores.num_frames == 0 || scores.num_states == 0) return;
  const dim3 grid(static_cast<unsigned>((scores.num_frames + kThreads - 1) / kThreads),
                  kStateBlocks, static_cast<unsigned>(scores.num_rows));
  audio::launch("pull_kernel",
                [&] { pull_kernel<<<grid, kThreads, 0, on.handle()>>>(scores, pull); });
}

std::size_t alignment_scratch_bytes(const AlignmentBatch& batch) {
  const auto rows = static_cast<std::size_t>(batch.num_rows);
  const std::size_t flags =
      static_cast<std::size_t>(batch.num_frames * words_of(batch.num_tokens)) *
      sizeof(std::uint32_t);
  return rows * (flags + (best_bytes(batch) > kSharedBytes ? best_bytes(batch) : 0));
}

void search_alignment(const AlignmentBatch& batch, void* scratch, cuda::StreamView stream) {
  if (batch.num_rows == 0 || batch.num_frames == 0) return;
  const bool is_shared = best_bytes(batch) <= kSharedBytes;
  auto* flags = static_cast<std::uint32_t*>(scratch);
  float* best = is_shared ? nullptr
                          : reinterpret_cast<float*>(flags + batch.num_rows * batch.num_frames *
                                                                 words_of(batch.num_tokens));
  audio::launch("search_kernel", [&] {
    search_kernel<<<static_cast<unsigned>(batch.num_rows), kThreads,
                    is_shared ? best_bytes(batch) : 0, stream.handle()>>>(batch, flags, best);
  });
}

}  // namespace stoker::train
