#include "stoker/feed/feed.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "stoker/base/cpu_count.h"
#include "stoker/base/number_text.h"
#include "stoker/feed/assembly/collator.h"
#include "stoker/feed/device/upload_thread.h"
#include "stoker/feed/errors.h"
#include "stoker/feed/sampling/epoch_lengths.h"
#include "stoker/feed/tuner_limits.h"
#include "stoker/pipeline/errors.h"

namespace stoker::feed {
namespace {

// A position that the epoch does not have can only come from a damaged state or a wrong call.
void check_batch(const FeedPosition& at, std::uint64_t num_batches) {
  if (at.batch <= num_batches) return;
  raise({.code = &kFeedState,
         .promised =
             "at most batch " + grouped(num_batches) + ", the end of epoch " + grouped(at.epoch),
         .found = "batch " + grouped(at.batch)});
}

}  // namespace

struct Feed::State {
  explicit State(FeedSetup given)
      : setup(std::move(given)),
        order(std::make_shared<Sampler>(std::move(setup.rows), setup.order)) {
    check_ranks(setup.ranks, setup.order.batch_multiple);
    // A state may name the position behind the last epoch, too.
    setup.num_epochs = std::min(setup.num_epochs, kEndEpoch - 1);
    format = std::make_shared<BatchFormat>(make_format(setup, *order));
    max_depth = count_slots(*format, setup.loading.buffer_bytes) - 2;
    begin_knobs();
    bad_rows = std::make_shared<BadRows>(setup.bad_rows);
    if (setup.device != nullptr) prepare_device();
    make_extras();
    begin(setup.start);
  }

  void begin_knobs() {
    const unsigned workers = setup.loading.num_workers;
    const unsigned depth = setup.loading.depth.value_or(default_depth(setup, *format, max_depth));
    const Lock lock(knobs_mutex);
    knobs.at(TunerKnob::kWorkers) = workers;
    knobs.at(TunerKnob::kDepth) = std::clamp(depth, 1U, max_depth);
    knobs.at(TunerKnob::kReadAhead) = setup.loading.read_ahead_batches;
  }

  // Page-locked memory is dear: as many slots as the depth asks for, and those whose copies are on
  // their way.
  void prepare_device() {
    max_depth =
        std::min(max_depth, knobs_now().at(TunerKnob::kDepth) + UploadThread::kMostInFlight);
    min_depth = UploadThread::most_in_flight(max_depth + 2);
    {
      const Lock lock(knobs_mutex);
      knobs.at(TunerKnob::kDepth) = max_depth;
    }
    memory = std::make_shared<SlotMemory>(*format,
                                          SlotMemoryOptions{.num_slots = max_depth + 2,
                                                            .kind = setup.device->host_memory,
                                                            .api = setup.device->api},
                                          *setup.device->fallbacks);
    DeviceSetup own = *setup.device;
    if (own.tier == DeviceTier::kResident) {
      // Batches on their way at once may bring the same rows.
      own.pool_bytes += (max_depth + 2) * format->payload_bytes();
      own.memory_bytes += own.pool_bytes;
    }
    device = std::make_shared<DeviceUploader>(format, own, order->rows().size());
    const Lock lock(knobs_mutex);
    knobs.at(TunerKnob::kDeviceDepth) = device->budget().num_slots;
  }

  void make_extras() {
    if (!format->has_extras()) return;
    std::vector<std::uint32_t> frames;
    for (const SampledUtterance& row : order->rows()) frames.push_back(row.num_frames);
    extras = std::make_shared<OptionalFields>(
        setup.store, std::move(frames),
        OptionalFieldOptions{.seed = setup.order.seed, .reference = setup.extras.reference});
  }

  // Remembers the epochs of every batch that may be between what storage is asked for and what the
  // consumer takes: with short epochs and a long buffer these are thousands.
  std::shared_ptr<EpochCursor> make_planner(std::uint64_t first_epoch) const {
    std::uint64_t num_under_way = max_depth + 2 + ReadAhead::kMostBatches;
    if (device != nullptr) {
      num_under_way +=
          device->budget().most_slots + UploadThread::kMostInFlight + PeerTransfer::kNumSlots;
    }
    return std::make_shared<EpochCursor>(order, first_epoch,
                                         EpochCursor::kMemoryBatches + num_under_way);
  }

