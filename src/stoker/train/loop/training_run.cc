#include "stoker/train/loop/training_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "stoker/base/bytes.h"
#include "stoker/config/settings_text.h"
#include "stoker/feed/start_rule.h"
#include "stoker/train/errors.h"
#include "stoker/train/loop/alignment_check.h"
#include "stoker/train/loop/run_extras.h"
#include "stoker/train/loop/run_judge.h"
#include "stoker/train/loop/run_report.h"
#include "stoker/train/loop/run_start.h"
#include "stoker/train/loop/schedule.h"
#include "stoker/train/loop/watch/run_metrics.h"
#include "stoker/train/loop/watch/run_watch.h"

namespace stoker::train {
namespace {

constexpr std::size_t kMostStepsAhead = 16;  // of the host before the device
constexpr double kQuickSaveS = 1.0;
constexpr std::uint64_t kSmallModel = 20'000'000;  // parameters: saved within a second

void write_settings(const config::Settings& settings, const std::string& run_folder, Io& io) {
  const File folder = open_file(io, run_folder, OpenFor::kFolder).take_or_raise();
  publish_file(folder, "config.yaml", view_bytes(config::settings_yaml(settings))).take_or_raise();
}

bool is_due(std::uint64_t step, std::int64_t every) {
  return step % static_cast<std::uint64_t>(every) == 0;
}

std::string events_folder(const config::Settings& settings, const std::string& run_folder) {
  const std::string& given = settings.observe.tensorboard_log_dir;
  return given.empty() ? run_folder : given;
}

Json losses_json(const LossFigures& losses) {
  return Json{{"loss", losses.total()},
              {"duration", losses.duration},
              {"prior", losses.prior},
              {"flow", losses.flow}};
}

// What a run may be started again with where the memory was not enough.
std::string smaller_batches(const config::BatchSettings& batch) {
  constexpr std::int64_t kRound = 64;
  const auto smaller = [](std::int64_t count, std::int64_t round) {
    return std::max(round, count * 3 / 4 / round * round);
  };
  const std::string words =
      batch.batch_size
          ? fmt::format("data.batch_size {}", smaller(*batch.batch_size, 1))
          : fmt::format("data.batch_frames {}",
                        smaller(batch.batch_frames.value_or(config::kDefaultBatchFrames), kRound));
  return fmt::format(
      "run the same command with --resume, --allow-changed-data and {}, or end the "
      "other programs on that device",
      words);
}

class TrainingRun {
 public:
  TrainingRun(const config::Settings& settings, const TrainingHooks& hooks)
      : settings_(settings),
        hooks_(hooks),
        training_(settings.training),
        run_(start_run(settings, hooks)),
        path_(run_.folder->path()),
        first_step_(run_.state.step),
        report_(settings, hooks,
                {.run_folder = path_,
                 .events_folder = events_folder(settings, path_),
                 .first_step = first_step_,
                 .is_resumed = run_.is_resumed}),
        watch_(settings, run_, hooks),
        bad_steps_(LineFile::open(*hooks.io, path_ + "/bad-steps.jsonl", first_step_),
                   training_.max_bad_steps, run_.state.totals.bad_steps),
        early_stop_(training_),
        speaker_(settings, hooks, path_ + "/samples"),
        schedule_(schedule_of(settings.optimizer)),
        saver_(std::move(*run_.folder),
               {.num_last = static_cast<std::uint64_t>(training_.keep_checkpoints)}, hooks) {
    if (run_.is_resumed) early_stop_.restore(run_.state.early_stop);
    run_.state.early_stop = early_stop_.state();
  }

  // Of a batch, as the memory allowed; 0 where the settings say how large they are.
  std::uint64_t fitted_frames() const { return run_.state.batch_frames; }

  Json run() {
    const RunMetrics metrics(settings_, hooks_, train_feed());
    write_settings(settings_, path_, *hooks_.io);
    if (run_.is_reset) save({});
    if (settings_.observe.enable_text2audio_eval && !hooks_.speak_sample)
      tell_warning(hooks_, "observe.enable_text2audio_eval: nothing here can speak");
    if (is_over() && !hooks_.stop.stop_requested())
      tell_line(hooks_, "nothing is left to do: raise training.steps or training.epochs to go on");
    await_start();
    started_ = Stopwatch(*hooks_.clock);
    step_began_ = hooks_.clock->now();
    while (!is_over() && step()) after_step();
    settle(Learner::Wait::kWait);
    return finish();
  }

