// Opens a feed from the settings of a run: index, cache, order and engine joined.
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "stoker/base/io.h"
#include "stoker/base/simd_level.h"
#include "stoker/config/settings.h"
#include "stoker/feed/feed.h"
#include "stoker/feed/utterance_store.h"

namespace stoker::feed {

struct OpenOptions {
  Io* io = &system_io();
  std::string state = {};  // a saved line to go on from; its numeric path is kept
  std::uint64_t num_epochs = std::numeric_limits<std::uint64_t>::max();
  std::chrono::microseconds delay{};  // random time before each row, at most; for tests
  std::stop_token stop = {};
};

struct OpenedFeed {
  Feed feed;
  std::shared_ptr<const UtteranceStore> store;
};

// Throws as the Feed does, and E-FEED-STATE or E-FEED-CHANGED for a state that does not fit.
OpenedFeed open_feed(const config::Settings& settings, const OpenOptions& options = {});

// Rank and world size: as set, else as torchrun, Slurm or Open MPI tell this process.
RankRows ranks_of(const config::LoaderSettings& loader);

}  // namespace stoker::feed
