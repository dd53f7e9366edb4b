#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "stoker/audio/griffin_lim/griffin_lim_plan.cuh"
#include "stoker/audio/griffin_lim/griffin_lim_spectra.cuh"
#include "stoker/audio/launch.cuh"
#include "stoker/base/invariant.h"
#include "stoker/base/number_text.h"
#include "stoker/cuda/device_api.h"

namespace stoker::audio {
namespace {

// The wanted bands, from the recipe's values; one thread a value.
__global__ void wanted_kernel(const __grid_constant__ GriffinLimTables tables,
                              const __grid_constant__ GriffinLimJob job) {
  const int at = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (at >= frames_of(job) * tables.num_mels) return;
  const long long row = static_cast<long long>(blockIdx.y) * job.padded_frames;
  const long long i = row * tables.num_mels + at;
  double value = job.log_mel[i];
  if (tables.divisors != nullptr) value *= tables.divisors[at % tables.num_mels];
  job.wanted[i] = mel_energy(tables.undo, value);
}

// First frame and number of the frames that cover a sample of the padded signal.
struct FrameRange {
  int first;
  int end;
};

__device__ inline FrameRange frames_over(const GriffinLimTables& tables, int sample,
                                         int num_frames) {
  const int before = sample - tables.fft.num_points + 1;
  const int first = before <= 0 ? 0 : (before + tables.hop_samples - 1) / tables.hop_samples;
  const int end = sample / tables.hop_samples + 1;
  return {first, end < num_frames ? end : num_frames};
}

// How much of each sample the overlapping windows bring; its inverse undoes them.
__global__ void envelope_kernel(const __grid_constant__ GriffinLimTables tables,
                                const __grid_constant__ GriffinLimJob job) {
  const int sample = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (sample >= job.signal_samples) return;
  const FrameRange over = frames_over(tables, sample, frames_of(job));
  float sum = 0;
  for (int t = over.first; t < over.end; ++t) {
    const float value = tables.window[sample - t * tables.hop_samples];
    sum += value * value;
  }
  envelope_of_block(job)[sample] = inverse_envelope(sum);
}

// Where a sample of the padded signal comes from; -1: silence.
__device__ inline int source_of(const GriffinLimTables& tables, int sample, int num_samples) {
  const int end = tables.padding + num_samples;
  if (sample >= tables.padding && sample < end) return sample;
  if (!tables.reflects || num_samples <= tables.padding) return -1;
  if (sample < tables.padding) return 2 * tables.padding - sample;
  return sample < end + tables.padding ? 2 * (end - 1) - sample : -1;
}

// Adds the frames up, each sample by one thread and in the order of time.
__global__ void overlap_kernel(const __grid_constant__ GriffinLimTables tables,
                               const __grid_constant__ GriffinLimJob job) {
  const int num_frames = frames_of(job);
  const int sample = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (sample >= job.signal_samples || num_frames == 0) return;
  const int source = source_of(tables, sample, samples_of(tables, num_frames));
  float sum = 0;
  if (source >= 0) {
    const int n = tables.fft.num_points;
    const float* frames = job.frames + static_cast<long long>(blockIdx.y) * job.padded_frames * n;
    const FrameRange over = frames_over(tables, source, num_frames);
    for (int t = over.first; t < over.end; ++t)
      sum += frames[static_cast<long long>(t) * (n - tables.hop_samples) + source];
    sum *= envelope_of_block(job)[source];
  }
  signal_of_block(job)[sample] = sum;
}

// Out of the padded signal, the recipe's scale undone; silence after the utterance's end.
__global__ void finish_kernel(const __grid_constant__ GriffinLimTables tables,
                              const __grid_constant__ GriffinLimJob job) {
  const long long sample = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (sample >= job.padded_samples) return;
  const int num_samples = samples_of(tables, frames_of(job));
  const float* signal = signal_of_block(job) + tables.padding;
  job.samples[blockIdx.y * job.padded_samples + sample] =
      sample < num_samples ? signal[sample] * tables.out_scale : 0.0F;
}

// Undoes pre-emphasis: each sample needs the one before, so one thread walks through an utterance
// while the others carry.
__global__ void deemphasis_kernel(const __grid_constant__ GriffinLimTables tables,
                                  const __grid_constant__ GriffinLimJob job) {
  constexpr int kTile = 1024;
  __shared__ float tile[kTile];
  const long long num_samples = samples_of(tables, frames_of(job));
  const long long count = num_samples < job.padded_samples ? num_samples : job.padded_samples;
  float* samples = job.samples + blockIdx.y * job.padded_samples;
  const int step = static_cast<int>(blockDim.x);
  float before = 0;
  for (long long first = 0; first < count; first += kTile) {
    const int size = count - first < kTile ? static_cast<int>(count - first) : kTile;
    for (int i = static_cast<int>(threadIdx.x); i < size; i += step) tile[i] = samples[first + i];
    __syncthreads();
    for (int i = 0; threadIdx.x == 0 && i < size; ++i) {
      if (first + i > 0) tile[i] += tables.emphasis * before;
      before = tile[i];
    }
    __syncthreads();
    for (int i = static_cast<int>(threadIdx.x); i < size; i += step) samples[first + i] = tile[i];
    __syncthreads();
  }
}

constexpr unsigned kThreads = 256;
constexpr int kMaxUtterances = 65535;  // of a grid's second dimension

// Room of the intermediate values of one call.
struct Room {
  std::size_t wanted, seen, frames, signal;

