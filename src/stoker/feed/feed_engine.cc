#include "stoker/feed/feed_engine.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "stoker/base/number_text.h"
#include "stoker/feed/errors.h"
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

Feed::State::State(FeedSetup given)
    : setup(std::move(given)),
      order(std::make_shared<Sampler>(std::move(setup.rows), setup.order)) {
  check_ranks(setup.ranks, setup.order.batch_multiple);
  // A state may name the position behind the last epoch, too.
  setup.num_epochs = std::min(setup.num_epochs, kEndEpoch - 1);
  format = std::make_shared<BatchFormat>(make_format(setup, *order));
  max_depth = count_slots(*format, setup.loading) - 2;
  begin_knobs();
  bad_rows = std::make_shared<BadRows>(setup.bad_rows);
  if (setup.device != nullptr) prepare_device();
  make_extras();
  recorder = BatchRecorder::make(setup.records, static_cast<std::uint32_t>(most_under_way()),
                                 *setup.loading.clock, record_fallbacks);
  begin(setup.start);
}

Feed::State::~State() {
  if (recorder != nullptr) recorder->ring()->end();
}

void Feed::State::begin_knobs() {
  const unsigned workers = setup.loading.num_workers;
  const unsigned depth = setup.loading.depth.value_or(default_depth(setup, *format, max_depth));
  const Lock lock(knobs_mutex);
  knobs.at(TunerKnob::kWorkers) = workers;
  knobs.at(TunerKnob::kDepth) = std::clamp(depth, 1U, max_depth);
  knobs.at(TunerKnob::kReadAhead) = setup.loading.read_ahead_batches;
}

