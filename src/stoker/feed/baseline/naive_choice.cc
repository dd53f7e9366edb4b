#include "stoker/feed/baseline/naive_choice.h"

#include "stoker/cache/build/wanted_cache.h"
#include "stoker/cache/cache_location.h"
#include "stoker/feed/baseline/npy_folder.h"
#include "stoker/feed/errors.h"
#include "stoker/feed/source/augmentation.h"

namespace stoker::feed {

NaiveChoice choose_naive(const config::Settings& settings, SimdLevel level, Io& io) {
  using Mode = config::PreprocessingMode;
  NaiveChoice choice{settings, {}};
  Mode& mode = choice.settings.loader.preprocessing_mode;
  if (Augmentation::is_on(settings.augment)) mode = Mode::kRuntime;
  if (mode == Mode::kRuntime) return choice;
  const Digest128 features = cache::wanted_head(settings, level).features;
  const std::string cache_folder = cache::find_cache_place(settings, features, io).folder;
  if (has_npy_folder(io, cache_folder)) {
    mode = Mode::kPrecompute;
    choice.npy_folder = npy_folder_of(cache_folder);
  } else if (mode == Mode::kPrecompute) {
    raise({.code = &kFeedNotCached,
           .place = {.file = npy_folder_of(cache_folder)},
           .promised = "one .npy file a clip, made from the cache as it is now",
           .found = "no such files",
           .cure = "`stoker bench feed --loader naive --path cached` writes them; or use "
                   "preprocessing_mode runtime"});
  } else {
    mode = Mode::kRuntime;
  }
  return choice;
}

}  // namespace stoker::feed
