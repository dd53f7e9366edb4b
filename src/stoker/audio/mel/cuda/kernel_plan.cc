#include "stoker/audio/mel/cuda/kernel_plan.h"

#include <cuda_runtime.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>

#include "stoker/audio/errors.h"
#include "stoker/audio/mel/fft_factors.h"
#include "stoker/audio/mel/mel_finish.h"
#include "stoker/base/checked.h"
#include "stoker/base/invariant.h"
#include "stoker/cuda/check.h"
#include "stoker/cuda/stream.h"

namespace stoker::audio {
namespace {

// Keeps roots away from denormals where the recipe adds nothing; 1e-15 is far below every floor.
constexpr double kSmallestPower = 1e-30;
constexpr std::int64_t kMostFastMels = 128;
constexpr std::size_t kTableAlignBytes = 256;
constexpr int kGeneralSharedBytes = 48 * 1024;  // four blocks fit a multiprocessor

double sample_scale(SampleType in) { return in == SampleType::kPcm16 ? 1.0 / 32768.0 : 1.0; }

bool finishes_whole_of(const config::MelRecipe& r) {
  return r.range != config::MelRange::kNone || r.out_offset != 0.0 || r.out_scale != 1.0 ||
         !r.channel_divisors.empty();
}

int device_attribute(int device, cudaDeviceAttr attribute) {
  int value = 0;
  cuda::call("cudaDeviceGetAttribute",
             [&] { return cudaDeviceGetAttribute(&value, attribute, device); });
  return value;
}

bool fits_1024(const config::MelRecipe& r, const FrameGrid& grid, const MelBands& bands) {
  return r.n_fft == 1024 && r.hop_samples == 256 && !r.remove_dc && r.preemphasis == 0.0 &&
         r.fit_samples == 0 && grid.first_start % 8 == 0 && r.num_mels <= kMostFastMels &&
         !bands.weights.empty() && !device::needs_last_bin(bands);
}

std::int32_t frame_slack_of(const FrameGrid& grid) {
  switch (grid.kind) {
    case config::MelFraming::kSame:
      return static_cast<std::int32_t>((grid.n_fft - grid.hop_samples) / 2 * 2 - grid.n_fft);
    case config::MelFraming::kCenter:
      return 0;
    case config::MelFraming::kPadEnd:
      return -1;
    case config::MelFraming::kSnipEdges:
      return static_cast<std::int32_t>(-grid.win_samples);
  }
  return 0;
}

float log_factor_of(config::MelLog log) {
  const double per_log2 = std::numbers::ln2;
  if (log == config::MelLog::kLn) return static_cast<float>(per_log2);
  if (log == config::MelLog::kLog10) return static_cast<float>(per_log2 / std::numbers::ln10);
  if (log == config::MelLog::kDb) return static_cast<float>(10.0 * per_log2 / std::numbers::ln10);
  return 0.0F;
}

// Fills a vector with tables, each aligned, and remembers where they begin.
class TableWriter {
 public:
  template <class T>
  std::size_t add(const std::vector<T>& values) {
    const std::size_t first_byte = round_up(bytes_.size(), kTableAlignBytes);
    bytes_.resize(first_byte + values.size() * sizeof(T));
    std::memcpy(bytes_.data() + first_byte, values.data(), values.size() * sizeof(T));
    return first_byte;
  }
  cuda::DeviceBuffer upload(int device) const {
    cuda::DeviceBuffer buffer(device, bytes_.size());
    const cuda::Stream stream(device);
    cuda::system_device_api().copy({.to = buffer.data(),
                                    .from = bytes_.data(),
                                    .size_bytes = bytes_.size(),
                                    .kind = cuda::CopyKind::kToDevice},
                                   stream.view().handle());
    stream.synchronize();
    return buffer;
  }