  Room(const GriffinLimPlan& plan, std::size_t num_utterances, std::size_t padded_frames) {
    const std::size_t rows = num_utterances * padded_frames;
    wanted = device_aligned(rows * plan.num_mels() * sizeof(float));
    seen = device_aligned(rows * plan.stft.num_bins() * sizeof(BinValue));
    frames = device_aligned(rows * plan.stft.num_points() * sizeof(float));
    signal = device_aligned(num_utterances * plan.signal_samples(padded_frames) * sizeof(float));
  }
  std::size_t total() const { return wanted + seen + frames + 2 * signal; }
};

GriffinLimJob job_of(const GriffinLimPlan& host, const DeviceWaveBatch& batch) {
  const auto padded_frames = static_cast<std::size_t>(batch.padded_frames);
  check_invariant(host.signal_samples(padded_frames) <= std::numeric_limits<int>::max(),
                  "an utterance of more than 2^31 samples");
  const Room room(host, static_cast<std::size_t>(batch.num_utterances), padded_frames);
  auto* at = static_cast<std::byte*>(batch.scratch);
  const auto take = [&](std::size_t size_bytes) { return std::exchange(at, at + size_bytes); };
  GriffinLimJob job{};
  job.log_mel = batch.log_mel;
  job.num_frames = batch.num_frames;
  job.padded_frames = batch.padded_frames;
  job.signal_samples = static_cast<int>(host.signal_samples(padded_frames));
  job.samples = batch.samples;
  job.padded_samples = batch.padded_samples;
  job.wanted = reinterpret_cast<float*>(take(room.wanted));
  job.seen = reinterpret_cast<BinValue*>(take(room.seen));
  job.frames = reinterpret_cast<float*>(take(room.frames));
  job.signal = reinterpret_cast<float*>(take(room.signal));
  job.envelope = reinterpret_cast<float*>(take(room.signal));
  return job;
}

// The kernels for a size of transform.
struct Kernels {
  void (*first)(GriffinLimTables, GriffinLimJob);
  void (*round)(GriffinLimTables, GriffinLimJob, Round);
};

Kernels kernels_for(int num_points) {
  if (num_points == 1024) return {first_kernel<1024>, round_kernel<1024>};
  return {first_kernel<0>, round_kernel<0>};
}

// A block that transforms has a thread for eight points, in whole warps. On an H200 twice as many
// were slower by 15 %, half as many by 9 %: the first passes have work for one in sixteen points,
// the last for one in four.
unsigned pair_threads(const GriffinLimTables& tables) {
  constexpr int kWarp = 32, kFewest = 64, kMost = 128;
  const int wanted = (tables.fft.num_points / 8 + kWarp - 1) / kWarp * kWarp;
  return static_cast<unsigned>(std::clamp(wanted, kFewest, kMost));
}

std::size_t shared_bytes(const GriffinLimTables& tables) {
  return static_cast<std::size_t>(pair_floats(tables)) * sizeof(float);
}

// More than 48 KB a block must be asked for; a GPU that has less says so here.
void allow_shared_memory(const DeviceGriffinLimPlan& plan) {
  const std::size_t size_bytes = shared_bytes(plan.tables);
  const Kernels kernels = kernels_for(plan.tables.fft.num_points);
  const std::string detail = bytes_text(size_bytes) + " of shared memory a block for n_fft " +
                             std::to_string(plan.tables.fft.num_points);
  const cuda::DeviceScope scope(plan.device);
  for (const void* kernel : {reinterpret_cast<const void*>(kernels.first),
                             reinterpret_cast<const void*>(kernels.round)}) {
    cuda::call(
        "cudaFuncSetAttribute",
        [&] {
          return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                      static_cast<int>(size_bytes));
        },
        detail);
  }
}

// Blocks of a grid in x; utterances are its y.
dim3 grid_of(long long count, long long per_block, int num_utterances) {
  return {static_cast<unsigned>((count + per_block - 1) / per_block),
          static_cast<unsigned>(num_utterances), 1};
}

// The launches of one call, in their stream.
struct Launches {
  const GriffinLimTables& tables;
  GriffinLimJob job;
  int num_utterances;
  cudaStream_t stream;

