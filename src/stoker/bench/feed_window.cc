#include "stoker/bench/feed_window.h"

#include <algorithm>
#include <utility>

#include "stoker/base/clock.h"
#include "stoker/bench/errors.h"
#include "stoker/feed/open_feed.h"
#include "stoker/observe/process_memory.h"

namespace stoker::bench {
namespace {

constexpr double kBytesPerMb = 1e6;
constexpr std::size_t kMemoryBatches = 8;
constexpr int kCheckedBatches = 2;
constexpr double kWarmShare = 0.2;  // of a window, taken before it
constexpr double kLimitShare = 0.2;

// A step is what an average batch takes at the demanded rate: batches hold about the same number of
// frames, so a trainer's steps are alike.
double step_of(const FeedWindowOptions& options, feed::Feed& feed) {
  if (options.step_ms) return *options.step_ms * 1e-3;
  if (!options.demand_clips_per_s) return 0;
  const auto clips = static_cast<double>(feed.order().rows().size());
  return clips / static_cast<double>(feed.num_batches()) / *options.demand_clips_per_s;
}

FeedLimit measure_limit(const FeedBenchCase& what, const feed::OpenedFeed& opened, double seconds) {
  const unsigned threads = std::max(1U, opened.feed.num_workers());
  if (what.path == FeedPath::kCached) {
    return measure_copy_limit(*opened.store, opened.feed, threads, seconds);
  }
  return measure_mel_limit(*opened.store, opened.feed, threads, seconds);
}

std::vector<std::string> first_digests(feed::Feed& feed, const std::stop_token& stop) {
  std::vector<std::string> digests;
  while (digests.size() < kCheckedBatches) {
    const std::optional<feed::Batch> batch = feed.next(stop);
    if (!batch) break;
    digests.push_back(batch->content_digest().hex());
  }
  return digests;
}

}  // namespace

FeedWindow run_feed_window(Io& io, const FeedBenchCase& what, const FeedWindowOptions& options) {
  FeedWindow window;
  const Stopwatch opening;
  feed::OpenedFeed opened = feed::open_feed(what.settings, {.io = &io, .stop = options.stop});
  window.open_s = opening.seconds();
  observe::FeedSource source(opened.feed);
  const Stopwatch first;
  source.take(options.stop);
  window.first_batch_s = first.seconds();
  window.step_s = step_of(options, opened.feed);
  const observe::ConsumerOptions consumer{.step_s = window.step_s,
                                          .warm_s = kWarmShare * options.seconds,
                                          .warm_batches = opened.feed.depth() + 2,
                                          .seconds = options.seconds,
                                          .stop = options.stop};
  window.consumer = observe::run_consumer(source, consumer);
  window.held_mb = static_cast<double>(observe::process_memory(io).held_bytes()) / kBytesPerMb;
  window.buffers_mb = static_cast<double>(opened.feed.buffer_bytes()) / kBytesPerMb;
  window.num_workers = opened.feed.num_workers();
  window.audio_s_per_frame =
      static_cast<double>(opened.store->hop_samples()) / opened.store->speech_rule().rate_hz;
  window.fallbacks = opened.feed.stats().fallbacks;
  if (window.step_s > 0) {
    observe::MemorySource memory(opened.feed, kMemoryBatches, options.stop);
    window.memory = observe::run_consumer(memory, consumer);
  }
  window.limit = measure_limit(what, opened, kLimitShare * options.seconds);
  return window;
}

void check_feed_case(Io& io, const FeedBenchCase& what, const std::stop_token& stop) {
  feed::OpenedFeed opened = feed::open_feed(what.settings, {.io = &io, .stop = stop});
  config::Settings other = what.settings;
  other.loader.num_workers = 0;
  other.loader.use_native_loading = true;
  // A cache that another machine built holds mels of another numeric path: read, not computed.
  const std::string own_path(simd_level_name(simd_level().take_or_raise()));
  if (opened.feed.identity().path == own_path) {
    other.loader.preprocessing_mode = config::PreprocessingMode::kRuntime;
  } else {
    other.cache.enable_memory_mapping = false;
  }
  feed::OpenedFeed reference = feed::open_feed(other, {.io = &io, .stop = stop});
  const std::vector<std::string> promised = first_digests(reference.feed, stop);
  const std::vector<std::string> found = first_digests(opened.feed, stop);
  if (stop.stop_requested() || promised == found) return;
  raise({.code = &kBenchWrong,
         .promised = "batches as one thread makes them, the first with digest " +
                     (promised.empty() ? "(none)" : promised.front()),
         .found = found.empty() ? "no batch" : found.front()});
}

}  // namespace stoker::bench
