#include "stoker/feed/feed.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "stoker/base/cpu_count.h"
#include "stoker/base/cpu_time.h"
#include "stoker/base/number_text.h"
#include "stoker/feed/batch_fill.h"
#include "stoker/feed/buffer_plan.h"
#include "stoker/feed/device_stage.h"
#include "stoker/feed/epoch_lengths.h"
#include "stoker/feed/errors.h"
#include "stoker/feed/tuner.h"

namespace stoker::feed {
namespace {

// One slot is filled, one is ready, one is in the consumer's hands.
constexpr unsigned kFewestSlots = 3;
constexpr unsigned kMostSlots = 4096;

BatchFormat make_format(const FeedSetup& setup, const Order& order) {
  BatchFormat format{.layout = setup.order.layout,
                     .dtype = setup.dtype,
                     .num_mels = setup.store->num_mels(),
                     .hop_samples = setup.store->hop_samples(),
                     .padding = setup.store->padding(),
                     .with_audio = setup.extras.with_audio,
                     .reference_frames = setup.extras.reference_frames,
                     .segment_frames = setup.extras.segment_frames,
                     .arrays = setup.store->arrays()};
  for (const BatchShape& shape : order.shapes()) {
    const std::size_t rows = setup.ranks.num_rows(shape.num_rows);
    format.max_mel_frames = std::max(format.max_mel_frames, rows * shape.num_frames);
    format.max_tokens = std::max(format.max_tokens, rows * shape.num_tokens);
    format.max_row_frames = std::max<std::size_t>(format.max_row_frames, shape.num_frames);
  }
  format.max_global_rows = order.max_batch_rows();
  format.max_rows = format.max_global_rows / setup.ranks.world_size;
  if (setup.device != nullptr) {
    format.is_for_device = true;
    format.payload = setup.device->payload;
    format.rows_in_place = setup.device->locked_cache != nullptr;
    format.max_extra_samples = setup.device->max_extra_samples;
    format.is_augmented = setup.device->augmentation != nullptr;
  }
  return format;
}

// As many slots as the memory allows, at least kFewestSlots.
unsigned count_slots(const BatchFormat& format, std::uint64_t buffer_bytes) {
  const std::uint64_t slots = buffer_bytes / std::max<std::size_t>(1, format.slot_bytes());
  if (slots < kFewestSlots) {
    raise({.code = &kFeedMemory,
           .promised = "room for " + std::to_string(kFewestSlots) + " batches of " +
                       bytes_text(format.slot_bytes()),
           .found = "buffer_memory of " + bytes_text(buffer_bytes)});
  }
  return static_cast<unsigned>(std::min<std::uint64_t>(slots, kMostSlots));
}

// Workers that wait for storage may be more than the cores.
constexpr unsigned kIdleWorkersPerCore = 4;
constexpr unsigned kMostReadAhead = 512;

// A place that the epoch does not have can only come from a damaged state or a wrong call.
void check_batch(const FeedPosition& at, std::uint64_t num_batches) {
  if (at.batch <= num_batches) return;
  raise({.code = &kFeedState,
         .promised = "expected at most batch " + grouped(num_batches) + ", the end of epoch " +
                     grouped(at.epoch),
         .found = "found batch " + grouped(at.batch)});
}

}  // namespace

struct Feed::State {
  explicit State(FeedSetup given)
      : setup(std::move(given)),
        order(std::make_shared<Order>(std::move(setup.rows), setup.order)) {
    check_ranks(setup.ranks, setup.order.batch_multiple);
    // The place behind the last epoch is a place that a state names, too.
    setup.num_epochs = std::min(setup.num_epochs, kEndEpoch - 1);
    format = std::make_shared<BatchFormat>(make_format(setup, *order));
    max_depth = count_slots(*format, setup.loading.buffer_bytes) - 2;
    begin_knobs();
    bad_rows = std::make_shared<BadRows>(setup.bad_rows);
    if (setup.device != nullptr) prepare_device();
    make_extras();
    start(setup.start);
  }

  void begin_knobs() {
    const unsigned workers = setup.loading.num_workers;
    const unsigned depth = setup.loading.depth.value_or(default_depth(workers));
    const Lock lock(knobs_mutex);
    knobs.at(TunerKnob::kWorkers) = workers;
    knobs.at(TunerKnob::kDepth) = std::clamp(depth, 1U, max_depth);
    knobs.at(TunerKnob::kReadAhead) = setup.loading.read_ahead_batches;
  }