  // A feed that can no longer run, because a thread cannot be started, says so with every call.
  void begin(const FeedPosition& at) {
    const Lock lock(control_mutex);
    try {
      start(at);
    } catch (const Failure& failure) {
      if (!is_running) end(failure.error());
      throw;
    } catch (...) {
      if (!is_running) end({.code = &pipeline::kPipeMemory});
      throw;
    }
  }

  void end(Error why) {
    tuner.reset();
    stage.reset();
    pipeline.reset();
    why_ended = std::move(why);
  }

  // Builds everything that depends on the position; what runs now ends first. A refused position
  // leaves all as it was.
  void start(const FeedPosition& at) {
    auto planned = make_planner(at.epoch);
    check_batch(at, planned->num_batches(at.epoch));
    is_running = false;
    tuner.reset();
    stage.reset();
    pipeline.reset();
    if (device != nullptr) device->forget_ready();
    position = at;
    epoch_batches.reset();
    planner = std::move(planned);
    const TunerKnobs now = knobs_now();
    const unsigned max_workers =
        std::max({1U, setup.loading.max_workers, now.at(TunerKnob::kWorkers)});
    read_ahead.reset();
    if (now.at(TunerKnob::kReadAhead) > 0 || setup.loading.tuned_cores > 0) {
      read_ahead = std::make_shared<ReadAhead>(
          ReadAhead::Parts{setup.store, planner, setup.num_epochs, now.at(TunerKnob::kReadAhead)});
    }
    fill = std::make_shared<Collator>(
        CollatorParts{.store = setup.store,
                      .order = order,
                      .planner = planner,
                      .format = format,
                      .bad_rows = bad_rows,
                      .extras = extras,
                      .read_ahead = read_ahead,
                      .memory = memory,
                      .resident = device == nullptr ? nullptr : device->resident(),
                      .ranks = setup.ranks,
                      .end_epoch = setup.num_epochs,
                      .max_slots = max_depth + 2,
                      .max_workers = max_workers});
    pipeline = std::make_unique<pipeline::Pipeline>(
        fill, pipeline::PipelineOptions{.num_workers = now.at(TunerKnob::kWorkers),
                                        .max_workers = max_workers,
                                        .depth = now.at(TunerKnob::kDepth),
                                        .max_depth = max_depth,
                                        .first_sequence = position.batch,
                                        .stall_limit = setup.loading.stall_limit,
                                        .end_limit = setup.loading.end_limit,
                                        .clock = setup.loading.clock});
    if (device != nullptr) start_stage();
    start_tuner(now);
    is_running = true;
  }

  void start_stage() {
    stage =
        std::make_unique<UploadThread>(UploadThreadParts{.setup = setup.device,
                                                         .work = device,
                                                         .fill = fill,
                                                         .pipeline = *pipeline,
                                                         .format = format,
                                                         .num_host_slots = max_depth + 2,
                                                         .patience = setup.loading.stall_limit});
  }

  void start_tuner(const TunerKnobs& now) {
    const unsigned cores = setup.loading.tuned_cores;
    if (cores == 0 || now.at(TunerKnob::kWorkers) == 0) return;
    tuner = std::make_unique<Tuner>(
        TunerTarget{.count =
                        [this] {
                          return tuner_counts(tuned(), pipeline->stats(),
                                              knobs_now().at(TunerKnob::kDepth));
                        },
                    .apply = [this](const TunerKnobs& wanted) { apply(wanted); }},
        TunerOptions{.start = now,
                     .limits = tuner_limits(tuned()),
                     .num_cores = cores,
                     .num_online_cores = std::max(1U, std::thread::hardware_concurrency()),
                     .clock = setup.loading.clock});
  }

  TunedFeed tuned() const { return {setup, device.get(), max_depth}; }

  // Asked for with every batch, so not of the planner each time.
  std::uint64_t batches_of_epoch() {
    if (!epoch_batches) epoch_batches = planner->num_batches(position.epoch);
    return *epoch_batches;
  }

  TunerKnobs knobs_now() const {
    const Lock lock(knobs_mutex);
    return knobs;
  }

