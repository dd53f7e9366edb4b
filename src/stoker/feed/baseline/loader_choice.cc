#include "stoker/feed/baseline/loader_choice.h"

#include <utility>

#include "stoker/cache/read/cache_location.h"
#include "stoker/data/features/feature_spec.h"
#include "stoker/feed/baseline/baseline_sources.h"
#include "stoker/feed/errors.h"
#include "stoker/feed/source/augmentation.h"

namespace stoker::feed {

LoaderChoice choose_loader(const config::Settings& settings, Io& io) {
  using Mode = config::PreprocessingMode;
  LoaderChoice choice{.settings = settings, .is_naive = !settings.loader.use_native_loading};
  if (!choice.is_naive) return choice;
  Mode& mode = choice.settings.loader.preprocessing_mode;
  if (Augmentation::is_on(settings.augment)) mode = Mode::kRuntime;
  if (mode == Mode::kRuntime) return choice;
  const Digest128 features = data::FeatureIdentity(settings).features;
  const std::string cache_folder = cache::find_cache_location(settings, features, io).folder;
  if (has_npy_folder(io, cache_folder)) {
    mode = Mode::kPrecompute;
    choice.npy_folder = npy_folder_of(cache_folder);
  } else if (mode == Mode::kPrecompute) {
    raise({.code = &kFeedNotCached,
           .place = {.file = npy_folder_of(cache_folder)},
           .promised = "one .npy file per utterance, made from the present cache",
           .found = "none",
           .cure = "`stoker bench feed --loader naive --path cached` writes them; or use "
                   "preprocessing_mode runtime"});
  } else {
    mode = Mode::kRuntime;
  }
  return choice;
}

std::shared_ptr<const UtteranceSource> make_loader(std::shared_ptr<const DataSetSource> source,
                                                   const LoaderChoice& choice, Io& io) {
  std::shared_ptr<const UtteranceSource> loader = source;
  if (choice.is_naive) loader = std::make_shared<NaiveSource>(source, choice.npy_folder, io);
  if (choice.with_instant_rows) loader = std::make_shared<InstantSource>(std::move(source));
  if (choice.longest_delay.count() <= 0) return loader;
  return std::make_shared<DelayedSource>(std::move(loader), choice.longest_delay);
}

}  // namespace stoker::feed
