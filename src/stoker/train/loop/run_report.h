// The figures of a run while it goes on: progress line, metrics.jsonl, TensorBoard, summaries and
// the result.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "stoker/base/json.h"
#include "stoker/feed/batch_counts.h"
#include "stoker/feed/sampling/epoch_plan.h"
#include "stoker/train/loop/event_file.h"
#include "stoker/train/loop/line_file.h"
#include "stoker/train/loop/progress_line.h"
#include "stoker/train/loop/run_judge.h"
#include "stoker/train/loop/run_state.h"
#include "stoker/train/loop/training_run.h"
#include "stoker/train/loop/watch/run_watch.h"

namespace stoker::train {

using ShapedInterval = std::pair<std::uint64_t, double>;  // a step's shape and seconds

// One update as the loop saw it.
struct StepTaken {
  StepRecord record{};
  feed::BatchCounts counts{};
  double data_s = 0;        // waited for its batches
  double step_s = 0;        // from the end of the step before to its own
  std::uint64_t shape = 0;  // of its batches, as one number
  bool ends_epoch = false;
};

struct ReportPlaces {
  std::string run_folder;
  std::string events_folder;
  std::uint64_t first_step = 0;  // done before this process
  bool is_resumed = false;
};

// One thread. Writing that fails is told once and ends nothing.
class RunReport {
 public:
  RunReport(const config::Settings& settings, const TrainingHooks& hooks,
            const ReportPlaces& places);

  void take(StepTaken step) { waiting_.push_back(std::move(step)); }
  std::size_t num_waiting() const { return waiting_.size(); }
  // The next step follows something else than a step: its time does not count from the one before.
  void pause() { is_paused_ = true; }
  // Of the oldest step that waits. Where the learner gives times of the device, the step's time is
  // the device's. Returns it.
  StepTaken settle(const UpdateFigures& figures, RunState& state);

  // At most ten times a second.
  void show_progress(std::uint64_t step);
  // What the machine did lately, for the progress line and TensorBoard.
  void see_machine(const RunWatch::Reading& reading);
  std::uint64_t num_machine_readings() const { return machine_.number; }
  // Every observe.report_every epochs.
  void end_epoch(std::uint64_t epochs_done);

  void scalar(std::uint64_t step, std::string_view tag, double value);
  void picture(std::uint64_t step, std::string_view tag, std::span<const std::byte> png);
  void sound(std::uint64_t step, std::string_view tag, const EventSound& sound);
  void flush();

  // Rates, shares and times of this process.
  void put_result(Json& out) const;
  // Told once; training goes on.
  void tell_failure(const Error& error);

 private:
  struct Sums {
    std::uint64_t num_steps = 0;
    std::uint64_t num_clips = 0;
    std::uint64_t num_frames = 0;
    double data_s = 0;
    double step_s = 0;
    double compute_s = 0;

    void add(const StepTaken& step, const UpdateFigures& figures);
  };

  void log(const StepTaken& step, const UpdateFigures& figures);
  void log_feed(std::uint64_t step);
  void log_machine(std::uint64_t step);

  const config::Settings& settings_;
  const TrainingHooks& hooks_;
  LineFile metrics_;
  std::optional<EventFile> events_;
  std::deque<StepTaken> waiting_;
  Sums all_;     // without the first step, which starts threads and caches
  Sums recent_;  // since the last progress line
  Sums since_summary_;
  Sums since_log_;
  std::optional<ProgressFigures> shown_;
  std::deque<LossFigures> losses_;  // the latest
  std::vector<ShapedInterval> intervals_;
  std::deque<ShapedInterval> recent_intervals_;
  RunWatch::Reading machine_;  // number 0: none yet
  std::vector<double> gpu_percent_;
  std::chrono::nanoseconds last_shown_{};
  std::chrono::nanoseconds last_flushed_{};
  double cpu_before_s_;
  Stopwatch since_start_;
  bool has_failed_ = false;
  bool is_first_ = true;
  bool is_paused_ = true;
  double last_ended_s_ = 0;
};

// Means of the first and the last steps, as "loss_first", "flow_first", …
void put_losses(const RunState& state, Json& out);
// Utterances found in the cache and not, records made anew, rows that were bad, and fallbacks.
void put_cache(const feed::OpenedFeed& opened, Json& out);

}  // namespace stoker::train
