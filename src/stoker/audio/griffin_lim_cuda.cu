#include <bit>
#include <limits>
#include <string>

#include "stoker/audio/device_griffin_lim.h"
#include "stoker/audio/device_launch.cuh"
#include "stoker/audio/griffin_lim_kernels.cuh"
#include "stoker/base/invariant.h"
#include "stoker/base/number_text.h"
#include "stoker/cuda/device_buffer.h"
#include "stoker/cuda/device_scope.h"

namespace stoker::audio {
namespace {

constexpr unsigned kThreads = 256;
constexpr std::size_t kAlignment = 256;

std::size_t aligned(std::size_t size_bytes) {
  return (size_bytes + kAlignment - 1) / kAlignment * kAlignment;
}

// Gathers tables for one allocation; a table's place is known at once, its pointer later.
class TableBytes {
 public:
  template <class T>
  std::size_t add(std::span<const T> table) {
    const std::size_t at = bytes_.size();
    const std::span<const std::byte> bytes = std::as_bytes(table);
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    bytes_.insert(bytes_.end(), aligned(bytes_.size()) - bytes_.size(), std::byte{0});
    return at;
  }
  template <class T>
  std::size_t add(const std::vector<T>& table) {
    return add(std::span<const T>(table));
  }
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

struct BandTable {
  std::vector<std::uint32_t> begin{0};
  std::vector<MelWeight> weights;
};

// The filters by band, bins ascending: the order in which the CPU adds them up.
BandTable by_band(const GriffinLimPlan& plan) {
  std::vector<std::vector<MelWeight>> bands(plan.num_mels());
  for (std::uint32_t bin = 0; bin + 1 < plan.bin_begin.size(); ++bin) {
    for (std::uint32_t i = plan.bin_begin[bin]; i < plan.bin_begin[bin + 1]; ++i)
      bands[plan.weights[i].at].push_back({bin, plan.weights[i].value});
  }
  BandTable table;
  for (const std::vector<MelWeight>& band : bands) {
    table.weights.insert(table.weights.end(), band.begin(), band.end());
    table.begin.push_back(static_cast<std::uint32_t>(table.weights.size()));
  }
  return table;
}

// Nothing when some bin lies in more than two bands.
std::vector<BinBands> bands_of_bins(const GriffinLimPlan& plan) {
  std::vector<BinBands> bins(plan.stft.num_bins());
  for (std::size_t bin = 0; bin < bins.size(); ++bin) {
    const std::uint32_t begin = plan.bin_begin[bin], count = plan.bin_begin[bin + 1] - begin;
    if (count > 2) return {};
    if (count > 0) bins[bin].first = plan.weights[begin];
    if (count > 1) bins[bin].second = plan.weights[begin + 1];
  }
  return bins;
}

DeviceFft device_fft(const LaneFft& fft) {
  DeviceFft device{.num_points = static_cast<int>(fft.num_points()),
                   .num_stages = static_cast<int>(fft.stages().size()),
                   .stages = {},
                   .twiddles = nullptr};
  check_invariant(device.num_stages <= kMaxFftStages, "an FFT of too many stages");
  for (int s = 0; s < device.num_stages; ++s) {
    const LaneFft::Stage& stage = fft.stages()[static_cast<std::size_t>(s)];
    const bool is_free = s == 0 || !device.stages[s - 1].takes_two;
    const bool has_next = s + 1 < device.num_stages;
    device.stages[s] = {static_cast<int>(stage.radix),
                        static_cast<int>(stage.num_groups),
                        static_cast<int>(stage.stride),
                        std::has_single_bit(stage.stride) ? std::countr_zero(stage.stride) : -1,
                        static_cast<int>(stage.twiddles_at / 2),
                        is_free && has_next && stage.radix == 4 && (&stage)[1].radix == 4};
  }
  return device;
}

// The factors of neighbouring groups side by side, as the threads of a warp read them.
std::vector<DeviceComplex> device_twiddles(const LaneFft& fft) {
  std::vector<DeviceComplex> device(fft.twiddles().size() / 2);
  const auto factor = [&](std::size_t i) {
    return DeviceComplex{fft.twiddles()[2 * i], fft.twiddles()[2 * i + 1]};
  };
  for (std::size_t i = 0; i < device.size(); ++i) device[i] = factor(i);
  for (const LaneFft::Stage& stage : fft.stages()) {
    const std::size_t at = stage.twiddles_at / 2, per_group = stage.radix - 1;
    for (std::size_t group = 0; group < stage.num_groups; ++group)
      for (std::size_t k = 0; k < per_group; ++k)
        device[at + k * stage.num_groups + group] = factor(at + group * per_group + k);
  }
  return device;
}

// Everything but the pointers.
GriffinLimTables plain_tables(const GriffinLimPlan& plan) {
  const config::MelRecipe& recipe = plan.recipe;
  GriffinLimTables tables{};
  tables.fft = device_fft(plan.stft.fft());
  tables.num_bins = static_cast<int>(plan.stft.num_bins());
  tables.num_mels = static_cast<int>(plan.num_mels());
  tables.hop_samples = static_cast<int>(recipe.hop_samples);
  tables.padding = static_cast<int>(plan.padding);
  tables.reflects = recipe.pad_mode == config::MelPadMode::kReflect;
  tables.extra_samples =
      static_cast<int>(plan.num_samples(1)) - static_cast<int>(recipe.hop_samples);
  tables.update = plan.update();
  tables.undo = mel_undo(recipe);
  tables.phase_key = philox_key(plan.options.seed, kPhaseStage);
  tables.out_scale = static_cast<float>(1.0 / recipe.waveform_scale);
  tables.emphasis = static_cast<float>(recipe.preemphasis);
  return tables;
}

// Room of the intermediate values of one call.
struct Room {
  std::size_t wanted, seen, frames, signal;