  // Memory that is not page-locked costs little: as much as outlasts a pause. A tuner may go on
  // from there.
  unsigned default_depth(unsigned workers) const {
    constexpr std::uint64_t kShareOfMemory = 4;
    constexpr unsigned kQuarters = 4;
    if (setup.device != nullptr || workers == 0) return std::max(4U, 2 * workers);
    const BufferPlan plan =
        plan_buffer({.slot_bytes = format->slot_bytes(),
                     .memory_bytes = setup.loading.buffer_bytes / kShareOfMemory,
                     .num_workers = workers});
    // The last worker is woken when a quarter is left, and fills for as many steps as there are
    // workers.
    return std::max(plan.num_batches, std::min(kQuarters * workers, max_depth));
  }

  // Page-locked memory is dear: as many slots as the depth asks for, and those whose copies are on
  // their way.
  void prepare_device() {
    max_depth = std::min(max_depth, knobs_now().at(TunerKnob::kDepth) + DeviceStage::kMostInFlight);
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
    device = std::make_shared<DeviceWork>(format, own, order->rows().size());
  }

  void make_extras() {
    if (!format->has_extras()) return;
    std::vector<std::uint32_t> frames;
    for (const OrderRow& row : order->rows()) frames.push_back(row.num_frames);
    extras = std::make_shared<RowExtras>(
        setup.store, std::move(frames),
        ExtrasOptions{.seed = setup.order.seed, .reference = setup.extras.reference});
  }

  // Builds everything that depends on the position; what runs now ends first. A refused position
  // leaves all as it was.
  void start(const FeedPosition& at) {
    auto planned = std::make_shared<EpochPlanner>(order, at.epoch);
    check_batch(at, planned->num_batches(at.epoch));
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
    fill = std::make_shared<BatchFill>(
        BatchFillParts{.store = setup.store,
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
                                        .clock = setup.loading.clock});
    if (device != nullptr) start_stage();
    start_tuner(now);
  }

