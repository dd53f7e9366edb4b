#include "stoker/feed/open_feed.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "stoker/base/cpu_count.h"
#include "stoker/base/digest/digest.h"
#include "stoker/base/free_memory.h"
#include "stoker/config/load.h"
#include "stoker/config/settings_digest.h"
#include "stoker/cuda/errors.h"
#include "stoker/feed/baseline/delayed_source.h"
#include "stoker/feed/baseline/instant_source.h"
#include "stoker/feed/baseline/naive_choice.h"
#include "stoker/feed/baseline/naive_source.h"
#include "stoker/feed/errors.h"

namespace stoker::feed {
namespace {

constexpr std::uint64_t kLeastBufferBytes = 256 * config::kMiB;
constexpr std::uint64_t kMostBufferBytes = config::kGiB;
constexpr std::uint32_t kDefaultBatchFrames = 40'000;
constexpr unsigned kDefaultReadAhead = 16;

std::optional<std::uint32_t> number_from_environment(std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const char* const text = std::getenv(name);
    if (text == nullptr) continue;
    std::uint32_t value = 0;
    const std::string_view view(text);
    const auto [end, error] = std::from_chars(view.data(), view.data() + view.size(), value);
    if (error == std::errc() && end == view.data() + view.size()) return value;
  }
  return std::nullopt;
}

template <class T>
std::optional<std::uint32_t> as_u32(const std::optional<T>& value) {
  return value ? std::optional(static_cast<std::uint32_t>(*value)) : std::nullopt;
}

// Every `auto` that the order depends on gets its value here, so that the digest covers it.
config::Settings resolved(config::Settings settings, const RankRows& ranks) {
  if (!settings.batch.batch_multiple) {
    settings.batch.batch_multiple = static_cast<std::int64_t>(ranks.world_size);
  }
  if (!settings.batch.batch_frames) settings.batch.batch_frames = kDefaultBatchFrames;
  if (!settings.batch.batch_dtype) settings.batch.batch_dtype = settings.cache.dtype;
  return settings;
}

SamplerSettings order_settings(const config::Settings& settings, const data::Index& index) {
  const config::BatchSettings& batch = settings.batch;
  SamplerSettings order{.seed = static_cast<std::uint64_t>(settings.run.seed),
                        .batch_frames = *as_u32(batch.batch_frames),
                        .batch_size = as_u32(batch.batch_size).value_or(0),
                        .batch_multiple = *as_u32(batch.batch_multiple),
                        .max_shapes = static_cast<std::uint32_t>(batch.max_shapes),
                        .layout = batch.batch_layout == config::BatchLayout::kPacked
                                      ? BatchLayout::kPacked
                                      : BatchLayout::kPadded,
                        .shuffle = batch.shuffle,
                        .drop_last = batch.drop_last,
                        .static_shapes = batch.static_shapes,
                        .source_weights = {}};
  for (const data::Source& source : index.sources()) order.source_weights.push_back(source.weight);
  return order;
}

// An eighth of what the machine could give, within bounds that hold a few batches.
std::uint64_t auto_buffer_bytes() {
  return std::clamp(available_memory_bytes() / 8, kLeastBufferBytes, kMostBufferBytes);
}

LoadingOptions loading_options(const config::Settings& settings, unsigned num_workers) {
  const config::LoaderSettings& loader = settings.loader;
  LoadingOptions loading{
      .num_workers = num_workers,
      .max_workers = std::max(64U, num_workers),
      .depth = as_u32(loader.prefetch_buffer_size),
      .buffer_bytes = loader.buffer_memory ? loader.buffer_memory->count : auto_buffer_bytes(),
      .stall_limit =
          std::chrono::nanoseconds(static_cast<std::int64_t>(loader.stall_limit_s * 1e9))};
  loading.read_ahead_batches = loader.read_ahead_batches
                                   ? static_cast<unsigned>(*loader.read_ahead_batches)
                                   : kDefaultReadAhead;
  if (loader.auto_tune_performance) loading.tuned_cores = count_cpus().allowed;
  // Both switches mean: load a batch only when it is asked for.
  if (!loader.use_native_loading || !loader.optimize_cpu_gpu_overlap) {
    loading.num_workers = 0;
    loading.read_ahead_batches = 0;
    loading.tuned_cores = 0;
  }
  return loading;
}

ExtraParts extra_parts(const config::BatchSettings& batch, const DataSetSource& store) {
  ExtraParts parts{.with_audio = batch.with_audio,
                   .segment_frames = as_u32(batch.segment_frames).value_or(0)};
  if (batch.reference == config::ReferencePart::kNone) return parts;
  parts.reference = batch.reference == config::ReferencePart::kSame ? ReferenceFrom::kSameUtterance
                                                                    : ReferenceFrom::kSameSpeaker;
  const double frames = batch.reference_audio_s * store.speech_rule().rate_hz / store.hop_samples();
  parts.reference_frames = std::max(1U, static_cast<std::uint32_t>(frames));
  return parts;
}

// Pronunciations are read beside the texts that the data's digest covers.
Digest128 text_digest(const DataSetSource& store) {
  const Digest128& of_settings = store.wanted().target().head.text;
  const text::PhonemeSidecar* const phonemes = store.wanted().phonemes();
  if (phonemes == nullptr) return of_settings;
  DigestStream stream;
  stream.add_text(of_settings.hex());
  for (std::uint32_t row = 0; row < store.index().size(); ++row) {
    const std::string* const phones = phonemes->find(store.id(row));
    stream.add_text(phones == nullptr ? std::string_view() : std::string_view(*phones));
  }
  return stream.finish();
}

FeedIdentity identity_of(const config::Settings& settings, const DataSetSource& store,
                         const SamplerSettings& order) {
  DigestStream order_digest;
  order_digest.add_text(config::settings_digest(settings, config::Affects::kOrder).hex());
  for (const double weight : order.source_weights) order_digest.add_number(weight);
  if (store.augmentation() != nullptr) {
    order_digest.add_text(store.augmentation()->noise_digest().hex());
  }
  const cache::Manifest& head = store.wanted().target().head;
  return {.data = store.index().data_digest().short_hex(),
          .order = order_digest.finish().short_hex(),
          .feature = head.features.short_hex(),
          .text = text_digest(store).short_hex(),
          .path = store.numeric_path(),
          .seed = order.seed};
}

BadRowLimits bad_row_limits(const config::DataSettings& data, const data::Index& index) {
  return {.num_rows = index.counts().rows,
          .already_bad = index.counts().rejected,
          .max_bad_fraction = data.max_bad_fraction,
          .max_bad_rows = static_cast<std::uint64_t>(data.max_bad_rows),
          .fail_at_once = data.bad_inputs == config::BadInputs::kFail};
}

// The level a saved state was made with, where this processor has it.
SimdLevel level_for(const std::optional<FeedState>& saved) {
  const SimdLevel own = simd_level().take_or_raise();
  if (!saved) return own;
  const Result<SimdLevel> same = choose_simd_level(saved->identity.path, detect_simd_level());
  return same ? *same : own;
}

// Whether mode `auto` left something to build.
bool is_incomplete(const config::Settings& settings, const DataSetSource& store) {
  if (settings.loader.preprocessing_mode != config::PreprocessingMode::kAuto) return false;
  const bool would_read = settings.cache.content != config::CacheContent::kMel;
  if (store.augmentation() != nullptr && !would_read) return false;
  return !store.is_all_cached();
}

unsigned workers_of(const config::LoaderSettings& loader) {
  if (loader.num_workers) return static_cast<unsigned>(*loader.num_workers);
  return workers_beside_consumer(count_cpus().allowed);
}

struct ModeParts {
  const config::Settings& settings;
  const DataSetSource& store;
  const OpenOptions& options;
  std::string saved_path;
};

bool asks_for_gpu(const ModeWish& wish) {
  if (wish.device) return wish.device->is_cuda();
  return wish.data_gpu || wish.model_gpu;
}

std::shared_ptr<Fallbacks> make_fallbacks(const config::Settings& settings) {
  return std::make_shared<Fallbacks>(settings.run.strict ? FallbackPolicy::kRefuse
                                                         : FallbackPolicy::kAllow);
}

// What was asked of a GPU while batches stay in host memory: a fallback each.
void refuse_gpu_wishes(const config::Settings& settings, const std::string& why, FeedSetup& setup) {
  const auto fall_back = [&](const char* key, const FallbackCount& kind) {
    const Error error{.code = &cuda::kCudaNone,
                      .promised = std::string("a GPU for ") + key + " = gpu",
                      .found = why};
    if (setup.fallbacks == nullptr) setup.fallbacks = make_fallbacks(settings);
    if (!setup.fallbacks->are_allowed()) raise(Error(error));
    setup.fallbacks->take(kind, error_line(error) + "; going on with " + kind.to);
  };
  const std::string reason(cuda::kCudaNone.name);
  if (settings.cache.tier == config::CacheTier::kGpu)
    fall_back("cache.tier", {"gpu tier", "host memory", reason});
  if (settings.gpu.mel_place == config::MelPlace::kGpu)
    fall_back("gpu.mel_place", {"GPU mel", "CPU mel", reason});
}

bool wishes_for_gpu(const config::Settings& settings) {
  return settings.cache.tier == config::CacheTier::kGpu ||
         settings.gpu.mel_place == config::MelPlace::kGpu;
}

std::string why_on_host(const config::Settings& settings, const OpenOptions& options) {
  if (!settings.gpu.prefetch_to_gpu) return "gpu.prefetch_to_gpu = false";
  if (settings.run.device != "auto") return "device = " + settings.run.device;
  const std::string why =
      options.devices == nullptr ? view_devices().probe.why_none : options.devices->probe.why_none;
  return why.empty() ? "device = auto, which is the CPU here" : why;
}

// Chooses mode and way, and puts the way into the setup.
ModeReport choose_way(const ModeParts& parts, FeedSetup& setup, DeviceView& view) {
  const config::Settings& settings = parts.settings;
  const auto as_int = [](const auto& value) {
    return value ? std::optional(static_cast<int>(*value)) : std::nullopt;
  };
  const ModeWish wish{.device = cuda::parse_device(settings.run.device).take_or_raise(),
                      .data_gpu = as_int(settings.gpu.data_gpu),
                      .model_gpu = as_int(settings.gpu.model_gpu)};
  if (!asks_for_gpu(wish)) return {};
  view = parts.options.devices == nullptr ? view_devices() : *parts.options.devices;
  auto fallbacks = make_fallbacks(settings);
  ModeReport report;
  report.choice = choose_mode(wish, view, *fallbacks);
  setup.fallbacks = fallbacks;
  if (report.choice.mode == GpuMode::kCpu || !settings.gpu.prefetch_to_gpu) return report;
  TransferPlan way = choose_device_way({.mel = {.settings = settings,
                                                .store = parts.store,
                                                .view = view,
                                                .device = report.choice.data_device,
                                                .num_workers = setup.loading.num_workers,
                                                .saved_path = parts.saved_path},
                                        .choice = report.choice,
                                        .fallbacks = fallbacks});
  if (way.mel.source == MelSource::kGpu) setup.identity.path = kCudaPath;
  report.mel = way.mel;
  report.text = way.text;
  report.buffer_reason = way.setup->buffer_reason;
  setup.device = way.setup;
  return report;
}

std::vector<std::string> lines_of(const ModeReport& report, const DeviceView& view,
                                  const Feed& feed) {
  ModeFacts facts{
      .buffer_size = 0, .buffer_reason = report.buffer_reason, .prefetching = report.text};
  if (const auto device = feed.stats().device) {
    facts.buffer_size = device->num_slots;
    facts.used_bytes = device->total_bytes();
    facts.allowed_bytes = device->allowed_bytes;
  }
  return mode_lines(report.choice, view, facts);
}

}  // namespace