  Room(const GriffinLimPlan& plan, std::size_t num_utterances, std::size_t padded_frames) {
    const std::size_t rows = num_utterances * padded_frames;
    wanted = aligned(rows * plan.num_mels() * sizeof(float));
    seen = aligned(rows * plan.stft.num_bins() * sizeof(BinValue));
    frames = aligned(rows * plan.stft.num_points() * sizeof(float));
    signal = aligned(num_utterances * plan.signal_samples(padded_frames) * sizeof(float));
  }
  std::size_t total() const { return wanted + seen + frames + 2 * signal; }
};

// The kernels for a size of transform.
struct Kernels {
  void (*first)(GriffinLimTables, GriffinLimJob);
  void (*round)(GriffinLimTables, GriffinLimJob, Round);
};

Kernels kernels_for(std::int64_t n_fft) {
  if (n_fft == 1024) return {first_kernel<1024>, round_kernel<1024>};
  return {first_kernel<0>, round_kernel<0>};
}

// Blocks of a grid in x; utterances are its y.
dim3 grid_of(std::size_t count, std::size_t per_block, int num_utterances) {
  return {static_cast<unsigned>((count + per_block - 1) / per_block),
          static_cast<unsigned>(num_utterances), 1};
}

}  // namespace

struct DeviceGriffinLimPlan {
  DeviceGriffinLimPlan(const config::MelRecipe& recipe, const GriffinLimOptions& options,
                       int device);
  GriffinLimJob job_of(const DeviceWaveBatch& batch) const;
  void allow_shared_memory() const;

