#include "stoker/observe/recommend/recommend.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "stoker/base/clock.h"
#include "stoker/base/number_text.h"
#include "stoker/base/progress.h"
#include "stoker/base/simd_level.h"
#include "stoker/cache/build/precompute.h"
#include "stoker/cache/read/cache_location.h"
#include "stoker/data/errors.h"
#include "stoker/data/from_settings.h"
#include "stoker/data/voice/data_set_maker.h"
#include "stoker/feed/source/augmentation.h"
#include "stoker/observe/feed_limits.h"
#include "stoker/observe/resource_use.h"

namespace stoker::observe {
namespace {

namespace fs = std::filesystem;

constexpr double kMadeClipsPerBudgetS = 10, kFewestMade = 60, kMostMade = 600;
constexpr double kMostTriedAudioS = 3 * 3600;  // 150 MB of mels, 480 MB of samples
constexpr std::uint64_t kStorageBytes = std::uint64_t{64} << 20U;
constexpr double kLargeBudgetS = 20;  // from which the storage gets as much
constexpr std::uint64_t kBufferShare = 8;
constexpr std::uint64_t kMostBufferBytes = std::uint64_t{1} << 30U;
constexpr std::uint64_t kLeastBufferBytes = std::uint64_t{16} << 20U;
constexpr double kGpuCacheShare = 0.25;  // of the card that mels may stay in
constexpr unsigned kMostDepth = 32;
constexpr double kHeldS = 0.3;

// A folder of ours that goes with this object.
class ScratchFolder {
 public:
  explicit ScratchFolder(std::string path) : path_(std::move(path)) {}
  ~ScratchFolder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::string own_name(std::string_view what) {
  return std::string(what) + "-" + std::to_string(::getpid()) + "-" +
         std::to_string(system_clock().unix_time_ns());
}

class Recommender {
 public:
  explicit Recommender(const RecommendOptions& options)
      : options_(options),
        settings_(options.settings),
        made_(options.settings.data.path.empty() && options.settings.data.sources.empty()
                  ? (fs::temp_directory_path() / own_name("stoker-recommend")).string()
                  : std::string()) {}

  // A folder for caches that nothing is in goes again.
  ~Recommender() {
    std::error_code ignored;
    if (!made_parent_.empty()) fs::remove(made_parent_, ignored);
  }
  Recommender(const Recommender&) = delete;
  Recommender& operator=(const Recommender&) = delete;

  Recommendation make() {
    findings_.start_bytes = process_memory(*options_.io).held_bytes();
    find_gpu_facts();
    look_at_machine();
    if (!made_.path().empty()) make_data();
    look_at_data();
    run_feed();
    Advice advice = advise(findings_);
    return {.findings = std::move(findings_), .advice = std::move(advice)};
  }

 private:
  double left_s() const { return std::max(0.5, options_.budget_s - watch_.seconds()); }

  void find_gpu_facts() {
    cuda::DeviceProbe probe = cuda::probe_devices();
    findings_.why_no_gpu = probe.why_none;
    const std::optional<KnownGpu> named =
        options_.gpu.empty() ? std::nullopt : std::optional(gpu_by_name(options_.gpu));
    const cuda::DeviceInfo* const here = probe.devices.empty() ? nullptr : &probe.devices.front();
    const std::optional<KnownGpu> known_here = here ? find_gpu(here->name) : std::nullopt;
    const bool is_here = here && (!named || (known_here && known_here->name == named->name));
    if (is_here) {
      findings_.gpu = GpuFindings{.name = here->name,
                                  .memory_mib = here->memory_bytes >> 20U,
                                  .has_bf16 = here->compute_major >= 8,
                                  .is_here = true,
                                  .known = known_here};
    } else if (named) {
      findings_.gpu = GpuFindings{.name = std::string(named->name),
                                  .memory_mib = named->memory_mib,
                                  .has_bf16 = named->has_bf16,
                                  .is_here = false,
                                  .known = named};
    }
    findings_.machine.gpus = std::move(probe);
  }

  void look_at_machine() {
    MachineFacts& machine = findings_.machine;
    machine.cpus = count_cpus();
    machine.memory = read_memory_facts(*options_.io);
    if (findings_.gpu && findings_.gpu->is_here) {
      const int device = machine.gpus.devices.front().index;
      machine.bus_gb_per_s =
          measure_transfer_limits({.device = device, .seconds = 0.2}).bus_bytes_per_s / 1e9;
    }
    // What the machine has free is no measure where this process may take less.
    if (settings_.loader.buffer_memory || machine.memory.limited_by.empty()) return;
    const std::uint64_t bytes = std::clamp(machine.memory.available_bytes / kBufferShare,
                                           kLeastBufferBytes, kMostBufferBytes);
    findings_.buffer_memory_bytes = bytes >> 20U << 20U;
    settings_.loader.buffer_memory = config::Bytes{*findings_.buffer_memory_bytes};
  }