RankRows ranks_of(const config::LoaderSettings& loader) {
  const auto rank = number_from_environment({"RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK"});
  const auto world =
      number_from_environment({"WORLD_SIZE", "SLURM_NTASKS", "OMPI_COMM_WORLD_SIZE"});
  return {.rank = as_u32(loader.rank).value_or(rank.value_or(0)),
          .world_size = as_u32(loader.world_size).value_or(world.value_or(1))};
}

SamplerSettings sampler_settings(const config::Settings& settings, const data::Index& index) {
  return order_settings(resolved(settings, ranks_of(settings.loader)), index);
}

OpenedFeed open_feed(const config::Settings& given, const OpenOptions& options) {
  std::optional<FeedState> saved;
  if (options.state) saved = parse_state(*options.state);
  const RankRows ranks = ranks_of(given.loader);
  NaiveChoice chosen{resolved(given, ranks), {}};
  if (!given.loader.use_native_loading) {
    chosen = choose_naive(chosen.settings, level_for(saved), *options.io);
  }
  const config::Settings& settings = chosen.settings;
  const unsigned num_workers = workers_of(settings.loader);
  auto store = std::make_shared<DataSetSource>(
      DataSetSourceOptions{.settings = settings,
                           .io = *options.io,
                           .level = level_for(saved),
                           .num_workers = std::max(1U, std::min(num_workers, count_cpus().allowed)),
                           .stop = options.stop});
  FeedSetup setup;
  setup.store = store;
  if (!settings.loader.use_native_loading) {
    setup.store = std::make_shared<NaiveSource>(store, chosen.npy_folder, *options.io);
  }
  if (options.with_instant_rows) setup.store = std::make_shared<InstantSource>(store);
  if (options.delay.count() > 0) {
    setup.store = std::make_shared<DelayedSource>(setup.store, options.delay);
  }
  setup.order = order_settings(settings, store->index());
  setup.rows = store->order_rows(settings.rows.max_text_tokens
                                     ? static_cast<std::uint64_t>(*settings.rows.max_text_tokens)
                                     : std::numeric_limits<std::uint64_t>::max());
  setup.ranks = ranks;
  setup.dtype = *settings.batch.batch_dtype;
  setup.extras = extra_parts(settings.batch, *store);
  setup.loading = loading_options(settings, num_workers);
  setup.bad_rows = bad_row_limits(settings.data, store->index());
  setup.identity = identity_of(settings, *store, setup.order);
  setup.num_epochs = options.num_epochs;
  DeviceView view;
  ModeReport mode = choose_way(
      {settings, *store, options, saved ? saved->identity.path : std::string()}, setup, view);
  if (saved) {
    check_same(saved->identity, setup.identity);
    setup.start = saved->position;
  }
  if (is_incomplete(settings, *store)) {
    setup.build =
        std::make_shared<BackgroundBuild>(given, *options.io, store->wanted().mel().level());
  }
  const bool has_mode = setup.fallbacks != nullptr;
  if (setup.device == nullptr && wishes_for_gpu(settings)) {
    refuse_gpu_wishes(settings, why_on_host(settings, options), setup);
  }
  OpenedFeed opened{Feed(std::move(setup)), std::move(store), std::move(mode)};
  if (has_mode) opened.mode.lines = lines_of(opened.mode, view, opened.feed);
  return opened;
}

Feed Feed::open(const FeedOptions& options) {
  config::SettingsInputs inputs;
  const auto set = [&](const char* path, std::string text) {
    inputs.command_line.push_back({path, std::move(text), std::string("FeedOptions ") + path});
  };
  set("data.path", options.data);
  if (!options.cache.empty()) set("cache.dir", options.cache);
  set("features.preset", options.preset);
  set("data.batch_frames", std::to_string(options.batch_frames));
  if (options.batch_size > 0) set("data.batch_size", std::to_string(options.batch_size));
  set("seed", std::to_string(options.seed));
  if (options.num_workers) set("data.num_workers", std::to_string(*options.num_workers));
  if (options.prefetch_buffer_size) {
    set("data.prefetch_buffer_size", std::to_string(*options.prefetch_buffer_size));
  }
  set("data.preprocessing_mode", options.preprocessing_mode);
  set("data.batch_dtype", options.batch_dtype);
  if (options.rank) set("data.rank", std::to_string(*options.rank));
  if (options.world_size) set("data.world_size", std::to_string(*options.world_size));
  set("device", options.device.text());
  return open_feed(config::load_settings(inputs).settings).feed;
}

}  // namespace stoker::feed