  GriffinLimPlan host;
  int device;
  cuda::DeviceBuffer memory;
  GriffinLimTables tables;
  Kernels kernels;
  std::size_t shared_bytes;
};

DeviceGriffinLimPlan::DeviceGriffinLimPlan(const config::MelRecipe& recipe,
                                           const GriffinLimOptions& options, int on_device)
    : host(recipe, options, SimdLevel::kScalar),
      device(on_device),
      tables(plain_tables(host)),
      kernels(kernels_for(recipe.n_fft)) {
  TableBytes bytes;
  const BandTable bands = by_band(host);
  const std::size_t twiddles = bytes.add(device_twiddles(host.stft.fft()));
  const std::size_t window = bytes.add(host.stft.window());
  const std::size_t synthesis_window = bytes.add(host.stft.synthesis_window());
  const std::vector<BinBands> two_bands = bands_of_bins(host);
  const std::size_t bin_bands = bytes.add(two_bands);
  const std::size_t bin_begin = bytes.add(host.bin_begin);
  const std::size_t bin_weights = bytes.add(host.weights);
  const std::size_t band_begin = bytes.add(bands.begin);
  const std::size_t band_weights = bytes.add(bands.weights);
  const std::size_t bin_share = bytes.add(host.bin_share);
  const std::size_t band_share = bytes.add(host.band_share);
  const std::size_t circle = bytes.add(host.circle);
  const std::size_t divisors = bytes.add(recipe.channel_divisors);
  memory = cuda::DeviceBuffer(device, bytes.bytes().size());
  tables.fft.twiddles = memory.as<DeviceComplex>(twiddles);
  tables.window = memory.as<float>(window);
  tables.synthesis_window = memory.as<float>(synthesis_window);
  if (!two_bands.empty()) tables.bin_bands = memory.as<BinBands>(bin_bands);
  tables.bin_begin = memory.as<std::uint32_t>(bin_begin);
  tables.bin_weights = memory.as<MelWeight>(bin_weights);
  tables.band_begin = memory.as<std::uint32_t>(band_begin);
  tables.band_weights = memory.as<MelWeight>(band_weights);
  tables.bin_share = memory.as<float>(bin_share);
  tables.band_share = memory.as<float>(band_share);
  tables.circle = memory.as<BinValue>(circle);
  if (!recipe.channel_divisors.empty()) tables.divisors = memory.as<double>(divisors);
  shared_bytes = static_cast<std::size_t>(pair_floats(tables)) * sizeof(float);
  const cuda::Stream stream(device);
  cuda::system_device_api().copy(
      {memory.data(), bytes.bytes().data(), bytes.bytes().size(), cuda::CopyKind::kToDevice},
      stream.view().handle());
  stream.synchronize();
  allow_shared_memory();
}

// More than 48 KB a block must be asked for; a GPU that has less says so here.
void DeviceGriffinLimPlan::allow_shared_memory() const {
  const std::string detail = bytes_text(shared_bytes) + " of shared memory a block for n_fft " +
                             std::to_string(host.recipe.n_fft);
  const cuda::DeviceScope scope(device);
  for (const void* kernel : {reinterpret_cast<const void*>(kernels.first),
                             reinterpret_cast<const void*>(kernels.round)}) {
    cuda::call(
        "cudaFuncSetAttribute",
        [&] {
          return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                      static_cast<int>(shared_bytes));
        },
        detail);
  }
}

GriffinLimJob DeviceGriffinLimPlan::job_of(const DeviceWaveBatch& batch) const {
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

DeviceGriffinLim::DeviceGriffinLim(std::unique_ptr<const DeviceGriffinLimPlan> plan)
    : plan_(std::move(plan)) {}
DeviceGriffinLim::DeviceGriffinLim(DeviceGriffinLim&&) noexcept = default;
DeviceGriffinLim& DeviceGriffinLim::operator=(DeviceGriffinLim&&) noexcept = default;
DeviceGriffinLim::~DeviceGriffinLim() = default;

Result<DeviceGriffinLim> DeviceGriffinLim::make(const config::MelRecipe& recipe,
                                                const GriffinLimOptions& options, int device) {
  if (Result<void> invertible = check_invertible(recipe); !invertible) return invertible.error();
  return DeviceGriffinLim(std::make_unique<const DeviceGriffinLimPlan>(recipe, options, device));
}

std::size_t DeviceGriffinLim::num_samples(std::size_t num_frames) const noexcept {
  return plan_->host.num_samples(num_frames);
}

std::size_t DeviceGriffinLim::scratch_bytes(std::size_t num_utterances,
                                            std::size_t padded_frames) const noexcept {
  return padded_frames == 0 ? 0 : Room(plan_->host, num_utterances, padded_frames).total();
}

void DeviceGriffinLim::run(const DeviceWaveBatch& batch, cuda::StreamView stream) const {
  if (batch.num_utterances == 0 || batch.padded_frames == 0) return;
  const cuda::DeviceScope scope(plan_->device);
  const GriffinLimTables& tables = plan_->tables;
  const GriffinLimJob job = plan_->job_of(batch);
  const int count = batch.num_utterances;
  const auto frames = static_cast<std::size_t>(batch.padded_frames);
  const std::size_t shared = plan_->shared_bytes;
  const dim3 pairs = grid_of((frames + kFrameLanes - 1) / kFrameLanes * kFftLanes, 1, count);
  const dim3 signal = grid_of(static_cast<std::size_t>(job.signal_samples), kThreads, count);
  const cudaStream_t in = stream.handle();
  launch("wanted_kernel", [&] {
    const dim3 values = grid_of(frames * plan_->host.num_mels(), kThreads, count);
    wanted_kernel<<<values, kThreads, 0, in>>>(tables, job);
  });
  launch("envelope_kernel", [&] { envelope_kernel<<<signal, kThreads, 0, in>>>(tables, job); });
  const Kernels& kernels = plan_->kernels;
  launch("first_kernel", [&] { kernels.first<<<pairs, kThreads, shared, in>>>(tables, job); });
  const auto overlap = [&] { overlap_kernel<<<signal, kThreads, 0, in>>>(tables, job); };
  for (std::size_t i = 0; i < plan_->host.options.num_iterations; ++i) {
    launch("overlap_kernel", overlap);
    const Round round = i == 0 ? Round::kFirst : Round::kLater;
    launch("round_kernel",
           [&] { kernels.round<<<pairs, kThreads, shared, in>>>(tables, job, round); });
  }
  launch("overlap_kernel", overlap);
  launch("finish_kernel", [&] {
    const dim3 samples = grid_of(static_cast<std::size_t>(job.padded_samples), kThreads, count);
    finish_kernel<<<samples, kThreads, 0, in>>>(tables, job);
  });
  if (tables.emphasis == 0) return;
  launch("deemphasis_kernel",
         [&] { deemphasis_kernel<<<grid_of(1, 1, count), kThreads, 0, in>>>(tables, job); });
}

}  // namespace stoker::audio
