// Which loader delivers a feed's utterances: the native one, the naive one, or a stand-in that
// shows something about the feed itself.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "stoker/base/io/io.h"
#include "stoker/config/settings.h"
#include "stoker/feed/source/data_set_source.h"

namespace stoker::feed {

struct LoaderChoice {
  config::Settings settings;  // for the source that it reads through
  bool is_naive = false;
  std::string npy_folder = {};                // of the naive loader; empty: it reads sound files
  bool with_instant_rows = false;             // features are not read; for benchmarks
  std::chrono::microseconds longest_delay{};  // before each utterance, random; for tests
};

// The native loader leaves the settings as they are. Without loader.use_native_loading it is the
// naive one: `precompute` reads the .npy files beside the cache, `runtime` the sound files, `auto`
// the first where they exist. Throws E-FEED-NOTCACHED.
LoaderChoice choose_loader(const config::Settings& settings, Io& io);

std::shared_ptr<const UtteranceSource> make_loader(std::shared_ptr<const DataSetSource> source,
                                                   const LoaderChoice& choice, Io& io);

}  // namespace stoker::feed