  // From the tuner's thread and the user's.
  void apply(const TunerKnobs& wanted) {
    const Lock lock(knobs_mutex);
    try {
      pipeline->set_num_workers(wanted.at(TunerKnob::kWorkers));
    } catch (const Failure&) {
      knobs.at(TunerKnob::kWorkers) = pipeline->num_workers();
      throw;
    }
    knobs = wanted;
    knobs.at(TunerKnob::kDepth) = std::max(min_depth, wanted.at(TunerKnob::kDepth));
    pipeline->set_depth(knobs.at(TunerKnob::kDepth));
    if (device != nullptr) {
      device->grow_ring(wanted.at(TunerKnob::kDeviceDepth));
      knobs.at(TunerKnob::kDeviceDepth) = device->budget().num_slots;
    }
    if (read_ahead != nullptr) read_ahead->set_num_batches(wanted.at(TunerKnob::kReadAhead));
  }

  // A value the user sets: the tuner begins anew from it. A `share` of the cores is for it alone.
  void set(TunerKnob knob, unsigned value, std::optional<unsigned> share = {}) {
    const Lock lock(control_mutex);
    check_runs();
    if (share && setup.loading.tuned_cores == 0) return;
    if (share) setup.loading.tuned_cores = *share;
    tuner.reset();
    TunerKnobs wanted = knobs_now();
    wanted.at(knob) = value;
    apply(wanted);
    start_tuner(wanted);
  }

  void check_runs() const {
    if (!is_running) [[unlikely]]
      raise(Error(*why_ended));
  }