 private:
  // The start rule concerns the buffer in GPU memory; there is none on the CPU.
  void await_start() {
    feed::OpenedFeed& opened = run_.feeds.train;
    for (const std::string& line : opened.mode.lines) tell_line(hooks_, line);
    if (!opened.feed.stats().device) return;
    const std::chrono::nanoseconds delay(
        static_cast<std::int64_t>(settings_.gpu.model_start_delay_s * 1e9));
    tell_line(hooks_, feed::waiting_line(delay));
    const feed::StartReport report =
        opened.feed.await_start({.delay = delay, .clock = hooks_.clock, .stop = hooks_.stop});
    if (!hooks_.stop.stop_requested()) tell_line(hooks_, feed::starting_line(report));
  }

  bool is_over() const {
    const RunState& state = run_.state;
    return is_stopped_early_ || hooks_.stop.stop_requested() ||
           (training_.steps && state.step >= static_cast<std::uint64_t>(*training_.steps)) ||
           state.epochs_done >= static_cast<std::uint64_t>(training_.epochs) ||
           (training_.seconds && started_.seconds() >= *training_.seconds);
  }

  // One update from a whole window of batches, or from what the epoch has left. False where a stop
  // came between them: what was added is dropped with the process.
  bool step() {
    StepTaken taken;
    bool is_last = false;
    const auto window = static_cast<std::size_t>(training_.gradient_accumulation_steps);
    while (taken.record.batch_numbers.size() < window && !is_last) {
      const Stopwatch waited(*hooks_.clock);
      std::optional<feed::Batch> batch = run_.feeds.train.feed.next(hooks_.stop);
      taken.data_s += waited.seconds();
      if (hooks_.stop.stop_requested()) return false;
      if (!batch) {
        if (run_.feeds.train.feed.has_ended()) return false;
        continue;
      }
      is_last = batch->is_last_of_epoch();
      note(*batch, taken);
      run_.learner->add_batch(std::move(*batch), taken.record.batch_numbers.back());
    }
    update(std::move(taken), is_last);
    return true;
  }

  void note(const feed::Batch& batch, StepTaken& taken) const {
    StepRecord& record = taken.record;
    record.batch_numbers.push_back(run_.state.batches + record.batch_numbers.size());
    record.epoch = batch.epoch();
    for (std::size_t row = 0; row < batch.num_rows(); ++row)
      if (!batch.id(row).empty()) record.ids.emplace_back(batch.id(row));
    taken.counts += batch.counts();
    const feed::BatchShape& shape = batch.shape();
    taken.shape = taken.shape * 1'000'003 + shape.num_rows * 1'000'000'007ULL +
                  shape.num_frames * 65'537ULL + shape.num_tokens;
  }

  void update(StepTaken taken, bool is_last_of_epoch) {
    RunState& state = run_.state;
    taken.record.step = ++state.step;
    taken.record.learning_rate = learning_rate(schedule_, state.step);
    run_.learner->update(taken.record.learning_rate);
    state.batches += taken.record.batch_numbers.size();
    state.feed = run_.feeds.train.feed.state();
    if (is_last_of_epoch) state.epochs_done = taken.record.epoch + 1;
    const std::chrono::nanoseconds now = hooks_.clock->now();
    taken.step_s = std::chrono::duration<double>(now - step_began_).count();
    step_began_ = now;
    taken.ends_epoch = is_last_of_epoch;
    report_.take(std::move(taken));
  }

  feed::Feed& train_feed() { return run_.feeds.train.feed; }

