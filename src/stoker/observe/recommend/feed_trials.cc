#include "stoker/observe/recommend/feed_trials.h"

#include <malloc.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "stoker/base/clock.h"
#include "stoker/base/cpu_count.h"
#include "stoker/cache/build/precompute.h"
#include "stoker/observe/device_source.h"
#include "stoker/observe/feed_consumer.h"
#include "stoker/observe/resource_use.h"

namespace stoker::observe {
namespace {

constexpr double kWarmShare = 0.15;   // of a run, before it
constexpr double kLongestEpochS = 3;  // given to the first epoch of a tier

bool reads_mels(FeedTier tier) {
  return tier == FeedTier::kCached || tier == FeedTier::kMemory || tier == FeedTier::kGpu;
}

bool is_on_gpu(const feed::OpenedFeed& opened) {
  return opened.mode.choice.mode != feed::GpuMode::kCpu;
}

}  // namespace

config::Settings with_choice(config::Settings settings, const FeedChoice& choice) {
  using Mode = config::PreprocessingMode;
  settings.loader.num_workers = choice.num_workers;
  settings.loader.prefetch_buffer_size = choice.depth;
  settings.loader.preprocessing_mode =
      choice.tier == FeedTier::kFiles ? Mode::kRuntime : Mode::kPrecompute;
  settings.cache.content =
      choice.tier == FeedTier::kPcm ? config::CacheContent::kPcm : config::CacheContent::kMel;
  settings.cache.tier = choice.tier == FeedTier::kMemory ? config::CacheTier::kRam
                        : choice.tier == FeedTier::kGpu  ? config::CacheTier::kGpu
                                                         : config::CacheTier::kDisk;
  // On a GPU these are mels from the cache, whatever else could make them there.
  if (reads_mels(choice.tier)) settings.gpu.mel_place = config::MelPlace::kCpu;
  return settings;
}

FeedTrials::FeedTrials(TrialOptions options) : options_(std::move(options)) {}

FeedTrials::~FeedTrials() {
  opened_.reset();
  std::error_code ignored;
  for (const auto& [folder, is_whole] : built_) std::filesystem::remove_all(folder, ignored);
}

std::string FeedTrials::folder_of(FeedTier tier) const {
  if (tier == FeedTier::kFiles) return {};
  if (reads_mels(tier) && options_.has_cache) return {};
  return options_.cache_prefix + (tier == FeedTier::kPcm ? "-pcm" : "-mel");
}

config::Settings FeedTrials::settings_for(const FeedChoice& choice) const {
  config::Settings settings = with_choice(options_.settings, choice);
  settings.loader.auto_tune_performance = false;
  if (const std::string folder = folder_of(choice.tier); !folder.empty())
    settings.cache.dir = folder;
  return settings;
}

void FeedTrials::build_cache(const FeedChoice& choice) {
  const std::string folder = folder_of(choice.tier);
  if (folder.empty() || built_[folder]) return;
  cache::PrecomputeOptions build;
  build.num_workers = count_cpus().allowed;
  build.stop = options_.stop;
  static_cast<void>(cache::precompute(settings_for(choice), *options_.io, build));
  built_[folder] = true;
  options_.say("built a cache for the runs, " + std::string(name_of(choice.tier)));
}

// The first epoch is had before anything counts: pages are touched and shapes made.
void FeedTrials::open(const FeedChoice& choice, double warm_s) {
  opened_.reset();
  tier_.reset();
  build_cache(choice);
  opened_ = std::make_unique<feed::OpenedFeed>(feed::open_feed(
      settings_for(choice), {.io = options_.io, .wrap = options_.wrap, .stop = options_.stop}));
  tier_ = choice.tier;
  const Stopwatch watch;
  const std::uint64_t num_batches = opened_->feed.num_batches();
  for (std::uint64_t i = 0; i < num_batches && watch.seconds() < warm_s; ++i)
    if (!next_of_any_epoch(opened_->feed, options_.stop)) break;
}

double FeedTrials::consume(double seconds) {
  const ConsumerOptions consumer{.warm_s = kWarmShare * seconds,
                                 .warm_batches = opened_->feed.depth() + 2,
                                 .seconds = seconds,
                                 .stop = options_.stop};
  if (!is_on_gpu(*opened_)) {
    FeedSource source(opened_->feed);
    return run_consumer(source, consumer).clips_per_s();
  }
  DeviceSource source(opened_->feed, {.device = opened_->mode.choice.model_device});
  return run_consumer(source, consumer).clips_per_s();
}

std::optional<double> FeedTrials::run(const FeedChoice& choice, double seconds) {
  if (refusals_.contains(choice.tier)) return std::nullopt;
  try {
    if (tier_ != choice.tier) open(choice, std::min(kLongestEpochS, 4 * seconds));
    opened_->feed.set_num_workers(choice.num_workers);
    opened_->feed.set_depth(choice.depth);
    const double rate = consume(seconds);
    return rate > 0 ? std::optional(rate) : std::nullopt;
  } catch (const Failure& failure) {
    if (options_.stop.stop_requested()) throw;
    refusals_.emplace(choice.tier, failure.error());
    opened_.reset();
    tier_.reset();
    return std::nullopt;
  }
}

FeedTrials::Held FeedTrials::measure_held(const FeedChoice& choice, double seconds) {
  opened_.reset();
  tier_.reset();
  ::malloc_trim(0);  // what earlier runs left would hide what this one takes
  const std::uint64_t before = process_memory(*options_.io).held_bytes();
  open(choice, seconds);
  static_cast<void>(consume(seconds));
  const std::uint64_t after = process_memory(*options_.io).held_bytes();
  return {.grown_bytes = after - std::min(after, before),
          .buffer_bytes = opened_->feed.buffer_bytes()};
}

}  // namespace stoker::observe
