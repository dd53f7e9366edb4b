// The random numbers of one training step: each is a function of seed, step, row and place, equal
// bit for bit on the CPU and on a GPU, so that a step does not depend on where or when it runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "stoker/cuda/stream.h"

namespace stoker::train {

// Names the draws of one batch of a run: `step` counts batches from the run's first.
struct StepKey {
  std::uint64_t seed = 0;
  std::uint64_t step = 0;
  // In device memory: kernels read the step there when they run, so that a recorded graph draws
  // anew in each of its runs.
  const std::uint64_t* step_on_device = nullptr;
};

// What is drawn; each has a stream of its own. Dropout adds the number of its site in the model.
inline constexpr std::string_view kTimeDraws = "train-time";
inline constexpr std::string_view kNoiseDraws = "train-noise";
inline constexpr std::string_view kCropDraws = "train-crop";
inline constexpr std::string_view kDropoutDraws = "train-dropout";

struct DrawStream {
  StepKey key;
  std::string_view stage;
  std::uint32_t site = 0;
};

// [num_rows, row_values]; value i of row r is the same however long the row or the batch is.
struct DrawTarget {
  float* values = nullptr;
  std::size_t num_rows = 0;
  std::size_t row_values = 0;
  std::size_t first_row = 0;  // number of the first one, where several threads share a batch
};

// Uniform in [0, 1).
void fill_uniform(const DrawStream& stream, const DrawTarget& out);
// Normal with mean 0 and deviation 1.
void fill_normal(const DrawStream& stream, const DrawTarget& out);

// The same bytes into device memory; asynchronous. Throw GpuError.
void fill_uniform(const DrawStream& stream, const DrawTarget& out, cuda::StreamView on);
void fill_normal(const DrawStream& stream, const DrawTarget& out, cuda::StreamView on);

}  // namespace stoker::train
