// What a feed is made of and how it starts, seeks and turns its knobs: Feed's own State, apart from
// the calls that users make.
#pragma once

#include <memory>
#include <optional>

#include "stoker/base/thread/sync.h"
#include "stoker/feed/assembly/collator.h"
#include "stoker/feed/device/upload_thread.h"
#include "stoker/feed/feed.h"
#include "stoker/feed/feed_place.h"
#include "stoker/feed/records/batch_recorder.h"
#include "stoker/feed/tuner/tuner.h"
#include "stoker/feed/tuner_limits.h"

namespace stoker::feed {

struct Feed::State {
  explicit State(FeedSetup given);
  ~State();
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  // Goes to a position; what runs now ends first. A refused position leaves all as it was. A feed
  // that can no longer run, because a thread cannot be started, says so with every call.
  void begin(const FeedPosition& at);
  void check_runs() const {
    if (!is_running) [[unlikely]]
      raise(Error(*why_ended));
  }

  // Asked for with every batch, so not of the planner each time.
  std::uint64_t batches_of_epoch() {
    if (!epoch_batches) epoch_batches = planner->num_batches(place.now().epoch);
    return *epoch_batches;
  }
  std::optional<Batch> next_from_host(const std::stop_token& stop, const WaitPause* pause);
  std::optional<Batch> next_from_device(const std::stop_token& stop, const WaitPause* pause);

  TunerKnobs knobs_now() const {
    const Lock lock(knobs_mutex);
    return knobs;
  }
  // From the tuner's thread and the user's.
  void apply(const TunerKnobs& wanted);
  // A value the user sets: the tuner begins anew from it. A `share` of the cores is for it alone.
  void set(TunerKnob knob, unsigned value, std::optional<unsigned> share = {});

  // Of every run of the engine so far. Under control_mutex.
  pipeline::PipelineStats pipeline_stats() const;
  std::optional<UploadStats> upload_stats() const;
  std::uint64_t num_read_ahead() const;

  std::optional<std::uint64_t> device_bytes_with(std::uint32_t batch_frames) const;

  FeedSetup setup;
  std::shared_ptr<const Sampler> order;
  std::shared_ptr<const BatchFormat> format;
  std::shared_ptr<BadRows> bad_rows;
  std::shared_ptr<const OptionalFields> extras;
  std::shared_ptr<EpochCursor> planner;
  std::shared_ptr<Collator> fill;
  FeedPlace place;
  std::optional<std::uint64_t> epoch_batches;  // of the place's epoch
  BatchTotals totals;
  unsigned min_depth = 1;
  unsigned max_depth = 1;
  Fallbacks record_fallbacks{FallbackPolicy::kAllow};
  std::shared_ptr<BatchRecorder> recorder;  // null: off
  // Held by whoever replaces the engine below, and by those who use it from another thread.
  mutable Mutex control_mutex;
  bool is_running = false;
  std::optional<Error> why_ended;  // where it is not
  mutable Mutex knobs_mutex;
  TunerKnobs knobs STOKER_GUARDED_BY(knobs_mutex);
  // What was counted by runs that ended: those before a seek.
  pipeline::PipelineStats past;
  UploadStats past_upload;
  std::uint64_t past_read_ahead = 0;
  std::shared_ptr<ReadAhead> read_ahead;
  std::shared_ptr<SlotMemory> memory;
  std::shared_ptr<DeviceUploader> device;        // null: batches stay in host memory
  std::unique_ptr<pipeline::Pipeline> pipeline;  // ends before what it uses
  std::unique_ptr<UploadThread> stage;           // takes from the pipeline
  std::unique_ptr<Tuner> tuner;                  // last: turns the knobs of all others

 private:
  void begin_knobs();
  void prepare_device();
  void make_extras();
  // Batches that may be between a worker and the consumer.
  std::uint64_t most_under_way() const;
  std::shared_ptr<EpochCursor> make_planner(std::uint64_t first_epoch) const;
  void end(Error why);
  void end_run();
  void start(const FeedPosition& at);
  void start_pipeline(const TunerKnobs& now);
  void start_stage(const RunRecords& records);
  void start_tuner(const TunerKnobs& now);
  TunedFeed tuned() const { return {setup, device.get(), max_depth}; }
};

}  // namespace stoker::feed