  void make_data() {
    const auto num_clips = static_cast<std::uint64_t>(
        std::clamp(kMadeClipsPerBudgetS * options_.budget_s, kFewestMade, kMostMade));
    options_.say("no data set was named: making " + grouped(num_clips) + " clips like LJSpeech");
    data::voice::make_data_set(*options_.io,
                               {.out = made_.path(),
                                .num_utterances = num_clips,
                                .lengths = data::voice::parse_lengths("ljspeech").take_or_raise(),
                                .num_workers = count_cpus().allowed},
                               options_.stop, no_progress())
        .take_or_raise();
    settings_.data.path = made_.path();
    findings_.is_made_data = true;
  }

  void look_at_data() {
    options_.say("reading the data set's index");
    const data::Index index =
        data::open_index(data::index_options_of(settings_), *options_.io, options_.stop);
    findings_.data = survey_data(index, settings_);
    options_.say(survey_text(findings_.data));
    const Digest128 features = cache::wanted_head(settings_, simd_level().take_or_raise()).features;
    cache_folder_ = cache::find_cache_location(settings_, features, *options_.io).folder;
    has_cache_ = !is_augmented() && is_cached();
    const double memory = static_cast<double>(findings_.machine.memory.available_bytes);
    const double room_s =
        memory / 8 /
        std::max(1.0, findings_.data.pcm_bytes / std::max(1.0, findings_.data.audio_s));
    const double audio_s = std::min(kMostTriedAudioS, room_s);
    if (!has_cache_ && findings_.data.audio_s > audio_s) {
      findings_.share_tried = audio_s / findings_.data.audio_s;
      settings_.data.train_subset_fraction *= findings_.share_tried;
      settings_.data.eval_subset_fraction *= findings_.share_tried;
    }
    measure_disk();
  }

  // Gain and noise are put into samples: mels of a cache are of no use then.
  bool is_augmented() const { return feed::Augmentation::is_on(settings_.augment); }

  // Whether every row is in the cache already: then the runs read it, and build none for mels.
  bool is_cached() const {
    config::Settings settings = settings_;
    settings.loader.preprocessing_mode = config::PreprocessingMode::kPrecompute;
    settings.cache.content = config::CacheContent::kMel;
    try {
      static_cast<void>(feed::open_feed(settings, {.io = options_.io, .stop = options_.stop}));
      return true;
    } catch (const Failure& failure) {
      if (options_.stop.stop_requested()) throw;
      return false;
    }
  }

  // In the folder that holds the caches, for that is what a feed reads from.
  void measure_disk() {
    options_.say("measuring the storage");
    const std::string parent = fs::path(cache_folder_).parent_path().string();
    std::error_code ignored;
    const bool was_there = fs::exists(parent, ignored);
    make_folders(*options_.io, parent).take_or_raise();
    made_parent_ = was_there ? std::string() : parent;
    const std::uint64_t size_bytes =
        options_.budget_s >= kLargeBudgetS ? kStorageBytes : kStorageBytes / 8;
    findings_.machine.storage = measure_storage(*options_.io, parent, size_bytes).take_or_raise();
  }

  std::vector<FeedTier> tiers() const {
    const DataSurvey& data = findings_.data;
    const auto free_bytes = static_cast<double>(findings_.machine.storage.free_bytes);
    const auto memory = static_cast<double>(findings_.machine.memory.available_bytes);
    std::vector<FeedTier> tiers{FeedTier::kFiles};
    const bool has_mels = !is_augmented() && (has_cache_ || data.mel_bytes < free_bytes);
    if (has_mels) tiers.push_back(FeedTier::kCached);
    if (data.pcm_bytes < free_bytes) tiers.push_back(FeedTier::kPcm);
    if (is_augmented()) return tiers;
    if (tiers.size() > 1 && data.mel_bytes < memory / 2) tiers.push_back(FeedTier::kMemory);
    const bool is_here = findings_.gpu && findings_.gpu->is_here;
    if (is_here &&
        data.mel_bytes < kGpuCacheShare * static_cast<double>(findings_.gpu->memory_mib << 20U))
      tiers.push_back(FeedTier::kGpu);
    return tiers;
  }

  void run_feed() {
    options_.say("running the feed with different settings, up to " + seconds_text(left_s()));
    FeedTrials trials({.settings = settings_,
                       .cache_prefix = cache_folder_ + "-" + own_name("recommend"),
                       .has_cache = has_cache_,
                       .io = options_.io,
                       .stop = options_.stop,
                       .say = options_.say,
                       .wrap = options_.wrap});
    findings_.search = search_choices(
        {.tiers = tiers(),
         .most_workers = findings_.machine.cpus.allowed,
         .most_depth = kMostDepth,
         .budget_s = left_s(),
         .stop = options_.stop},
        [&](const FeedChoice& choice, double seconds) { return trials.run(choice, seconds); });
    if (options_.stop.stop_requested())
      raise({.code = &data::kDataStopped, .found = "stopped before the runs were done"});
    findings_.refusals = trials.refusals();
    if (findings_.search.best)
      findings_.held = trials.measure_held(findings_.search.best->choice, kHeldS);
  }

  const RecommendOptions& options_;
  config::Settings settings_;
  ScratchFolder made_;
  Stopwatch watch_;
  Findings findings_;
  std::string cache_folder_;
  std::string made_parent_;
  bool has_cache_ = false;
};

}  // namespace

Recommendation recommend(const RecommendOptions& options) { return Recommender(options).make(); }

}  // namespace stoker::observe
