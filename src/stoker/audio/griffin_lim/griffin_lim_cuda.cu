#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "stoker/audio/griffin_lim/device_griffin_lim_plan.cuh"
#include "stoker/audio/griffin_lim/griffin_lim_round.cuh"
#include "stoker/audio/griffin_lim/griffin_lim_signal.cuh"
#include "stoker/audio/mel/cuda/device_launch.cuh"
#include "stoker/base/invariant.h"
#include "stoker/base/number_text.h"
#include "stoker/cuda/device_api.h"

namespace stoker::audio {
namespace {

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