  void prepare() const;
  void overlap() const;
  void round(Round which) const;
  void finish() const;

  Kernels kernels() const { return kernels_for(tables.fft.num_points); }
  dim3 pairs() const {
    constexpr auto kLanes = static_cast<int>(kFrameLanes);
    return grid_of((job.padded_frames + kLanes - 1) / kLanes * (kLanes / 2), 1, num_utterances);
  }
  dim3 samples() const { return grid_of(job.signal_samples, kThreads, num_utterances); }
};

void Launches::prepare() const {
  const dim3 values = grid_of(job.padded_frames * tables.num_mels, kThreads, num_utterances);
  launch("wanted_kernel", [&] { wanted_kernel<<<values, kThreads, 0, stream>>>(tables, job); });
  launch("envelope_kernel",
         [&] { envelope_kernel<<<samples(), kThreads, 0, stream>>>(tables, job); });
  launch("first_kernel", [&] {
    kernels().first<<<pairs(), pair_threads(tables), shared_bytes(tables), stream>>>(tables, job);
  });
}

void Launches::overlap() const {
  launch("overlap_kernel",
         [&] { overlap_kernel<<<samples(), kThreads, 0, stream>>>(tables, job); });
}

void Launches::round(Round which) const {
  launch("round_kernel", [&] {
    kernels().round<<<pairs(), pair_threads(tables), shared_bytes(tables), stream>>>(tables, job,
                                                                                     which);
  });
}

void Launches::finish() const {
  const dim3 out = grid_of(job.padded_samples, kThreads, num_utterances);
  launch("finish_kernel", [&] { finish_kernel<<<out, kThreads, 0, stream>>>(tables, job); });
  if (tables.emphasis == 0) return;
  const dim3 one(1, static_cast<unsigned>(num_utterances));
  launch("deemphasis_kernel",
         [&] { deemphasis_kernel<<<one, kThreads, 0, stream>>>(tables, job); });
}

}  // namespace

DeviceGriffinLim::DeviceGriffinLim(std::unique_ptr<const DeviceGriffinLimPlan> plan)
    : plan_(std::move(plan)) {}
DeviceGriffinLim::DeviceGriffinLim(DeviceGriffinLim&&) noexcept = default;
DeviceGriffinLim& DeviceGriffinLim::operator=(DeviceGriffinLim&&) noexcept = default;
DeviceGriffinLim::~DeviceGriffinLim() = default;

Result<DeviceGriffinLim> DeviceGriffinLim::make(const config::MelRecipe& recipe,
                                                const GriffinLimOptions& options, int device) {
  if (Result<void> invertible = check_invertible(recipe); !invertible) return invertible.error();
  auto plan = std::make_unique<const DeviceGriffinLimPlan>(recipe, options, device);
  allow_shared_memory(*plan);
  return DeviceGriffinLim(std::move(plan));
}

std::size_t DeviceGriffinLim::num_samples(std::size_t num_frames) const noexcept {
  return plan_->host.num_samples(num_frames);
}

std::size_t DeviceGriffinLim::scratch_bytes(std::size_t num_utterances,
                                            std::size_t padded_frames) const noexcept {
  return padded_frames == 0 ? 0 : Room(plan_->host, num_utterances, padded_frames).total();
}

void DeviceGriffinLim::run(const DeviceWaveBatch& batch, cuda::StreamView stream) const {
  if (batch.num_utterances == 0 || batch.padded_samples == 0) return;
  check_invariant(batch.num_utterances <= kMaxUtterances && batch.padded_frames > 0,
                  "Griffin-Lim over a batch without frames or of more than 65,535 utterances");
  const cuda::DeviceScope scope(plan_->device);
  const Launches launches{plan_->tables, job_of(plan_->host, batch), batch.num_utterances,
                          stream.handle()};
  launches.prepare();
  for (std::size_t i = 0; i < plan_->host.options.num_iterations; ++i) {
    launches.overlap();
    launches.round(i == 0 ? Round::kFirst : Round::kLater);
  }
  launches.overlap();
  launches.finish();
}

}  // namespace stoker::audio
