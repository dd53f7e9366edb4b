#include "stoker/audio/launch.cuh"
#include "stoker/train/model/draw_value.h"

namespace stoker::train {
namespace {

constexpr int kThreads = 256;
constexpr unsigned kMostRows = 65'535;  // of a grid's second dimension

enum class Kind { kUniform, kNormal };

template <Kind kKind>
__device__ void make(const PhiloxCounter& words, float* values) {
  if constexpr (kKind == Kind::kUniform) {
    for (int k = 0; k < 4; ++k) values[k] = uniform_from(words[k]);
  } else {
    for (int k = 0; k < 4; k += 2) {
      const NormalPair pair = normal_pair_from(words[k], words[k + 1]);
      const float radius = __fsqrt_rn(pair.radius_squared);
      values[k] = radius * pair.cosine;
      values[k + 1] = radius * pair.sine;
    }
  }
}

// One block of Philox a thread; rows beyond the grid follow in turns.
template <Kind kKind>
__global__ void fill_kernel(LateDraws late, DrawTarget out) {
  const std::size_t block = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
  const std::size_t first = block * kBlockValues;
  if (first >= out.row_values) return;
  const RowDraws draws = with_step(late);
  for (std::size_t row = blockIdx.y; row < out.num_rows; row += gridDim.y) {
    float values[kBlockValues];
    make<kKind>(words_of(draws, out.first_row + row, block), values);
    float* to = out.values + row * out.row_values;
    for (std::size_t k = 0; k < kBlockValues && first + k < out.row_values; ++k)
      to[first + k] = values[k];
  }
}

template <Kind kKind>
void fill(const DrawStream& stream, const DrawTarget& out, cuda::StreamView on) {
  if (out.num_rows == 0 || out.row_values == 0) return;
  const std::size_t num_blocks = (out.row_values + kBlockValues - 1) / kBlockValues;
  const dim3 grid(static_cast<unsigned>((num_blocks + kThreads - 1) / kThreads),
                  out.num_rows < kMostRows ? static_cast<unsigned>(out.num_rows) : kMostRows);
  audio::launch("fill_kernel", [&] {
    fill_kernel<kKind><<<grid, kThreads, 0, on.handle()>>>(late_draws(stream), out);
  });
}

}  // namespace

void fill_uniform(const DrawStream& stream, const DrawTarget& out, cuda::StreamView on) {
  fill<Kind::kUniform>(stream, out, on);
}

void fill_normal(const DrawStream& stream, const DrawTarget& out, cuda::StreamView on) {
  fill<Kind::kNormal>(stream, out, on);
}

}  // namespace stoker::train
