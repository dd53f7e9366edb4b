#include "stoker/bench/feed_bench_case.h"

#include <array>
#include <utility>

#include "stoker/base/number_text.h"
#include "stoker/bench/errors.h"
#include "stoker/cache/build/precompute.h"
#include "stoker/cache/read/cache_location.h"
#include "stoker/feed/baseline/baseline_sources.h"
#include "stoker/feed/source/augmentation.h"

namespace stoker::bench {
namespace {

constexpr std::array<std::string_view, 2> kLoaderNames{"naive", "native"};
constexpr std::array<std::string_view, 4> kPathNames{"cached", "pcm", "files", "resident"};

template <class Choice, std::size_t kCount>
Choice choice_from(std::string_view name, const std::array<std::string_view, kCount>& names) {
  for (std::size_t i = 0; i < kCount; ++i) {
    if (names[i] == name) return static_cast<Choice>(i);
  }
  std::string promised = "one of";
  for (const std::string_view each : names) promised.append(" ").append(each);
  raise({.code = &kBenchChoice, .promised = std::move(promised), .found = std::string(name)});
}

// A cache holds one content under one name; samples get a folder beside that of the mels.
std::string pcm_folder(const config::Settings& settings) {
  const Digest128 features = cache::wanted_head(settings, simd_level().take_or_raise()).features;
  return cache::find_cache_location(settings, features, system_io()).folder + "-pcm";
}

}  // namespace

std::string_view name_of(FeedLoader loader) {
  return kLoaderNames[static_cast<std::size_t>(loader)];
}
std::string_view name_of(FeedPath path) { return kPathNames[static_cast<std::size_t>(path)]; }
FeedLoader loader_from(std::string_view name) {
  return choice_from<FeedLoader>(name, kLoaderNames);
}
FeedPath path_from(std::string_view name) { return choice_from<FeedPath>(name, kPathNames); }

config::Settings with_path(config::Settings settings, FeedLoader loader, FeedPath path) {
  using Mode = config::PreprocessingMode;
  settings.loader.use_native_loading = loader == FeedLoader::kNative;
  settings.loader.preprocessing_mode =
      path == FeedPath::kFiles ? Mode::kRuntime : Mode::kPrecompute;
  // On a GPU these are mels from the cache, whatever else could make them there.
  if (path == FeedPath::kCached) settings.gpu.mel_place = config::MelPlace::kCpu;
  if (path == FeedPath::kResident) settings.cache.tier = config::CacheTier::kGpu;
  const bool augments = feed::Augmentation::is_on(settings.augment);
  const bool reads_samples =
      path == FeedPath::kPcm ||
      (path == FeedPath::kCached && augments && loader == FeedLoader::kNative) ||
      (path == FeedPath::kResident && settings.gpu.mel_place == config::MelPlace::kGpu);
  if (reads_samples) {
    settings.cache.dir = pcm_folder(settings);
    settings.cache.content = config::CacheContent::kPcm;
  }
  return settings;
}

void prepare_case(Io& io, const FeedBenchCase& wanted, const PrepareOptions& options) {
  if (wanted.path == FeedPath::kFiles) return;
  cache::PrecomputeOptions build;
  build.num_workers = options.num_workers;
  build.stop = options.stop;
  build.say = options.say;
  build.warn = options.say;
  const cache::PrecomputeReport report = cache::precompute(wanted.settings, io, build);
  if (report.build.rows_built > 0) {
    options.say("built " + counted(report.build.rows_built, "utterance", "utterances") + " in " +
                report.place.folder);
  }
  if (wanted.loader == FeedLoader::kNaive) {
    feed::export_npy_folder(io, report.place.folder, {options.num_workers, options.stop});
  }
}

}  // namespace stoker::bench
