#include <algorithm>
#include <bit>
#include <span>

#include "stoker/audio/griffin_lim/griffin_lim_plan.cuh"
#include "stoker/base/invariant.h"
#include "stoker/cuda/stream.h"

namespace stoker::audio {
namespace {

// Gathers tables for one allocation; a table's place is known at once, its pointer later.
class TableBytes {
 public:
  template <class T>
  std::size_t add(std::span<const T> table) {
    const std::size_t at = bytes_.size();
    const std::span<const std::byte> bytes = std::as_bytes(table);
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    bytes_.insert(bytes_.end(), device_aligned(bytes_.size()) - bytes_.size(), std::byte{0});
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
  std::vector<BandBins> bins;
  std::vector<float> weights;
};

// The filters by band, bins ascending: the order in which the CPU adds them up.
BandTable by_band(const GriffinLimPlan& plan) {
  const std::size_t num_mels = plan.num_mels();
  BandTable table{.bins = std::vector<BandBins>(num_mels), .weights = {}};
  for (std::size_t bin = 0; bin + 1 < plan.bin_begin.size(); ++bin) {
    for (std::uint32_t i = plan.bin_begin[bin]; i < plan.bin_begin[bin + 1]; ++i) {
      const MelWeight& weight = plan.weights[i];
      BandBins& band = table.bins[weight.at];
      if (band.count == 0) band.first = static_cast<std::int32_t>(bin);
      const std::size_t place = bin - static_cast<std::size_t>(band.first);
      band.count = static_cast<std::int32_t>(place + 1);
      if (table.weights.size() < (place + 1) * num_mels)
        table.weights.resize((place + 1) * num_mels, 0.0F);
      table.weights[place * num_mels + weight.at] = weight.value;
    }
  }
  return table;
}

struct BinTable {
  std::vector<BinBands> bands;
  std::vector<BinWeights> weights;
};

BinTable by_bin(const GriffinLimPlan& plan) {
  const std::size_t num_bins = plan.stft.num_bins();
  BinTable table{std::vector<BinBands>(num_bins), std::vector<BinWeights>(num_bins)};
  for (std::size_t bin = 0; bin < num_bins; ++bin) {
    const std::uint32_t begin = plan.bin_begin[bin], count = plan.bin_begin[bin + 1] - begin;
    check_invariant(count <= kMaxBinBands, "a bin in more than three mel bands");
    for (std::uint32_t i = 0; i < count; ++i) {
      table.bands[bin].at[i] = static_cast<std::uint16_t>(plan.weights[begin + i].at);
      table.weights[bin].of[i] = plan.weights[begin + i].value;
    }
    table.weights[bin].share = plan.bin_share[bin];
  }
  return table;
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
    const bool has_next =
        s + 1 < device.num_stages && fft.stages()[static_cast<std::size_t>(s) + 1].radix == 4;
    device.stages[s] = {static_cast<int>(stage.radix),
                        static_cast<int>(stage.num_groups),
                        static_cast<int>(stage.stride),
                        std::has_single_bit(stage.stride) ? std::countr_zero(stage.stride) : -1,
                        static_cast<int>(stage.twiddles_at / 2),
                        is_free && has_next && stage.radix == 4};
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

}  // namespace

DeviceGriffinLimPlan::DeviceGriffinLimPlan(const config::MelRecipe& recipe,
                                           const GriffinLimOptions& options, int on_device)
    : host(recipe, options, SimdLevel::kScalar), device(on_device), tables(plain_tables(host)) {
  TableBytes bytes;
  const BandTable bands = by_band(host);
  const BinTable bins = by_bin(host);
  const std::size_t twiddles = bytes.add(device_twiddles(host.stft.fft()));
  const std::size_t window = bytes.add(host.stft.window());
  const std::size_t synthesis_window = bytes.add(host.stft.synthesis_window());
  const std::size_t bin_bands = bytes.add(bins.bands);
  const std::size_t bin_weights = bytes.add(bins.weights);
  const std::size_t band_bins = bytes.add(bands.bins);
  const std::size_t band_weights = bytes.add(bands.weights);
  const std::size_t band_share = bytes.add(host.band_share);
  const std::size_t circle = bytes.add(host.circle);
  const std::size_t divisors = bytes.add(recipe.channel_divisors);
  memory = cuda::DeviceBuffer(device, bytes.bytes().size());
  tables.fft.twiddles = memory.as<DeviceComplex>(twiddles);
  tables.window = memory.as<float>(window);
  tables.synthesis_window = memory.as<float>(synthesis_window);
  tables.bin_bands = memory.as<BinBands>(bin_bands);
  tables.bin_weights = memory.as<BinWeights>(bin_weights);
  tables.band_bins = memory.as<BandBins>(band_bins);
  tables.band_weights = memory.as<float>(band_weights);
  tables.band_share = memory.as<float>(band_share);
  tables.circle = memory.as<BinValue>(circle);
  if (!recipe.channel_divisors.empty()) tables.divisors = memory.as<double>(divisors);
  const cuda::Stream stream(device);
  cuda::system_device_api().copy(
      {memory.data(), bytes.bytes().data(), bytes.bytes().size(), cuda::CopyKind::kToDevice},
      stream.view().handle());
  stream.synchronize();
}

}  // namespace stoker::audio
