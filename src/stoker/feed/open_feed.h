// Opens a feed from the settings of a run: data, cache, order, engine and GPU joined.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "stoker/base/io/io.h"
#include "stoker/config/settings.h"
#include "stoker/feed/device/transfer_plan.h"
#include "stoker/feed/feed.h"
#include "stoker/feed/source/data_set_source.h"

namespace stoker::feed {

struct OpenOptions {
  Io* io = &system_io();
  std::optional<std::string> state = {};  // a saved line to go on from; its numeric path is kept
  std::string state_origin = {};  // what Feed::state_origin() gave then, so that refusals name it
  std::uint64_t num_epochs = std::numeric_limits<std::uint64_t>::max();
  std::chrono::microseconds delay{};  // random time before each utterance, at most; for tests
  bool with_instant_rows = false;     // features are not read (InstantSource); for benchmarks
  // Put between the loader and the feed: for what measures or disturbs the reading.
  std::function<std::shared_ptr<const UtteranceSource>(std::shared_ptr<const UtteranceSource>)>
      wrap = {};
  std::stop_token stop = {};
  std::string record_folder = {};       // for records.ring; empty: a file that goes with the feed
  const DeviceView* devices = nullptr;  // null: asks the driver, if a GPU may be used at all
};

// The mode a feed runs in, and how it was chosen.
struct ModeReport {
  ModeChoice choice;
  std::vector<std::string> lines;  // as a run prints them; empty when no GPU was asked for
  MelRoute mel;                    // of a feed into GPU memory
  std::string text;                // the route in words, "mel on GPU 0 from PCM16"
};

struct OpenedFeed {
  Feed feed;
  std::shared_ptr<const DataSetSource> source;
  ModeReport mode = {};
  std::string building = {};  // the folder of the cache that is completed meanwhile; empty: none
};

// As `data check` and `precompute` count: a row that comes empty is a rejected one, whether the
// index, the cache or this run found it bad.
data::IndexCounts count_rows(const OpenedFeed& opened);

// "3 of 200 rows rejected; the first: …": rows that will not come; empty where all do.
std::string rejects_line(const OpenedFeed& opened);

// Device `auto` is the CPU here; commands call resolve_auto_device() before.
// Throws as the Feed does, GpuError, and E-FEED-STATE or E-FEED-CHANGED for a state that does not
// fit.
OpenedFeed open_feed(const config::Settings& settings, const OpenOptions& options = {});

}  // namespace stoker::feed