  // Figures that the device has by now. A host that is ahead of it waits as part of its step; one
  // that waits for everything does so for what comes next.
  void settle(Learner::Wait wait) {
    const Stopwatch waited;
    const auto all = run_.learner->take_figures(wait);
    if (wait == Learner::Wait::kWait) {
      train_feed().note(
          feed::ConsumerWork::kSync,
          std::chrono::nanoseconds(static_cast<std::int64_t>(waited.seconds() * 1e9)));
    }
    const feed::WorkTimer timer(train_feed(), feed::ConsumerWork::kLogging);
    for (const UpdateFigures& figures : all) {
      const StepTaken step = report_.settle(figures, run_.state);
      if (step.ends_epoch) report_.end_epoch(step.record.epoch + 1);
      if (!figures.is_skipped) continue;
      tell_warning(hooks_, fmt::format("step {} is skipped: its loss or gradient is not a number",
                                       step.record.step));
      ++run_.state.totals.bad_steps;
      bad_steps_.add(step.record, figures);
    }
  }

  void after_step() {
    const std::uint64_t step = run_.state.step;
    const bool is_evaluated = is_due(step, training_.val_step);
    const bool is_saved = is_due(step, training_.save_step);
    const bool is_behind = report_.num_waiting() > kMostStepsAhead;
    settle(is_evaluated || is_saved ? Learner::Wait::kWait
           : is_behind              ? Learner::Wait::kOldest
                                    : Learner::Wait::kNo);
    {
      const feed::WorkTimer timer(train_feed(), feed::ConsumerWork::kLogging);
      see_machine();
      report_.show_progress(step);
      saver_.tell();
    }
    std::optional<double> evaluated;
    if (is_evaluated) evaluated = evaluate_now();
    if (is_saved) save(evaluated);
    const bool is_sampled = show_samples(step);
    if (is_evaluated || is_saved || is_sampled) report_.pause();
    step_began_ = hooks_.clock->now();
  }

  void see_machine() {
    if (const auto reading = watch_.newer_than(report_.num_machine_readings()))
      report_.see_machine(*reading);
    if (const std::optional<Error> failure = watch_.take_failure()) report_.tell_failure(*failure);
  }

  std::optional<double> evaluate_now() {
    const feed::WorkTimer timer(train_feed(), feed::ConsumerWork::kValidation);
    const std::optional<LossFigures> losses = measure();
    if (!losses) return std::nullopt;
    is_stopped_early_ = early_stop_.add(losses->total());
    run_.state.early_stop = early_stop_.state();
    if (is_stopped_early_)
      tell_line(hooks_, fmt::format("no progress in {} evaluations: training ends",
                                    *training_.early_stopping_patience));
    return losses->total();
  }

  std::optional<LossFigures> measure() {
    const std::optional<LossFigures> losses = evaluate(run_.feeds, *run_.learner, hooks_.stop);
    if (!losses) return losses;
    const std::uint64_t step = run_.state.step;
    last_evaluation_ = Json{{"step", step}};
    last_evaluation_->update(losses_json(*losses));
    hooks_.tell(Json{{"kind", "evaluated"}, {"step", step}, {"losses", losses_json(*losses)}});
    report_.scalar(step, "evaluation/loss", losses->total());
    report_.scalar(step, "evaluation/duration", losses->duration);
    report_.scalar(step, "evaluation/prior", losses->prior);
    report_.scalar(step, "evaluation/flow", losses->flow);
    return losses;
  }

  void save(std::optional<double> evaluated) {
    const feed::WorkTimer timer(train_feed(), feed::ConsumerWork::kCheckpoint);
    saver_.save(run_, evaluated);
  }

  // Whether there was something to show.
  bool show_samples(std::uint64_t step) {
    const config::ObserveSettings& observe = settings_.observe;
    const bool is_drawn =
        observe.spectrogram_log_interval && is_due(step, *observe.spectrogram_log_interval);
    const bool is_spoken =
        observe.enable_text2audio_eval && is_due(step, observe.text2audio_interval_steps);
    if (!is_drawn && !is_spoken) return false;
    const feed::WorkTimer timer(train_feed(), feed::ConsumerWork::kOther);
    if (is_drawn) draw_pictures(run_, report_, hooks_.stop);
    if (is_spoken) speaker_.speak(run_, report_);
    return true;
  }

