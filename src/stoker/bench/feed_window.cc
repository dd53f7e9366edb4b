#include "stoker/bench/feed_window.h"

#include <algorithm>
#include <utility>

#include "stoker/base/clock.h"
#include "stoker/base/number_text.h"
#include "stoker/bench/errors.h"
#include "stoker/cuda/errors.h"
#include "stoker/feed/open_feed.h"
#include "stoker/observe/device_source.h"
#include "stoker/observe/feed_limits.h"
#include "stoker/observe/resource_use.h"

namespace stoker::bench {
namespace {

constexpr double kBytesPerMb = 1e6;
constexpr std::size_t kMemoryBatches = 8;
constexpr int kCheckedBatches = 2;
constexpr double kWarmShare = 0.2;  // of a window, taken before it
constexpr double kLimitShare = 0.2;
constexpr double kReadyShare = 0.3;
constexpr double kSupplyShare = 0.3;

// A step is what an average batch takes at the demanded rate: batches hold about the same number of
// frames, so a trainer's steps are alike.
double step_of(const FeedWindowOptions& options, const feed::Feed& feed,
               double supply_clips_per_s) {
  if (options.step_ms) return *options.step_ms * 1e-3;
  const double demand = options.demand_share ? *options.demand_share * supply_clips_per_s
                                             : options.demand_clips_per_s.value_or(0);
  if (demand <= 0) return 0;
  const auto clips = static_cast<double>(feed.order().rows().size());
  return clips / static_cast<double>(feed.num_batches()) / demand;
}

bool is_on_gpu(const feed::OpenedFeed& opened) {
  return opened.mode.choice.mode != feed::GpuMode::kCpu;
}

observe::FeedLimit measure_limit(const FeedBenchCase& what, const feed::OpenedFeed& opened,
                                 double seconds) {
  const unsigned threads = std::max(1U, opened.feed.num_workers());
  if (what.path == FeedPath::kCached && opened.source->augmentation() == nullptr) {
    return observe::measure_copy_limit(*opened.source, opened.feed, threads, seconds);
  }
  return observe::measure_mel_limit(*opened.source, opened.feed, threads, seconds);
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

namespace {

// Another consumer would measure something else under the name of this one.
[[noreturn]] void raise_no_gpu(const feed::OpenedFeed& opened) {
  const std::string& why = opened.mode.choice.why_cpu;
  raise({.code = &cuda::kCudaNone,
         .promised = "batches on a GPU for a consumer of matrix products",
         .found = why.empty() ? "batches in host memory" : why,
         .cure = "name a GPU (--device cuda:0), or use --consumer emulated"});
}

// The consumer that the device and the options ask for.
void consume(feed::OpenedFeed& opened, const FeedWindowOptions& options, FeedWindow& window) {
  observe::ConsumerOptions consumer{.step_s = window.step_s,
                                    .warm_s = kWarmShare * options.seconds,
                                    .warm_batches = opened.feed.depth() + 2,
                                    .seconds = options.seconds,
                                    .stop = options.stop};
  if (!is_on_gpu(opened)) {
    if (options.consumer == ConsumerKind::kGemm) raise_no_gpu(opened);
    observe::FeedSource source(opened.feed);
    window.consumer = observe::run_consumer(source, consumer);
    if (window.step_s <= 0) return;
    observe::MemorySource memory(opened.feed, kMemoryBatches, options.stop);
    window.memory = observe::run_consumer(memory, consumer);
    return;
  }
  const int device = opened.mode.choice.model_device;
  if (const auto ring = opened.feed.stats().ring) consumer.warm_batches += ring->num_slots;
  if (options.consumer == ConsumerKind::kGemm) {
    window.gemm = run_gemm_consumer(opened.feed, {.device = device,
                                                  .step_s = window.step_s,
                                                  .seconds = options.seconds,
                                                  .warm_batches = consumer.warm_batches,
                                                  .stop = options.stop});
    window.consumer = window.gemm->consumer;
    window.memory = window.gemm->memory;
    return;
  }
  observe::DeviceSource source(opened.feed,
                               {.device = device,
                                .use = window.step_s > 0 ? observe::DeviceUse::kOneAtATime
                                                         : observe::DeviceUse::kPassThrough});
  // Rows that are to stay must all have come once, and pages of the cache been touched.
  consumer.warm_batches = std::max(consumer.warm_batches, opened.feed.num_batches());
  window.consumer = observe::run_consumer(source, consumer);
}

// What the feed brings to one who takes every batch at once.
double measure_supply(feed::OpenedFeed& opened, const FeedWindowOptions& options) {
  const observe::ConsumerOptions consumer{.warm_batches = opened.feed.num_batches(),
                                          .seconds = kSupplyShare * options.seconds,
                                          .stop = options.stop};
  if (!is_on_gpu(opened)) {
    if (options.consumer == ConsumerKind::kGemm) raise_no_gpu(opened);
    observe::FeedSource source(opened.feed);
    return observe::run_consumer(source, consumer).clips_per_s();
  }
  observe::DeviceSource source(opened.feed, {.device = opened.mode.choice.model_device});
  return observe::run_consumer(source, consumer).clips_per_s();
}

// Figures of nothing would look like those of a feed that never stalls.
void require_batches(const FeedWindowOptions& options, const FeedWindow& window) {
  const std::uint64_t fewest = window.step_s > 0 ? 2 : 1;  // steps are judged by their intervals
  if (options.stop.stop_requested() || window.consumer.num_batches >= fewest) return;
  raise({.code = &kBenchNothing,
         .promised = "at least " + std::to_string(fewest) + " batches in a window of " +
                     seconds_text(options.seconds),
         .found = std::to_string(window.consumer.num_batches) + " with steps of " +
                  seconds_text(window.step_s)});
}

observe::FeedLook look_at(const feed::Feed& feed, const Stopwatch& watch) {
  return {feed.stats(), watch.seconds(), feed.num_workers()};
}

// What the ring does when no worker has anything to read.
double measure_ready(Io& io, const FeedBenchCase& what, const FeedWindowOptions& options) {
  feed::OpenedFeed opened =
      feed::open_feed(what.settings, {.io = &io, .with_instant_rows = true, .stop = options.stop});
  observe::DeviceSource source(opened.feed, {.device = opened.mode.choice.model_device});
  return observe::run_consumer(source, {.warm_batches = opened.feed.depth() + 60,
                                        .seconds = kReadyShare * options.seconds,
                                        .stop = options.stop})
      .clips_per_s();
}

// Limits of a feed into GPU memory.
void add_device_limits(const FeedBenchCase& what, double seconds, const feed::OpenedFeed& opened,
                       FeedWindow& window) {
  window.device = Device::cuda(opened.mode.choice.model_device).text();
  window.transfer = opened.mode.text;
  if (what.path == FeedPath::kResident) {
    window.limit = {"none: rows stay in GPU memory"};
    return;
  }
  const observe::TransferLimits limits =
      observe::measure_transfer_limits({.device = opened.mode.choice.data_device,
                                        .num_threads = std::max(1U, opened.feed.num_workers()),
                                        .seconds = kLimitShare * seconds});
  window.limit = observe::device_limit(opened.feed, limits);
  window.bus_clips_per_s = observe::bus_limit(opened.feed, limits);
}

// Slots stay when the tuner lowers the depth again.
std::uint64_t most_buffer_bytes(const feed::Feed& feed, const FeedWindow& window) {
  unsigned depth = feed.depth();
  if (window.tuner) {
    for (const feed::TunerEntry& entry : window.tuner->entries) {
      if (entry.move && entry.move->knob == feed::TunerKnob::kDepth)
        depth = std::max({depth, entry.move->from, entry.move->to});
    }
  }
  return std::uint64_t{depth + 2} * feed.format().slot_bytes();
}

}  // namespace

FeedWindow run_feed_window(Io& io, const FeedBenchCase& what, const FeedWindowOptions& options) {
  FeedWindow window;
  const Stopwatch opening;
  feed::OpenedFeed opened = feed::open_feed(what.settings, {.io = &io, .stop = options.stop});
  window.open_s = opening.seconds();
  const Stopwatch first;
  static_cast<void>(observe::next_of_any_epoch(opened.feed, options.stop));
  window.first_batch_s = first.seconds();
  if (options.demand_share) window.supply_clips_per_s = measure_supply(opened, options);
  window.step_s = step_of(options, opened.feed, window.supply_clips_per_s);
  const observe::FeedLook before = look_at(opened.feed, opening);
  consume(opened, options, window);
  require_batches(options, window);
  window.times = observe::times_between(before, look_at(opened.feed, opening));
  window.held_mb = static_cast<double>(observe::process_memory(io).held_bytes()) / kBytesPerMb;
  window.num_workers = opened.feed.num_workers();
  window.audio_s_per_frame =
      static_cast<double>(opened.source->hop_samples()) / opened.source->speech_rule().rate_hz;
  window.fallbacks = opened.feed.stats().fallbacks;
  window.knobs = {{opened.feed.num_workers(), opened.feed.depth(), opened.feed.read_ahead()}};
  window.tuner = opened.feed.tuner_log();
  window.buffers_mb = static_cast<double>(most_buffer_bytes(opened.feed, window)) / kBytesPerMb;
  if (is_on_gpu(opened)) {
    add_device_limits(what, options.seconds, opened, window);
    const bool has_ring = opened.feed.stats().ring && what.path != FeedPath::kResident;
    if (has_ring && window.step_s <= 0) window.ready_clips_per_s = measure_ready(io, what, options);
  } else {
    window.limit = measure_limit(what, opened, kLimitShare * options.seconds);
  }
  return window;
}

void check_feed_case(Io& io, const FeedBenchCase& what, const std::stop_token& stop) {
  feed::OpenedFeed opened = feed::open_feed(what.settings, {.io = &io, .stop = stop});
  config::Settings other = what.settings;
  other.loader.num_workers = 0;
  other.loader.use_native_loading = true;
  // A cache that another machine built holds mels of another numeric path: read, not computed.
  const std::string own_path(simd_level_name(simd_level().take_or_raise()));
  other.cache.tier = config::CacheTier::kDisk;
  if (opened.feed.identity().path == feed::kCudaPath) {
    // The same kernels, but one batch at a time, straight from the files.
    other.gpu.mel_place = config::MelPlace::kGpu;
    other.gpu.enhanced_gpu_prefetch = false;
    other.loader.preprocessing_mode = config::PreprocessingMode::kRuntime;
  } else if (opened.feed.identity().path == own_path) {
    other.run.device = "cpu";
    other.gpu.mel_place = config::MelPlace::kAuto;
    other.loader.preprocessing_mode = config::PreprocessingMode::kRuntime;
  } else {
    other.run.device = "cpu";
    other.gpu.mel_place = config::MelPlace::kAuto;
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
