#include "stoker/feed/device/transfer_plan.h"

#include <algorithm>
#include <chrono>
#include <span>
#include <utility>
#include <vector>

#include "stoker/base/machine_figures.h"
#include "stoker/base/number_text.h"
#include "stoker/cuda/errors.h"
#include "stoker/cuda/locked_pages.h"
#include "stoker/feed/assembly/buffer_plan.h"

namespace stoker::feed {

// Utterances of the mapped cache need no second copy in host memory. The store must outlive it.
struct LockedCache {
  std::vector<cuda::LockedPages> shards;
};

namespace {

constexpr std::uint64_t kMostAutoBytes = 8 * config::kGiB;
constexpr std::uint64_t kMostLockedShare = 4;  // at most a fourth of what the machine could give
constexpr std::uint32_t kNumLookedAt = 64;     // utterances, to tell whether the cache is in memory

// What the parts of a plan are decided from.
struct PlanInputs {
  MelRouteRequest mel;
  const ModeChoice& choice;
  std::shared_ptr<Fallbacks> fallbacks;
};

// The most samples an utterance has beyond frames * hop, whatever the framing.
std::uint32_t extra_samples(const config::MelRecipe& recipe) {
  return static_cast<std::uint32_t>(recipe.win_samples +
                                    (recipe.drop_last_frames + 1) * recipe.hop_samples);
}

std::uint64_t pool_bytes(const DataSetSource& store, SlotPayload payload,
                         config::MelDtype batch_dtype) {
  const std::uint64_t extra = extra_samples(store.spec().mel().recipe()) + kSampleAlignment;
  std::uint64_t total = 0;
  for (std::uint32_t utterance = 0; utterance < store.num_utterances(); ++utterance) {
    const std::uint64_t frames = store.num_frames(utterance);
    total += payload == SlotPayload::kRaggedPcm
                 ? (frames * store.hop_samples() + extra) * sizeof(std::int16_t)
                 : frames * store.num_mels() * config::bytes_per_value(batch_dtype);
  }
  return total;
}

DeviceKernelOptions kernel_options(const PlanInputs& request, MelSource source) {
  return {.use = source == MelSource::kGpu ? KernelUse::kMel : KernelUse::kLayout,
          .recipe = request.mel.store.spec().mel().recipe(),
          .dtype = request.mel.store.cache_dtype(),
          .device = request.choice.data_device};
}

// Whether the GPU takes the kernels; false is a fallback that has been logged.
bool can_load(const PlanInputs& request, MelSource source, const FallbackCount& kind) {
  try {
    request.mel.view.make_kernels(kernel_options(request, source));
    return true;
  } catch (const GpuError& failure) {
    if (failure.error().code == &cuda::kCudaSticky) throw;
    request.fallbacks->take_or_raise(kind, failure.error(), "going on with " + kind.to);
    return false;
  }
}

MelRoute choose_route(const PlanInputs& request) {
  MelRouteRequest mel = request.mel;
  mel.has_kernels = [&request] {
    return can_load(request, MelSource::kGpu, {"GPU mel", "CPU mel", {}});
  };
  MelRoute route = choose_mel_route(mel);
  if (route.is_refused) {
    request.fallbacks->take_or_raise({"GPU mel", "CPU mel", {}},
                                     {.code = &cuda::kCudaMel,
                                      .promised = "log-mel on a GPU (gpu.mel_place = gpu)",
                                      .found = route.reason},
                                     "going on with CPU mel");
  }
  return route;
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
SlotPayload payload_of(const PlanInputs& request, MelSource source, bool has_locked) {
  const config::Settings& settings = request.mel.settings;
  if (source == MelSource::kGpu) return SlotPayload::kRaggedPcm;
  if (settings.batch.segment_frames) return SlotPayload::kPaddedMel;
  const bool is_to_stay = settings.cache.tier == config::CacheTier::kGpu;
  if (!is_to_stay && !has_locked && is_nearly_full(settings.batch)) return SlotPayload::kPaddedMel;
  const bool has_layout =
      can_load(request, source, {"GPU layout", "padded rows from the host", {}});
  return has_layout ? SlotPayload::kRaggedMel : SlotPayload::kPaddedMel;
}

// Locking reads every page: that is free only where they all are in memory.
bool is_in_memory(const DataSetSource& store) {
  const std::uint32_t step = std::max(1U, store.num_utterances() / kNumLookedAt);
  for (std::uint32_t utterance = 0; utterance < store.num_utterances(); utterance += step) {
    const RecordRoute& route = store.routes()[utterance];
    const auto& record = route.mel ? route.mel : route.pcm;
    if (record && !store.reader()->is_resident(*record)) return false;
  }
  return true;
}

// Null where that cannot be done or does not pay: a cache that is not mapped, is not in the page
// cache now, or is too large a part of the machine's memory; a driver that refuses.
std::shared_ptr<const LockedCache> lock_shards(const DataSetSource& store, cuda::DeviceApi& api) {
  if (store.reader() == nullptr) return nullptr;
  const auto shards = store.reader()->mapped_shards();
  std::uint64_t total_bytes = 0;
  for (const std::span<const std::byte>& shard : shards) {
    if (shard.empty()) return nullptr;
    total_bytes += shard.size();
  }
  if (total_bytes > available_memory_bytes() / kMostLockedShare || !is_in_memory(store)) {
    return nullptr;
  }
  try {
    auto locked = std::make_shared<LockedCache>();
    locked->shards.reserve(shards.size());
    for (const std::span<const std::byte>& shard : shards) locked->shards.emplace_back(shard, api);
    return locked;
  } catch (const GpuError& failure) {
    if (failure.error().code == &cuda::kCudaSticky) throw;
    return nullptr;
  }
}

// Where the cache holds utterances as the GPU wants them, so that they are copied from its pages.
std::shared_ptr<const LockedCache> lock_cache(const PlanInputs& request, const DeviceSetup& setup,
                                              MelSource source) {
  const config::Settings& settings = request.mel.settings;
  const DataSetSource& store = request.mel.store;
  const bool is_wished = settings.gpu.copy_from_cache && settings.gpu.pin_memory &&
                         setup.ahead == DeviceAhead::kFilled && !settings.batch.segment_frames;
  if (!is_wished || store.num_utterances() == 0 || source == MelSource::kCpu) return nullptr;
  const bool is_as_wanted = source == MelSource::kGpu
                                ? store.routes()[0].pcm.has_value()
                                : *settings.batch.batch_dtype == store.cache_dtype();
  return is_as_wanted ? lock_shards(store, *setup.api) : nullptr;
}

void make_resident(const PlanInputs& request, DeviceSetup& setup) {
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
  request.fallbacks->take_or_raise(
      {"gpu tier", "streamed", {}},
      {.code = &cuda::kCudaMemory,
       .promised = bytes_text(wanted) + " of GPU memory for all utterances",
       .found = can_stay ? bytes_text(allowed)
                         : std::string("utterances that are cut or augmented on the host")},
      "utterances are copied for every batch");
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
  setup.is_buffer_tuned = request.settings.loader.auto_tune_performance;
}

DeviceSetup make_setup(const PlanInputs& request, MelSource source) {
  const config::Settings& settings = request.mel.settings;
  const config::GpuSettings& gpu = settings.gpu;
  DeviceSetup setup;
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
    setup.is_buffer_tuned = false;
  }
  setup.fallbacks = request.fallbacks;
  setup.made_dtype = request.mel.store.cache_dtype();
  setup.max_extra_samples = extra_samples(request.mel.store.spec().mel().recipe());
  if (source == MelSource::kGpu) setup.augmentation = request.mel.store.augmentation();
  setup.locked_cache = lock_cache(request, setup, source);
  setup.payload = payload_of(request, source, setup.locked_cache != nullptr);
  if (setup.payload == SlotPayload::kPaddedMel) setup.locked_cache = nullptr;
  if (settings.cache.tier == config::CacheTier::kGpu) make_resident(request, setup);
  if (setup.payload != SlotPayload::kPaddedMel) {
    setup.make_kernels = [make = request.mel.view.make_kernels,
                          options = kernel_options(request, source)] { return make(options); };
  }
  return setup;
}

}  // namespace

TransferPlan plan_transfer(const TransferRequest& request) {
  const config::Settings& settings = request.settings;
  const ModeWish wish = wish_of(settings);
  if (!wish.asks_for_gpu()) return {};
  TransferPlan plan{.view = request.devices == nullptr ? view_devices() : *request.devices,
                    .choice = {},
                    .fallbacks = std::make_shared<Fallbacks>(policy_of(settings))};
  plan.choice = choose_mode(wish, plan.view, *plan.fallbacks);
  if (plan.choice.mode == GpuMode::kCpu || !settings.gpu.prefetch_to_gpu) return plan;
  const PlanInputs inputs{.mel = {.settings = settings,
                                  .store = request.store,
                                  .view = plan.view,
                                  .device = plan.choice.data_device,
                                  .num_workers = request.num_workers,
                                  .saved_path = request.saved_path},
                          .choice = plan.choice,
                          .fallbacks = plan.fallbacks};
  plan.mel = choose_route(inputs);
  plan.setup = std::make_shared<DeviceSetup>(make_setup(inputs, plan.mel.source));
  plan.text = text_of(*plan.setup, plan.mel.source);
  return plan;
}

}  // namespace stoker::feed
