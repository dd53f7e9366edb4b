#include "stoker/feed/device/transfer_plan.h"

#include <algorithm>
#include <chrono>

#include "stoker/base/number_text.h"
#include "stoker/cuda/errors.h"
#include "stoker/feed/assembly/buffer_plan.h"
#include "stoker/feed/device/locked_cache.h"

namespace stoker::feed {
namespace {

constexpr std::uint64_t kMostAutoBytes = 8 * config::kGiB;

// The most samples a row has beyond frames * hop, whatever the framing.
std::uint32_t extra_samples(const config::MelRecipe& recipe) {
  return static_cast<std::uint32_t>(recipe.win_samples +
                                    (recipe.drop_last_frames + 1) * recipe.hop_samples);
}

std::uint64_t pool_bytes(const DataSetSource& store, SlotPayload payload,
                         config::MelDtype batch_dtype) {
  const std::uint64_t extra = extra_samples(store.spec().mel().recipe()) + kSampleAlignment;
  std::uint64_t total = 0;
  for (std::uint32_t row = 0; row < store.num_utterances(); ++row) {
    const std::uint64_t frames = store.num_frames(row);
    total += payload == SlotPayload::kRaggedPcm
                 ? (frames * store.hop_samples() + extra) * sizeof(std::int16_t)
                 : frames * store.num_mels() * config::bytes_per_value(batch_dtype);
  }
  return total;
}

DeviceKernelOptions kernel_options(const TransferRequest& request, MelSource source) {
  return {.use = source == MelSource::kGpu ? KernelUse::kMel : KernelUse::kLayout,
          .recipe = request.mel.store.spec().mel().recipe(),
          .dtype = request.mel.store.cache_dtype(),
          .device = request.choice.data_device};
}

// Whether the GPU takes the kernels; false is a fallback that has been said.
bool can_load(const TransferRequest& request, MelSource source, const FallbackCount& kind) {
  try {
    request.mel.view.make_kernels(kernel_options(request, source));
    return true;
  } catch (const GpuError& failure) {
    if (!request.fallbacks->are_allowed() || failure.error().code == &cuda::kCudaSticky) throw;
    FallbackCount taken = kind;
    taken.reason = failure.error().code->name;
    request.fallbacks->take(taken, error_line(failure.error()) + "; going on with " + kind.to);
    return false;
  }
}

MelRoute place_of(const TransferRequest& request) {
  MelRouteRequest mel = request.mel;
  mel.has_kernels = [&request] {
    return can_load(request, MelSource::kGpu, {"GPU mel", "CPU mel", {}, 0});
  };
  MelRoute place = choose_mel_route(mel);
  if (place.is_refused) {
    const Error error{
        .code = &cuda::kCudaMel, .promised = "gpu.mel_place = gpu", .found = place.reason};
    if (!request.fallbacks->are_allowed()) raise(Error(error));
    request.fallbacks->take({"GPU mel", "CPU mel", std::string(error.code->name)},
                            error_line(error) + "; going on with CPU mel");
  }
  return place;
}

// Whether almost nothing of a batch is padding: with that many shapes a few percent.
bool is_nearly_full(const config::BatchSettings& batch) {
  constexpr std::int64_t kManyShapes = 16;
  if (batch.batch_layout == config::BatchLayout::kPacked) return true;
  return batch.shuffle && !batch.static_shapes && batch.max_shapes >= kManyShapes;
}

// Batches that the host lays out need no kernel: they cost the model nothing. Rows one after the
// other save the padding on the bus and in the workers, and only such rows can stay on the GPU.
// Crops are cut from padded mels.
SlotPayload payload_of(const TransferRequest& request, MelSource source, bool has_locked) {
  const config::Settings& settings = request.mel.settings;
  if (source == MelSource::kGpu) return SlotPayload::kRaggedPcm;
  if (settings.batch.segment_frames) return SlotPayload::kPaddedMel;
  const bool is_to_stay = settings.cache.tier == config::CacheTier::kGpu;
  if (!is_to_stay && !has_locked && is_nearly_full(settings.batch)) return SlotPayload::kPaddedMel;
  const bool has_layout =
      can_load(request, source, {"GPU layout", "padded rows from the host", {}, 0});
  return has_layout ? SlotPayload::kRaggedMel : SlotPayload::kPaddedMel;
}

// Rows that the cache holds as the GPU wants them, copied from where they lie.
std::shared_ptr<const LockedCache> lock_cache(const TransferRequest& request,
                                              const DeviceSetup& setup, MelSource source) {
  const config::Settings& settings = request.mel.settings;
  const DataSetSource& store = request.mel.store;
  const bool is_wished = settings.gpu.copy_from_cache && settings.gpu.pin_memory &&
                         setup.ahead == DeviceAhead::kFilled && !settings.batch.segment_frames;
  if (!is_wished || store.num_utterances() == 0 || source == MelSource::kCpu) return nullptr;
  const bool is_as_wanted = source == MelSource::kGpu
                                ? store.routes()[0].pcm.has_value()
                                : *settings.batch.batch_dtype == store.cache_dtype();
  return is_as_wanted ? LockedCache::lock(store, *setup.api) : nullptr;
}

void make_resident(const TransferRequest& request, DeviceSetup& setup) {
  const config::CacheSettings& cache = request.mel.settings.cache;
  const std::uint64_t wanted =
      pool_bytes(request.mel.store, setup.payload, *request.mel.settings.batch.batch_dtype);
  const cuda::DeviceRoom room = setup.api->room(setup.data_device);
  const std::uint64_t allowed =
      std::min<std::uint64_t>(cache.tier_memory ? cache.tier_memory->count : room.free_bytes,
                              room.free_bytes - room.free_bytes / 10);
  const bool can_stay =
      setup.payload == SlotPayload::kRaggedPcm ||
      (setup.payload == SlotPayload::kRaggedMel && request.mel.store.augmentation() == nullptr);
  if (can_stay && wanted + setup.memory_bytes / 2 <= allowed) {
    setup.tier = DeviceTier::kResident;
    setup.pool_bytes = wanted;
    return;
  }
  const Error error{.code = &cuda::kCudaMemory,
                    .promised = bytes_text(wanted) + " of rows in GPU memory",
                    .found = can_stay ? bytes_text(allowed) + " may be taken"
                                      : std::string("rows that are cut or augmented on the host")};
  if (!request.fallbacks->are_allowed()) raise(Error(error));
  request.fallbacks->take({"gpu tier", "streamed", std::string(error.code->name)},
                          error_line(error) + "; rows are copied for every batch");
}

std::string text_of(const DeviceSetup& setup, MelSource source) {
  const std::string gpu = "GPU " + std::to_string(setup.data_device);
  const std::string held = setup.tier == DeviceTier::kResident ? " held on " + gpu : "";
  if (source == MelSource::kGpu) return "mel on " + gpu + " from PCM16" + held;
  return (source == MelSource::kCache ? "cached mel" : "mel on the CPU") + held;
}

// How many batches: as asked, or from how late threads are on this machine. The memory allowed
// bounds both.
void choose_buffer(const MelRouteRequest& request, DeviceSetup& setup) {
  constexpr std::chrono::milliseconds kLook{20};
  if (const auto& wanted = request.settings.gpu.buffer_size) {
    setup.buffer_size = static_cast<unsigned>(*wanted);
    return;
  }
  const BufferPlan plan =
      plan_buffer({.num_workers = request.num_workers, .jitter = measure_jitter(kLook)});
  setup.buffer_size = plan.num_batches;
  setup.buffer_reason = plan.reason;
}

}  // namespace

TransferPlan choose_device_way(const TransferRequest& request) {
  const config::Settings& settings = request.mel.settings;
  const config::GpuSettings& gpu = settings.gpu;
  TransferPlan way{.setup = std::make_shared<DeviceSetup>(), .mel = place_of(request), .text = {}};
  DeviceSetup& setup = *way.setup;
  setup.api = request.mel.view.api;
  setup.data_device = request.choice.data_device;
  setup.link = request.choice.link;
  if (request.choice.mode == GpuMode::kMultiGpu) setup.model_device = request.choice.model_device;
  choose_buffer(request.mel, setup);
  setup.memory_bytes =
      gpu.data_gpu_memory
          ? gpu.data_gpu_memory->count
          : std::min(kMostAutoBytes, setup.api->room(setup.data_device).free_bytes / 2);
  setup.host_memory = gpu.pin_memory ? HostMemory::kPinned : HostMemory::kPageable;
  if (!gpu.enhanced_gpu_prefetch || !settings.loader.optimize_cpu_gpu_overlap ||
      !settings.loader.use_native_loading) {
    setup.ahead = DeviceAhead::kOnDemand;
    setup.buffer_size = 1;
  }
  setup.fallbacks = request.fallbacks;
  setup.made_dtype = request.mel.store.cache_dtype();
  setup.max_extra_samples = extra_samples(request.mel.store.spec().mel().recipe());
  if (way.mel.source == MelSource::kGpu) setup.augmentation = request.mel.store.augmentation();
  setup.locked_cache = lock_cache(request, setup, way.mel.source);
  setup.payload = payload_of(request, way.mel.source, setup.locked_cache != nullptr);
  if (setup.payload == SlotPayload::kPaddedMel) setup.locked_cache = nullptr;
  if (settings.cache.tier == config::CacheTier::kGpu) make_resident(request, setup);
  if (setup.payload != SlotPayload::kPaddedMel) {
    setup.make_kernels = [make = request.mel.view.make_kernels,
                          options = kernel_options(request, way.mel.source)] {
      return make(options);
    };
  }
  way.text = text_of(setup, way.mel.source);
  return way;
}

}  // namespace stoker::feed