  Json finish() {
    const bool is_stopped = hooks_.stop.stop_requested();
    const std::uint64_t step = run_.state.step;
    const bool has_moved = step > first_step_;
    Json result = Json::object();
    std::optional<double> evaluated;
    if (!is_stopped && has_moved && !is_due(step, training_.val_step))
      if (const auto losses = measure()) evaluated = losses->total();
    const bool is_new = has_moved && saver_.last_submitted() != step;
    if (is_new && (!is_stopped || is_quick_to_save())) save(evaluated);
    saver_.wait();
    if (!is_stopped) put_alignment(result);
    end_watch(result);
    report_.flush();
    if (is_stopped) tell_how_to_go_on();
    put_result(result);
    return result;
  }

  void end_watch(Json& result) {
    const std::optional<observe::TraceSummary> trace = watch_.finish();
    see_machine();
    if (trace) tell_trace(hooks_, settings_.observe.trace, *trace, result);
  }

  void put_alignment(Json& result) {
    try {
      const auto share = check_alignment(run_.feeds.settings, *run_.learner, hooks_);
      if (share) result["alignment"] = share->json();
    } catch (const Failure& failure) {
      tell_warning(hooks_, "alignments are not compared: " + error_line(failure.error()));
    }
  }

  bool is_quick_to_save() const {
    const SaverStats& stats = saver_.stats();
    if (stats.num_saved > 0) return stats.last_save_s < kQuickSaveS;
    return run_.learner->num_parameters() < kSmallModel;
  }

  void tell_how_to_go_on() {
    const std::string newest = saver_.newest();
    tell_line(hooks_, newest.empty() && first_step_ == 0
                          ? "stopped before anything was saved"
                          : fmt::format("stopped after step {}; to go on, run the same command "
                                        "with --resume ({})",
                                        run_.state.step, newest.empty() ? path_ : newest));
  }

  void put_result(Json& result) const {
    const RunState& state = run_.state;
    result["steps"] = state.step;
    result["epochs"] = state.epochs_done;
    put_losses(state, result);
    report_.put_result(result);
    put_cache(run_.feeds.train, result);
    result["parameters"] = run_.learner->num_parameters();
    if (state.batch_frames > 0) result["batch_frames"] = state.batch_frames;
    if (run_.sizing) result["sizing"] = sizing_json(*run_.sizing);
    const std::string newest = saver_.newest();
    result["checkpoint"] = newest.empty() ? Json() : Json(newest);
    result["checkpoints_failed"] = saver_.stats().num_failed;
    result["run"] = path_;
    result["bad_steps"] = state.totals.bad_steps;
    result["device"] = run_.device.text();
    result["stopped"] = hooks_.stop.stop_requested();
    result["stopped_early"] = is_stopped_early_;
    result["evaluation"] = last_evaluation_ ? *last_evaluation_ : Json();
  }

  const config::Settings& settings_;
  const TrainingHooks& hooks_;
  const config::TrainingSettings& training_;
  StartedRun run_;
  std::string path_;
  std::uint64_t first_step_;
  RunReport report_;
  RunWatch watch_;
  BadSteps bad_steps_;
  EarlyStop early_stop_;
  SampleSpeaker speaker_;
  Schedule schedule_;
  RunSaver saver_;
  Stopwatch started_;
  std::chrono::nanoseconds step_began_{};
  std::optional<Json> last_evaluation_;
  bool is_stopped_early_ = false;
};

}  // namespace

Json run_training(const config::Settings& settings, const TrainingHooks& hooks) {
  config::BatchSettings batch = settings.batch;
  const auto train = [&] {
    TrainingRun run(settings, hooks);
    if (const std::uint64_t frames = run.fitted_frames())
      batch.batch_frames = static_cast<std::int64_t>(frames);
    return run.run();
  };
  try {
    Json result = train();
    write_report(settings, hooks, result);  // once the feed is closed
    return result;
  } catch (const Failure& failure) {
    if (failure.error().code != &kTrainMemory) throw;
    Error error = failure.error();
    error.cure = smaller_batches(batch);
    raise(std::move(error));
  }
}

}  // namespace stoker::train
