#include "stoker/feed/feed.h"

#include <algorithm>
#include <utility>

#include "stoker/base/cpu_count.h"
#include "stoker/feed/feed_engine.h"
#include "stoker/feed/sampling/epoch_lengths.h"

namespace stoker::feed {
Feed::Feed(FeedSetup setup) : state_(std::make_unique<State>(std::move(setup))) {}
Feed::Feed(Feed&&) noexcept = default;
Feed& Feed::operator=(Feed&&) noexcept = default;
Feed::~Feed() = default;

std::optional<Batch> Feed::next(const std::stop_token& stop, const WaitPause* pause) {
  State& own = *state_;
  if (has_ended() || stop.stop_requested()) return std::nullopt;
  own.check_runs();
  if (const FeedPosition at = own.place.now(); at.batch >= own.batches_of_epoch()) {
    own.place.set({at.epoch + 1, 0});
    own.epoch_batches.reset();
    return std::nullopt;
  }
  return own.stage != nullptr ? own.next_from_device(stop, pause) : own.next_from_host(stop, pause);
}

bool Feed::has_ended() const { return position().epoch >= state_->setup.num_epochs; }

std::string Feed::state() const { return state_line({state_->setup.identity, position()}); }

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

FeedPosition Feed::position() const { return state_->place.now(); }

std::uint64_t Feed::num_batches() const {
  const Lock lock(state_->control_mutex);
  return state_->planner->num_batches(position().epoch);
}

const std::vector<BatchShape>& Feed::shapes() const { return state_->order->shapes(); }
const Sampler& Feed::order() const { return *state_->order; }
const BatchFormat& Feed::format() const { return *state_->format; }
const FeedIdentity& Feed::identity() const { return state_->setup.identity; }

FeedStats Feed::stats() const {
  const Lock lock(state_->control_mutex);
  FeedStats stats;
  static_cast<BatchCounts&>(stats) = state_->totals.now();
  stats.pipeline = state_->pipeline_stats();
  stats.num_read_ahead = state_->num_read_ahead();
  stats.fallbacks = state_->setup.store->fallbacks();
  const auto add = [&stats](const Fallbacks& account) {
    for (FallbackCount& each : account.counts()) stats.fallbacks.push_back(std::move(each));
  };
  if (state_->setup.fallbacks != nullptr) add(*state_->setup.fallbacks);
  add(state_->record_fallbacks);
  if (state_->stage == nullptr) return stats;
  stats.ring = state_->stage->ring_stats();
  stats.upload = state_->upload_stats();
  stats.device = state_->device->budget();
  return stats;
}

std::optional<RecordReader> Feed::records() const {
  if (state_->recorder == nullptr) return std::nullopt;
  return RecordReader(state_->recorder->ring());
}

void Feed::note(ConsumerWork work, std::chrono::nanoseconds spent) noexcept {
  if (state_->recorder != nullptr) state_->recorder->note(work, spent);
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
std::optional<std::uint64_t> Feed::device_bytes_with(std::uint32_t batch_frames) const {
  return state_->device_bytes_with(batch_frames);
}
std::uint64_t Feed::buffer_bytes() const {
  return std::uint64_t{depth() + 2} * state_->format->slot_bytes();
}

}  // namespace stoker::feed