  FeedSetup setup;
  std::shared_ptr<const Sampler> order;
  std::shared_ptr<const BatchFormat> format;
  std::shared_ptr<BadRows> bad_rows;
  std::shared_ptr<const OptionalFields> extras;
  std::shared_ptr<EpochCursor> planner;
  std::shared_ptr<Collator> fill;
  FeedPosition position;
  std::optional<std::uint64_t> epoch_batches;  // of the position's epoch
  BatchTotals totals;
  unsigned min_depth = 1;
  unsigned max_depth = 1;
  // Held by whoever replaces the engine below, and by those who use it from another thread.
  mutable Mutex control_mutex;
  bool is_running = false;
  std::optional<Error> why_ended;  // where it is not
  mutable Mutex knobs_mutex;
  TunerKnobs knobs STOKER_GUARDED_BY(knobs_mutex);
  std::shared_ptr<ReadAhead> read_ahead;
  std::shared_ptr<SlotMemory> memory;
  std::shared_ptr<DeviceUploader> device;        // null: batches stay in host memory
  std::unique_ptr<pipeline::Pipeline> pipeline;  // ends before what it uses
  std::unique_ptr<UploadThread> stage;           // takes from the pipeline
  std::unique_ptr<Tuner> tuner;                  // last: turns the knobs of all others
};

Feed::Feed(FeedSetup setup) : state_(std::make_unique<State>(std::move(setup))) {}
Feed::Feed(Feed&&) noexcept = default;
Feed& Feed::operator=(Feed&&) noexcept = default;
Feed::~Feed() = default;

std::optional<Batch> Feed::next(const std::stop_token& stop, const WaitPause* pause) {
  State& own = *state_;
  if (has_ended() || stop.stop_requested()) return std::nullopt;
  own.check_runs();
  if (own.position.batch >= own.batches_of_epoch()) {
    own.position = {own.position.epoch + 1, 0};
    own.epoch_batches.reset();
    return std::nullopt;
  }
  if (own.stage != nullptr) {
    DeviceLease lease = own.stage->next(stop, pause);
    if (!lease) return std::nullopt;
    own.totals.add(lease.slot().host.counts);
    ++own.position.batch;
    return std::optional<Batch>(std::in_place, std::move(lease), own.setup.store, own.format);
  }
  pipeline::SlotLease lease = own.pipeline->next(stop, pause);
  if (!lease) return std::nullopt;
  const BatchSlot& slot = own.fill->slot(lease.slot());
  own.totals.add(slot.counts);
  if (const auto soon = own.pipeline->peek()) own.fill->slot(*soon).fetch();
  ++own.position.batch;
  return std::optional<Batch>(std::in_place, std::move(lease), slot, own.setup.store, own.format);
}

bool Feed::has_ended() const { return state_->position.epoch >= state_->setup.num_epochs; }

std::string Feed::state() const { return state_line({state_->setup.identity, state_->position}); }

std::string Feed::state_origin() const {
  if (!state_->setup.describe_origin) return {};
  StateOrigin origin = state_->setup.describe_origin();
  origin.identity = state_->setup.identity;
  return encode_origin(origin);
}

void Feed::restore(std::string_view state_line, std::string_view origin) {
  const FeedState saved = parse_state(state_line);
  check_same(saved.identity, state_->setup.identity, {origin, state_->setup.describe_origin});
  state_->begin(saved.position);  // as it is: a position past the epoch's end is a damaged state
}

void Feed::seek(const FeedPosition& position) {
  state_->begin(EpochLengths(*state_->order).find(position));
}

FeedPosition Feed::position() const { return state_->position; }

std::uint64_t Feed::num_batches() const {
  return state_->planner->num_batches(state_->position.epoch);
}

const std::vector<BatchShape>& Feed::shapes() const { return state_->order->shapes(); }
const Sampler& Feed::order() const { return *state_->order; }
const BatchFormat& Feed::format() const { return *state_->format; }
const FeedIdentity& Feed::identity() const { return state_->setup.identity; }

FeedStats Feed::stats() const {
  const Lock lock(state_->control_mutex);
  FeedStats stats;
  static_cast<BatchCounts&>(stats) = state_->totals.now();
  if (state_->pipeline != nullptr) stats.pipeline = state_->pipeline->stats();
  stats.fallbacks = state_->setup.store->fallbacks();
  if (state_->read_ahead != nullptr) stats.num_read_ahead = state_->read_ahead->num_asked();
  if (state_->setup.fallbacks != nullptr) {
    for (FallbackCount& each : state_->setup.fallbacks->counts()) {
      stats.fallbacks.push_back(std::move(each));
    }
  }
  if (state_->stage == nullptr) return stats;
  stats.ring = state_->stage->ring_stats();
  stats.upload = state_->stage->stats();
  stats.device = state_->device->budget();
  return stats;
}

StartReport Feed::await_start(const StartOptions& options) {
  if (state_->stage == nullptr || state_->setup.device->ahead == DeviceAhead::kOnDemand) return {};
  return feed::await_start(*state_->device->ring(), options);
}

std::vector<BadRow> Feed::bad_rows() const { return state_->bad_rows->rows(); }
std::string Feed::debug_string() const {
  const Lock lock(state_->control_mutex);
  return state_->pipeline == nullptr ? std::string() : state_->pipeline->debug_string();
}

void Feed::set_num_workers(unsigned num_workers) {
  state_->set(TunerKnob::kWorkers, std::min(num_workers, state_->setup.loading.max_workers));
}

void Feed::set_core_share(unsigned num_cores) {
  const unsigned cores = std::clamp(num_cores, 1U, count_cpus().allowed);
  const LoadingOptions& loading = state_->setup.loading;
  state_->set(TunerKnob::kWorkers, std::min(workers_beside_consumer(cores), loading.max_workers),
              cores);
}

void Feed::set_depth(unsigned depth) {
  state_->set(TunerKnob::kDepth, std::clamp(depth, state_->min_depth, state_->max_depth));
}

unsigned Feed::num_workers() const { return state_->knobs_now().at(TunerKnob::kWorkers); }
unsigned Feed::depth() const { return state_->knobs_now().at(TunerKnob::kDepth); }
unsigned Feed::read_ahead() const { return state_->knobs_now().at(TunerKnob::kReadAhead); }

std::optional<TunerLog> Feed::tuner_log() const {
  const Lock lock(state_->control_mutex);
  return state_->tuner == nullptr ? std::nullopt : std::optional(state_->tuner->log());
}
unsigned Feed::max_depth() const { return state_->max_depth; }
std::uint64_t Feed::buffer_bytes() const {
  return std::uint64_t{depth() + 2} * state_->format->slot_bytes();
}

}  // namespace stoker::feed
