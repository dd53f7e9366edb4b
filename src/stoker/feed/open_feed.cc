#include "stoker/feed/open_feed.h"

#include <algorithm>
#include <concepts>
#include <set>
#include <utility>

#include "stoker/base/cpu_count.h"
#include "stoker/base/number_text.h"
#include "stoker/base/simd_level.h"
#include "stoker/cache/read/cache_location.h"
#include "stoker/config/load.h"
#include "stoker/data/features/feature_spec.h"
#include "stoker/feed/baseline/loader_choice.h"
#include "stoker/feed/device/mel_route.h"
#include "stoker/feed/from_settings.h"

namespace stoker::feed {
namespace {

// The level a saved state was made with, where this processor has it.
SimdLevel level_for(const std::optional<FeedState>& saved) {
  const SimdLevel own = simd_level().take_or_raise();
  if (!saved) return own;
  const Result<SimdLevel> same = choose_simd_level(saved->identity.path, detect_simd_level());
  return same ? *same : own;
}

std::shared_ptr<DataSetSource> open_source(const config::Settings& settings, SimdLevel level,
                                           const OpenOptions& options) {
  const unsigned num_workers = std::min(workers_of(settings.loader), count_cpus().allowed);
  return std::make_shared<DataSetSource>(
      DataSetSourceOptions{.settings = settings,
                           .io = *options.io,
                           .level = level,
                           .num_workers = std::max(1U, num_workers),
                           .stop = options.stop});
}

// Whether mode `auto` left something to build.
bool is_incomplete(const config::Settings& settings, const DataSetSource& source) {
  if (settings.loader.preprocessing_mode != config::PreprocessingMode::kAuto) return false;
  const bool would_read = settings.cache.content != config::CacheContent::kMel;
  if (source.augmentation() != nullptr && !would_read) return false;
  return !source.is_all_cached();
}

std::string cache_folder_of(const config::Settings& settings, Io& io) {
  return cache::find_cache_location(settings, data::FeatureIdentity(settings).features, io).folder;
}

std::vector<std::string> lines_of(const TransferPlan& plan, const Feed& feed) {
  if (plan.fallbacks == nullptr) return {};
  ModeFacts facts{.prefetching = plan.text};
  if (plan.setup != nullptr) facts.buffer_reason = plan.setup->buffer_reason;
  if (const auto device = feed.stats().device) {
    facts.buffer_size = device->num_slots;
    facts.used_bytes = device->total_bytes();
    facts.allowed_bytes = device->allowed_bytes;
  }
  return mode_lines(plan.choice, plan.view, facts);
}

std::string text_of(const std::string& value) { return value; }
std::string text_of(const Device& value) { return value.text(); }
std::string text_of(std::integral auto value) { return std::to_string(value); }

// The options that are given, as if they came from a command line.
config::SettingsInputs inputs_of(const FeedOptions& options) {
  config::SettingsInputs inputs;
  const auto set = [&](const char* path, const auto& value) {
    if (!value) return;
    inputs.command_line.push_back({path, text_of(*value), std::string("FeedOptions ") + path});
  };
  set("data.path", std::optional(options.data));
  set("cache.dir", options.cache);
  set("features.preset", options.preset);
  set("data.batch_frames", options.batch_frames);
  set("data.batch_size", options.batch_size);
  set("seed", options.seed);
  set("data.num_workers", options.num_workers);
  set("data.prefetch_buffer_size", options.prefetch_buffer_size);
  set("data.preprocessing_mode", options.preprocessing_mode);
  set("data.batch_dtype", options.batch_dtype);
  set("data.rank", options.rank);
  set("data.world_size", options.world_size);
  set("device", options.device);
  return inputs;
}

}  // namespace

OpenedFeed open_feed(const config::Settings& given, const OpenOptions& options) {
  std::optional<FeedState> saved;
  if (options.state) saved = parse_state(*options.state);
  const SimdLevel level = level_for(saved);
  const RankRows ranks = ranks_of(given.loader);
  LoaderChoice loader = choose_loader(with_automatic_values(given, ranks), *options.io);
  loader.with_instant_rows = options.with_instant_rows;
  loader.longest_delay = options.delay;
  const config::Settings& settings = loader.settings;
  const auto source = open_source(settings, level, options);
  FeedSetup setup = setup_of(settings, ranks, source);
  setup.store = make_loader(source, loader, *options.io);
  if (options.wrap) setup.store = options.wrap(std::move(setup.store));
  setup.num_epochs = options.num_epochs;
  setup.records.io = options.io;
  setup.records.run_folder = options.record_folder;
  TransferPlan plan = plan_transfer({.settings = settings,
                                     .store = *source,
                                     .devices = options.devices,
                                     .num_workers = setup.loading.num_workers,
                                     .saved_path = saved ? saved->identity.path : std::string()});
  setup.device = plan.setup;
  setup.fallbacks = plan.fallbacks;
  if (plan.mel.source == MelSource::kGpu) setup.identity.path = kCudaPath;
  if (saved) {
    check_same(saved->identity, setup.identity, {options.state_origin, setup.describe_origin});
    setup.start = saved->position;
  }
  if (setup.device == nullptr) refuse_gpu_wishes(settings, options.devices, setup.fallbacks);
  std::string building;
  if (is_incomplete(settings, *source)) {
    building = cache_folder_of(given, *options.io);
    setup.build =
        std::make_shared<BackgroundBuild>(given, *options.io, source->spec().mel().level());
  }
  OpenedFeed opened{.feed = Feed(std::move(setup)), .source = source};
  opened.building = std::move(building);
  opened.mode.lines = lines_of(plan, opened.feed);
  opened.mode.choice = std::move(plan.choice);
  opened.mode.mel = std::move(plan.mel);
  opened.mode.text = std::move(plan.text);
  return opened;
}

data::IndexCounts count_rows(const OpenedFeed& opened) {
  const std::vector<std::uint32_t> left_out = opened.source->rows_left_out();
  std::set<std::uint32_t> bad(left_out.begin(), left_out.end());
  for (const BadRow& row : opened.feed.bad_rows()) bad.insert(row.row);
  data::IndexCounts counts = opened.source->index().counts();
  counts.rejected += bad.size();
  counts.accepted -= bad.size();
  return counts;
}

std::string rejects_line(const OpenedFeed& opened) {
  const data::IndexCounts counts = count_rows(opened);
  if (counts.rejected == 0) return {};
  const data::Index& index = opened.source->index();
  const std::vector<std::uint32_t> left_out = opened.source->rows_left_out();
  std::string first;
  if (!index.rejects().empty()) {
    first = error_line(index.rejects().front().error);
  } else if (!left_out.empty()) {
    first = index[left_out.front()].id;
  } else {
    first = error_line(opened.feed.bad_rows().front().error);
  }
  return grouped(counts.rejected) + " of " + grouped(counts.rows) +
         " rows rejected; the first: " + first;
}

Feed Feed::open(const FeedOptions& options) {
  return open_feed(config::load_settings(inputs_of(options)).settings).feed;
}

}  // namespace stoker::feed