// Page-locked memory is dear: as many slots as the depth asks for, and those whose copies are on
// their way.
void Feed::State::prepare_device() {
  max_depth = std::min(max_depth, knobs_now().at(TunerKnob::kDepth) + UploadThread::kMostInFlight);
  min_depth = UploadThread::most_in_flight(max_depth + 2);
  {
    const Lock lock(knobs_mutex);
    knobs.at(TunerKnob::kDepth) = max_depth;
  }
  memory = std::make_shared<SlotMemory>(
      *format,
      SlotMemoryOptions{
          .num_slots = max_depth + 2, .kind = setup.device->host_memory, .api = setup.device->api},
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

std::optional<std::uint64_t> Feed::State::device_bytes_with(std::uint32_t batch_frames) const {
  SamplerSettings other = order->settings();
  other.batch_frames = batch_frames;
  const Sampler sampler(order->rows(), std::move(other));
  const BatchFormat larger = make_format(setup, sampler);
  try {
    count_slots(larger, setup.loading);
    if (device == nullptr) return 0;
    DeviceBudget budget = device->budget_with(larger);
    if (setup.device->tier == DeviceTier::kResident &&
        larger.payload_bytes() > format->payload_bytes())
      budget.fixed_bytes += (max_depth + 2) * (larger.payload_bytes() - format->payload_bytes());
    const std::optional<int>& delivered = setup.device->model_device;
    const std::uint64_t peer_bytes = delivered ? PeerTransfer::kNumSlots * budget.slot_bytes : 0;
    return delivered.value_or(setup.device->data_device) == setup.device->data_device
               ? peer_bytes + budget.most_bytes()
               : peer_bytes;
  } catch (const Failure&) {
    return std::nullopt;
  }
}

void Feed::State::make_extras() {
  if (!format->has_extras()) return;
  std::vector<std::uint32_t> frames;
  for (const SampledUtterance& row : order->rows()) frames.push_back(row.num_frames);
  extras = std::make_shared<OptionalFields>(
      setup.store, std::move(frames),
      OptionalFieldOptions{.seed = setup.order.seed, .reference = setup.extras.reference});
}

std::uint64_t Feed::State::most_under_way() const {
  std::uint64_t most = max_depth + 2;
  if (device == nullptr) return most;
  return most + device->budget().most_slots + UploadThread::kMostInFlight + PeerTransfer::kNumSlots;
}

// Remembers the epochs of every batch that may be between what storage is asked for and what the
// consumer takes: with short epochs and a long buffer these are thousands.
std::shared_ptr<EpochCursor> Feed::State::make_planner(std::uint64_t first_epoch) const {
  return std::make_shared<EpochCursor>(
      order, first_epoch, EpochCursor::kMemoryBatches + most_under_way() + ReadAhead::kMostBatches);
}

void Feed::State::begin(const FeedPosition& at) {
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

void Feed::State::end(Error why) {
  end_run();
  why_ended = std::move(why);
}

// Its counts stay.
void Feed::State::end_run() {
  past = pipeline_stats();
  past.num_ready = past.num_asleep = 0;
  past_upload = upload_stats().value_or(past_upload);
  past_read_ahead = num_read_ahead();
  tuner.reset();
  stage.reset();
  pipeline.reset();
  read_ahead.reset();
}

// Builds everything that depends on the position.
void Feed::State::start(const FeedPosition& at) {
  auto planned = make_planner(at.epoch);
  check_batch(at, planned->num_batches(at.epoch));
  is_running = false;
  end_run();
  if (device != nullptr) device->forget_ready();
  place.set(at);
  epoch_batches.reset();
  planner = std::move(planned);
  const TunerKnobs now = knobs_now();
  start_pipeline(now);
  start_tuner(now);
  is_running = true;
}

void Feed::State::start_pipeline(const TunerKnobs& now) {
  const unsigned max_workers =
      std::max({1U, setup.loading.max_workers, now.at(TunerKnob::kWorkers)});
  const RunRecords records{
      .recorder = recorder,
      .first_number = recorder == nullptr ? 0 : recorder->ring()->num_written(),
      .first_sequence = place.now().batch};
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
                    .records = records,
                    .ranks = setup.ranks,
                    .end_epoch = setup.num_epochs,
                    .max_slots = max_depth + 2,
                    .max_workers = max_workers});
  pipeline = std::make_unique<pipeline::Pipeline>(
      fill, pipeline::PipelineOptions{.num_workers = now.at(TunerKnob::kWorkers),
                                      .max_workers = max_workers,
                                      .depth = now.at(TunerKnob::kDepth),
                                      .max_depth = max_depth,
                                      .first_sequence = place.now().batch,
                                      .stall_limit = setup.loading.stall_limit,
                                      .end_limit = setup.loading.end_limit,
                                      .clock = setup.loading.clock});
  if (device != nullptr) start_stage(records);
}

void Feed::State::start_stage(const RunRecords& records) {
  stage = std::make_unique<UploadThread>(UploadThreadParts{.setup = setup.device,
                                                           .work = device,
                                                           .fill = fill,
                                                           .pipeline = *pipeline,
                                                           .format = format,
                                                           .records = records,
                                                           .num_host_slots = max_depth + 2,
                                                           .patience = setup.loading.stall_limit});
}

void Feed::State::start_tuner(const TunerKnobs& now) {
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

void Feed::State::apply(const TunerKnobs& wanted) {
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

void Feed::State::set(TunerKnob knob, unsigned value, std::optional<unsigned> share) {
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

std::optional<Batch> Feed::State::next_from_device(const std::stop_token& stop,
                                                   const WaitPause* pause) {
  const std::int64_t asked_ns = recorder == nullptr ? 0 : recorder->now_ns();
  DeviceLease lease = stage->next(stop, pause);
  if (!lease) return std::nullopt;
  totals.add(lease.slot().host.counts);
  place.to_next_batch();
  RecordTicket ticket;
  if (recorder != nullptr) {
    ticket = {recorder, recorder->hand_out({.asked_ns = asked_ns,
                                            .num_ready = stage->ring_stats().num_ready,
                                            .num_workers = pipeline->num_workers()})};
  }
  return std::optional<Batch>(std::in_place, std::move(lease), setup.store, format,
                              std::move(ticket));
}

std::optional<Batch> Feed::State::next_from_host(const std::stop_token& stop,
                                                 const WaitPause* pause) {
  const std::int64_t asked_ns = recorder == nullptr ? 0 : recorder->now_ns();
  pipeline::SlotLease lease = pipeline->next(stop, pause);
  if (!lease) return std::nullopt;
  const BatchSlot& slot = fill->slot(lease.slot());
  totals.add(slot.counts);
  if (const auto soon = pipeline->peek()) fill->slot(*soon).fetch();
  place.to_next_batch();
  RecordTicket ticket;
  if (recorder != nullptr) {
    ticket = {recorder, recorder->hand_out({.asked_ns = asked_ns,
                                            .is_late = lease.is_late(),
                                            .num_ready = pipeline->num_behind(),
                                            .num_workers = pipeline->num_workers()})};
  }
  return std::optional<Batch>(std::in_place, std::move(lease), slot, setup.store, format,
                              std::move(ticket));
}

pipeline::PipelineStats Feed::State::pipeline_stats() const {
  pipeline::PipelineStats all = past;
  if (pipeline != nullptr) all += pipeline->stats();
  return all;
}

std::optional<UploadStats> Feed::State::upload_stats() const {
  if (stage == nullptr) return std::nullopt;
  UploadStats all = past_upload;
  const UploadStats now = stage->stats();
  all.num_moved += now.num_moved;
  for (const UploadTimeField& field : kUploadTimeFields) all.*field.member += now.*field.member;
  return all;
}

std::uint64_t Feed::State::num_read_ahead() const {
  return past_read_ahead + (read_ahead == nullptr ? 0 : read_ahead->num_asked());
}

}  // namespace stoker::feed