  void start_stage() {
    stage = std::make_unique<DeviceStage>(DeviceStageParts{.setup = setup.device,
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
    TunerLimits limits;
    limits.most.at(TunerKnob::kWorkers) =
        std::min(workers_beside_consumer(cores), setup.loading.max_workers);
    limits.most.at(TunerKnob::kDepth) = max_depth;
    limits.most.at(TunerKnob::kReadAhead) = kMostReadAhead;
    limits.most_idle_workers = std::min(kIdleWorkersPerCore * cores, setup.loading.max_workers);
    tuner = std::make_unique<Tuner>(
        TunerTarget{.count = [this] { return tuner_counts(); },
                    .apply = [this](const TunerKnobs& wanted) { apply(wanted); }},
        TunerOptions{.start = now,
                     .limits = limits,
                     .num_cores = cores,
                     .num_online_cores = std::max(1U, std::thread::hardware_concurrency()),
                     .clock = setup.loading.clock});
  }

  // Asked for with every batch, so not of the planner each time.
  std::uint64_t batches_of_epoch() {
    if (!epoch_batches) epoch_batches = planner->num_batches(position.epoch);
    return *epoch_batches;
  }

  TunerCounts tuner_counts() const {
    const pipeline::PipelineStats stats = pipeline->stats();
    return {stats.num_delivered, stats.consumer_wait_s, process_cpu_s(), machine_idle_s()};
  }

  TunerKnobs knobs_now() const {
    const Lock lock(knobs_mutex);
    return knobs;
  }

  // From the tuner's thread and the user's.
  void apply(const TunerKnobs& wanted) {
    const Lock lock(knobs_mutex);
    knobs = wanted;
    pipeline->set_num_workers(wanted.at(TunerKnob::kWorkers));
    pipeline->set_depth(wanted.at(TunerKnob::kDepth));
    if (read_ahead != nullptr) read_ahead->set_num_batches(wanted.at(TunerKnob::kReadAhead));
  }

  // A value the user sets: the tuner, where one runs, begins anew from it.
  void set(TunerKnob knob, unsigned value) {
    tuner.reset();
    TunerKnobs wanted = knobs_now();
    wanted.at(knob) = value;
    apply(wanted);
    start_tuner(wanted);
  }

  void count(const BatchSums& sums) {
    ++totals.num_batches;
    totals.num_clips += sums.num_clips;
    totals.true_frames += sums.true_frames;
    totals.all_frames += sums.all_frames;
    totals.num_empty_bad += sums.num_empty_bad;
  }

  FeedSetup setup;
  std::shared_ptr<const Order> order;
  std::shared_ptr<const BatchFormat> format;
  std::shared_ptr<BadRows> bad_rows;
  std::shared_ptr<const RowExtras> extras;
  std::shared_ptr<EpochPlanner> planner;
  std::shared_ptr<BatchFill> fill;
  FeedPosition position;
  std::optional<std::uint64_t> epoch_batches;  // of the position's epoch
  FeedStats totals;
  unsigned max_depth = 1;
  mutable Mutex knobs_mutex;
  TunerKnobs knobs STOKER_GUARDED_BY(knobs_mutex);
  std::shared_ptr<ReadAhead> read_ahead;
  std::shared_ptr<SlotMemory> memory;
  std::shared_ptr<DeviceWork> device;            // null: batches stay in host memory
  std::unique_ptr<pipeline::Pipeline> pipeline;  // ends before what it uses
  std::unique_ptr<DeviceStage> stage;            // takes from the pipeline
  std::unique_ptr<Tuner> tuner;                  // last: turns the knobs of all others
};

Feed::Feed(FeedSetup setup) : state_(std::make_unique<State>(std::move(setup))) {}
Feed::Feed(Feed&&) noexcept = default;
Feed& Feed::operator=(Feed&&) noexcept = default;
Feed::~Feed() = default;

std::optional<Batch> Feed::next(const std::stop_token& stop) {
  State& own = *state_;
  if (has_ended() || stop.stop_requested()) return std::nullopt;
  if (own.position.batch >= own.batches_of_epoch()) {
    own.position = {own.position.epoch + 1, 0};
    own.epoch_batches.reset();
    return std::nullopt;
  }
  if (own.stage != nullptr) {
    DeviceLease lease = own.stage->next(stop);
    if (!lease) return std::nullopt;
    own.count(lease.slot().host.sums);
    ++own.position.batch;
    return std::optional<Batch>(std::in_place, std::move(lease), own.setup.store, own.format);
  }
  pipeline::SlotLease lease = own.pipeline->next(stop);
  if (!lease) return std::nullopt;
  const BatchSlot& slot = own.fill->slot(lease.slot());
  own.count(slot.sums);
  if (const auto soon = own.pipeline->peek()) own.fill->slot(*soon).fetch();
  ++own.position.batch;
  return std::optional<Batch>(std::in_place, std::move(lease), slot, own.setup.store, own.format);
}

bool Feed::has_ended() const { return state_->position.epoch >= state_->setup.num_epochs; }

std::string Feed::state() const { return state_line({state_->setup.identity, state_->position}); }

void Feed::restore(std::string_view state_line) {
  const FeedState saved = parse_state(state_line);
  check_same(saved.identity, state_->setup.identity);
  state_->start(saved.position);  // as it is: a place past the epoch's end is a damaged state
}

void Feed::seek(const FeedPosition& position) {
  state_->start(EpochLengths(*state_->order).find(position));
}

FeedPosition Feed::position() const { return state_->position; }

std::uint64_t Feed::num_batches() const {
  return state_->planner->num_batches(state_->position.epoch);
}

const std::vector<BatchShape>& Feed::shapes() const { return state_->order->shapes(); }
const Order& Feed::order() const { return *state_->order; }
const BatchFormat& Feed::format() const { return *state_->format; }
const FeedIdentity& Feed::identity() const { return state_->setup.identity; }

FeedStats Feed::stats() const {
  FeedStats stats = state_->totals;
  stats.pipeline = state_->pipeline->stats();
  stats.fallbacks = state_->setup.store->fallbacks();
  if (state_->read_ahead != nullptr) stats.num_read_ahead = state_->read_ahead->num_asked();
  if (state_->setup.fallbacks != nullptr) {
    for (FallbackCount& each : state_->setup.fallbacks->counts()) {
      stats.fallbacks.push_back(std::move(each));
    }
  }
  if (state_->device == nullptr) return stats;
  stats.ring = state_->stage->ring_stats();
  stats.device_stage = state_->stage->stats();
  stats.device = state_->device->budget();
  return stats;
}

StartReport Feed::await_start(const StartOptions& options) {
  if (state_->device == nullptr || state_->setup.device->ahead == DeviceAhead::kOnDemand) return {};
  return feed::await_start(*state_->device->ring(), options);
}

std::vector<BadRow> Feed::bad_rows() const { return state_->bad_rows->rows(); }
std::string Feed::picture() const { return state_->pipeline->picture(); }

void Feed::set_num_workers(unsigned num_workers) {
  state_->set(TunerKnob::kWorkers, std::min(num_workers, state_->setup.loading.max_workers));
}

void Feed::set_depth(unsigned depth) {
  state_->set(TunerKnob::kDepth, std::clamp(depth, 1U, state_->max_depth));
}

unsigned Feed::num_workers() const { return state_->knobs_now().at(TunerKnob::kWorkers); }
unsigned Feed::depth() const { return state_->knobs_now().at(TunerKnob::kDepth); }
unsigned Feed::read_ahead() const { return state_->knobs_now().at(TunerKnob::kReadAhead); }

std::optional<TunerLog> Feed::tuner_log() const {
  return state_->tuner == nullptr ? std::nullopt : std::optional(state_->tuner->log());
}
unsigned Feed::max_depth() const { return state_->max_depth; }
std::uint64_t Feed::buffer_bytes() const {
  return std::uint64_t{depth() + 2} * state_->format->slot_bytes();
}

}  // namespace stoker::feed
