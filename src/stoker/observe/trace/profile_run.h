// Runs a feed with a consumer for a while and keeps where the time went: what `stoker profile`
// does.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <stop_token>
#include <string>

#include "stoker/base/io/io.h"
#include "stoker/config/settings.h"
#include "stoker/feed/open_feed.h"
#include "stoker/observe/trace/feed_profile.h"
#include "stoker/observe/trace/trace_recorder.h"

namespace stoker::observe {

// Where a trace goes; both empty: there is none.
struct TraceTarget {
  std::string path{};
  TraceWriter::Sink sink{};  // instead of a file; the format is that of `path`

  bool is_wanted() const { return !path.empty(); }
};
// Throws what opening gives.
TraceWriter open_trace(Io& io, const TraceTarget& target, const TraceHead& head);

struct ProfileOptions {
  config::Settings settings{};  // device `auto` is resolved already; records are kept in any case
  Io* io = &system_io();
  double step_s = 0;  // of the consumer; 0: it asks again at once
  double seconds = 5;
  std::uint64_t max_batches = std::numeric_limits<std::uint64_t>::max();
  TraceTarget trace{};
  // Put between the loader and the feed.
  decltype(feed::OpenOptions::wrap) wrap{};
  std::stop_token stop{};
};

struct ProfileReport {
  FeedProfile profile{};
  std::optional<MachineWindow> machine{};
  std::optional<TraceSummary> trace{};
  // What the feed itself counted, also of batches that were filled and not handed out.
  std::vector<pipeline::StageTime> counted{};
  std::uint64_t num_filled = 0;
  std::uint64_t num_lost = 0;  // records that were overwritten before they were read
};

// Throws as open_feed() does, and what ended the writing of the trace.
ProfileReport profile_feed(const ProfileOptions& options);

// From the records that a training left or writes: the last 4,096 batches. `path` is a run's
// folder or a file of records.
ProfileReport profile_run(const std::string& path, const TraceTarget& trace, Io& io = system_io());

}  // namespace stoker::observe