 private:
  std::vector<std::byte> bytes_;
};

[[noreturn]] void refuse_variant(const DeviceMelPlan& plan, std::string_view why) {
  raise(
      {.code = &kMelVariant,
       .place = {},
       .promised = fmt::format("the {} variant of log-mel", mel_variant_name(plan.options.variant)),
       .found = std::string(why),
       .action = {},
       .cure = {}});
}

// Compiled filters, unless their kernel does not look for the range that the recipe needs or adds
// up magnitudes where the recipe adds up powers.
device::MelBank choose_bank(const DeviceMelPlan& plan) {
  if (plan.recipe.power != 1) return device::MelBank::kTable;
  const device::MelBank bank = device::matching_bank(plan.bands);
  if (plan.recipe.range == config::MelRange::kNone) return bank;
  return bank == device::MelBank::kHtk11025 ? bank : device::MelBank::kTable;
}

// What the GPU allows, best first.
MelVariant choose_variant(const DeviceMelPlan& plan) {
  const int device = plan.options.device;
  const bool is_1024 = fits_1024(plan.recipe, plan.grid, plan.bands);
  const int major = device_attribute(device, cudaDevAttrComputeCapabilityMajor);
  const int shared_bytes = device_attribute(device, cudaDevAttrMaxSharedMemoryPerBlockOptin);
  const bool hopper = is_1024 && major == 9 && device::has_hopper_kernels();
  const bool portable = is_1024 && shared_bytes >= device::kPortableSharedBytes;
  switch (plan.options.variant) {
    case MelVariant::kAuto:
      // With filters from a table, the bands of a Hopper block hold its transforms up.
      if (hopper && plan.options.in == SampleType::kPcm16 &&
          choose_bank(plan) != device::MelBank::kTable) {
        return MelVariant::kHopper;
      }
      return portable ? MelVariant::kPortable : MelVariant::kGeneral;
    case MelVariant::kHopper:
      if (!hopper)
        refuse_variant(plan, is_1024 ? "the GPU or the build is for another architecture"
                                     : "the recipe is not a plain 1024/256 one");
      break;
    case MelVariant::kPortable:
      if (!portable)
        refuse_variant(plan, is_1024 ? "the GPU has less than 96 KB of shared memory"
                                     : "the recipe is not a plain 1024/256 one");
      break;
    case MelVariant::kGeneral:
      break;
  }
  return plan.options.variant;
}

device::MelFinishTask finish_task(const config::MelRecipe& r, config::MelDtype out) {
  device::MelFinishTask finish{};
  finish.out = out;
  finish.range = r.range;
  finish.below_max = static_cast<float>(r.range_below_max);
  finish.offset = static_cast<float>(r.out_offset);
  finish.scale = static_cast<float>(r.out_scale);
  return finish;
}

DeviceMelTask recipe_task(const config::MelRecipe& r, const FrameGrid& grid) {
  DeviceMelTask task{};
  task.hop_samples = static_cast<std::int32_t>(r.hop_samples);
  task.frame_slack = frame_slack_of(grid);
  task.drop_last = static_cast<std::int32_t>(r.drop_last_frames);
  task.first_start = static_cast<std::int32_t>(grid.first_start);
  task.fit_samples = static_cast<std::int32_t>(r.fit_samples);
  task.reflects = r.pad_mode == config::MelPadMode::kReflect ? 1 : 0;
  task.num_mels = static_cast<std::int32_t>(r.num_mels);
  task.power = static_cast<std::int32_t>(r.power);
  task.epsilon = static_cast<float>(r.power == 1 ? std::max(r.magnitude_epsilon, kSmallestPower)
                                                 : r.magnitude_epsilon);
  const bool adds = r.floor_mode == config::MelFloor::kAdd;
  task.floor_add = adds ? static_cast<float>(r.floor) : 0.0F;
  task.floor_clamp = adds ? 0.0F : static_cast<float>(r.floor);
  task.log_factor = log_factor_of(r.log);
  task.padding = mel_padding_value(r);
  return task;
}

// Where tables begin; pointers follow once they are on the device.
struct TablePlaces {
  std::size_t window = 0;
  std::size_t twiddles = 0;
  std::size_t roots = 0;
  std::vector<std::size_t> stage_twiddles{};
  std::vector<std::size_t> stage_roots{};
  std::size_t weights = 0;
  std::size_t segments = 0;
  std::size_t divisors = 0;
};

template <class Real>
void add_fast_tables(const DeviceMelPlan& plan, TableWriter& writer, TablePlaces& places) {
  places.window = writer.add(lane_window_table<Real>(plan.recipe, sample_scale(plan.options.in)));
  places.twiddles = writer.add(lane_twiddle_table<Real>());
}

template <class Real>
void add_general_tables(DeviceMelPlan& plan, TableWriter& writer, TablePlaces& places) {
  const config::MelRecipe& r = plan.recipe;
  GeneralMelTask& general = plan.task.general;
  general.n_fft = static_cast<std::int32_t>(r.n_fft);
  general.win_samples = static_cast<std::int32_t>(r.win_samples);
  general.removes_dc = r.remove_dc ? 1 : 0;
  general.preemphasis = r.preemphasis;
  general.row_values = general.n_fft;
  const int row_bytes = 2 * general.row_values * static_cast<int>(sizeof(Real));
  general.tile_frames = std::clamp(kGeneralSharedBytes / row_bytes, 1, 32);
  places.window = writer.add(window_table<Real>(r, sample_scale(plan.options.in)));
  places.roots = writer.add(root_table<Real>(r.n_fft));
  if (r.n_fft % 2 != 0) return;
  const FftFactorsOf<Real> factors(static_cast<std::size_t>(r.n_fft));
  check_invariant(factors.stages.size() <= kMostStages, "a transform has few stages");
  for (const FftStageOf<Real>& stage : factors.stages) {
    GeneralStage& to = general.stages[general.num_stages++];
    to.radix = static_cast<std::int32_t>(stage.radix);
    to.length = static_cast<std::int32_t>(stage.length);
    to.stride = static_cast<std::int32_t>(stage.stride);
    places.stage_twiddles.push_back(writer.add(stage.twiddles));
    places.stage_roots.push_back(writer.add(stage.roots));
  }
}

void point_at_tables(DeviceMelPlan& plan, const TablePlaces& places) {
  const cuda::DeviceBuffer& tables = plan.tables;
  plan.task.window = tables.as<const std::byte>(places.window);
  plan.task.twiddles = tables.as<const std::byte>(places.twiddles);
  plan.task.weights = tables.as<const float>(places.weights);
  plan.task.segments = tables.as<const std::int32_t>(places.segments);
  plan.task.general.roots = tables.as<const std::byte>(places.roots);
  for (std::size_t s = 0; s < places.stage_twiddles.size(); ++s) {
    plan.task.general.stages[s].twiddles = tables.as<const std::byte>(places.stage_twiddles[s]);
    plan.task.general.stages[s].roots = tables.as<const std::byte>(places.stage_roots[s]);
  }
  if (!plan.recipe.channel_divisors.empty()) {
    plan.finish.divisors = tables.as<const float>(places.divisors);
  }
}

void choose_kernel(DeviceMelPlan& plan) {
  const device::MelKernelChoice choice{.bank = choose_bank(plan),
                                       .in = plan.options.in,
                                       .out = plan.task.dtype,
                                       .num_mels = plan.task.num_mels,
                                       .is_f64 = plan.is_f64};
  if (plan.variant == MelVariant::kHopper) {
    plan.kernel = device::hopper_kernel(choice);
  } else if (plan.variant == MelVariant::kPortable) {
    plan.kernel = device::portable_kernel(choice);
  } else {
    plan.kernel = device::general_kernel(choice, plan.task.general);
  }
  const int most_bytes =
      device_attribute(plan.options.device, cudaDevAttrMaxSharedMemoryPerBlockOptin);
  if (plan.kernel.shared_bytes > static_cast<std::size_t>(most_bytes)) {
    refuse_variant(plan, fmt::format("n_fft {} needs {} bytes of shared memory, the GPU has {}",
                                     plan.recipe.n_fft, plan.kernel.shared_bytes, most_bytes));
  }
  cuda::call("cudaFuncSetAttribute", [&] {
    return cudaFuncSetAttribute(plan.kernel.function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                static_cast<int>(plan.kernel.shared_bytes));
  });
}

// The first tables of a kernel, in what it computes in.
template <class Real>
void add_kernel_tables(DeviceMelPlan& plan, TableWriter& writer, TablePlaces& places) {
  if (plan.variant == MelVariant::kGeneral) {
    add_general_tables<Real>(plan, writer, places);
  } else {
    add_fast_tables<Real>(plan, writer, places);
  }
}

}  // namespace

DeviceMelPlan::DeviceMelPlan(const config::MelRecipe& mel_recipe,
                             const DeviceLogMel::Options& mel_options)
    : recipe(mel_recipe),
      options(mel_options),
      grid(mel_recipe),
      bands(sparse_bands(mel_recipe)),
      is_f64(mel_recipe.norm == config::MelNorm::kNone) {
  cuda::system_device_api().enter_thread(options.device);
  variant = choose_variant(*this);
  finishes_whole = finishes_whole_of(recipe);
  num_multiprocessors = device_attribute(options.device, cudaDevAttrMultiProcessorCount);
  task = recipe_task(recipe, grid);
  task.dtype = finishes_whole ? config::MelDtype::kF32 : options.out;
  finish = finish_task(recipe, options.out);
  TableWriter writer;
  TablePlaces places;
  if (is_f64) {
    add_kernel_tables<double>(*this, writer, places);
  } else {
    add_kernel_tables<float>(*this, writer, places);
  }
  // The 1024-point kernels leave the bin at half the rate out.
  const std::size_t end_bin =
      variant == MelVariant::kGeneral ? bands.end_bin : std::min<std::size_t>(bands.end_bin, 512);
  const std::vector<std::int32_t> firsts = segment_firsts(bands, end_bin);
  places.weights = writer.add(bands.weights);
  places.segments = writer.add(firsts);
  places.divisors = writer.add(
      std::vector<float>(recipe.channel_divisors.begin(), recipe.channel_divisors.end()));
  choose_kernel(*this);
  tables = writer.upload(options.device);
  point_at_tables(*this, places);
  task.first_bin = static_cast<std::int32_t>(bands.first_bin);
  task.end_bin = static_cast<std::int32_t>(end_bin);
  std::ranges::copy(device::split_bands(firsts, task.num_mels, kernel.parts),
                    std::begin(task.parts));
}

}  // namespace stoker::audio
