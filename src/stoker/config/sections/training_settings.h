// Settings of training: how long, which optimiser and schedule, what is saved, watched and shown.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "stoker/config/choices.h"
#include "stoker/config/field.h"

namespace stoker::config {

struct TrainingSettings {
  static constexpr std::string_view kSection = "training";
  static constexpr std::string_view kTitle = "Training";

  std::int64_t epochs = 1000;
  Maybe<std::int64_t> steps;
  Maybe<double> seconds;
  std::string model = "stoker";
  ModelSize model_size = ModelSize::kNormal;
  OptimizationLevel optimization_level = OptimizationLevel::kNone;
  Precision precision = Precision::kAuto;
  OnOffAuto graphs = OnOffAuto::kAuto;
  bool deterministic = false;
  std::int64_t gradient_accumulation_steps = 1;
  double dropout_rate = 0.1;
  double voice_warp = 0.0;
  double max_memory_fraction = 0.9;
  Maybe<double> mel_mean, mel_std;
  bool resume = false, reset_training = false, allow_changed_data = false;
  std::string checkpoint_dir = "run";
  std::int64_t save_step = 1000, val_step = 1000, log_step = 10, keep_checkpoints = 5;
  Maybe<std::int64_t> early_stopping_patience;
  double early_stopping_min_delta = 0.0;
  std::int64_t max_bad_steps = 0;

  static constexpr auto fields() {
    using C = TrainingSettings;
    constexpr std::int64_t kMany = 1'000'000'000'000;
    return std::tuple{
        field("epochs", &C::epochs, {1, kMany}, "Passes over the data.")
            .myxtts("training.max_epochs"),
        field("steps", &C::steps, {1, kMany}, "Ends after this many optimiser updates."),
        field("seconds", &C::seconds, {0.0, 1e9}, "Ends after this time.").unit("s"),
        field("model", &C::model, "Kind of model; for myxtts stoker's own is trained.")
            .choices("stoker myxtts"),
        field("model_size", &C::model_size,
              "How large the model is; brings its own batch, rate and warm-up."),
        field("optimization_level", &C::optimization_level,
              "Named values for optimiser and schedule; given values win over them."),
        field("precision", &C::precision, "Arithmetic; auto: bf16 on a GPU, fp32 on a CPU."),
        field("graphs", &C::graphs, "One CUDA graph a shape on a GPU; off for debugging."),
        field(
            "deterministic", &C::deterministic,
            "Only kernels that give the same bits each time, on a GPU as always on a CPU; slower."),
        field("gradient_accumulation_steps", &C::gradient_accumulation_steps, {1, 65'536},
              "Batches summed for one update.")
            .flags("--grad-accum")
            .myxtts("data.gradient_accumulation_steps training.accumulate_grad_batches"),
        field("dropout_rate", &C::dropout_rate, {0.0, 0.95}, "Dropout in the model."),
        field("voice_warp", &C::voice_warp, {0.0, 0.5},
              "Random stretch of frequencies at most, of an utterance and its reference together: "
              "more voices than the data has, for cloning those that it has not."),
        field("max_memory_fraction", &C::max_memory_fraction, {0.05, 1.0},
              "Share of device memory the process may take.")
            .flags("--max-memory-fraction"),
        field("mel_mean", &C::mel_mean, {-1e3, 1e3},
              "Mean that the trainer subtracts; none: measured.")
            .myxtts("data.mel_mean"),
        field("mel_std", &C::mel_std, {1e-6, 1e3}, "Deviation that the trainer divides by.")
            .myxtts("data.mel_std"),
        field("resume", &C::resume,
              "Go on from the newest whole checkpoint; a folder without one is started."),
        field("reset_training", &C::reset_training, "Keep the weights, start steps from zero."),
        field("allow_changed_data", &C::allow_changed_data,
              "Resume although data or settings differ."),
        field("checkpoint_dir", &C::checkpoint_dir,
              "Folder of the run; its checkpoints are in checkpoints/ there.")
            .myxtts("paths.checkpoint_dir"),
        field("save_step", &C::save_step, {1, kMany}, "Steps between checkpoints.").unit("steps"),
        field("val_step", &C::val_step, {1, kMany}, "Steps between evaluations.").unit("steps"),
        field("log_step", &C::log_step, {1, kMany},
              "Steps between lines of metrics.jsonl and points of TensorBoard.")
            .unit("steps"),
        field("keep_checkpoints", &C::keep_checkpoints, {1, 100'000},
              "Newest checkpoints kept; the best is kept besides."),
        field("early_stopping_patience", &C::early_stopping_patience, {1, kMany},
              "Evaluations without progress before training ends."),
        field("early_stopping_min_delta", &C::early_stopping_min_delta, {0.0, 1e9},
              "Smallest fall of the loss that counts as progress."),
        field("max_bad_steps", &C::max_bad_steps, {0, kMany},
              "Steps with a non-finite loss that are skipped before training ends."),
    };
  }
};

struct OptimizerSettings {
  static constexpr std::string_view kSection = "training";
  static constexpr std::string_view kTitle = "Optimiser and schedule";

  std::string optimizer = "adamw";
  double learning_rate = 1e-4, min_learning_rate = 1e-7;
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8, weight_decay = 1e-6;
  double ema_decay = 0.999;
  double gradient_clip_norm = 1.0;
  Scheduler scheduler = Scheduler::kNoam;
  std::int64_t warmup_steps = 4000, restart_period_steps = 8000;
  double restart_mult = 0.8;

  static constexpr auto fields() {
    using C = OptimizerSettings;
    return std::tuple{
        field("optimizer", &C::optimizer, "Update rule.").choices("adamw adam"),
        field("learning_rate", &C::learning_rate, {0.0, 10.0}, "Largest step size.")
            .flags("--lr --learning-rate"),
        field("min_learning_rate", &C::min_learning_rate, {0.0, 10.0}, "Smallest step size."),
        field("beta1", &C::beta1, {0.0, 0.999999}, "Decay of the first moment."),
        field("beta2", &C::beta2, {0.0, 0.999999}, "Decay of the second moment."),
        field("eps", &C::epsilon, {1e-16, 1.0}, "Added to the root of the second moment."),
        field("weight_decay", &C::weight_decay, {0.0, 1.0}, "Decoupled weight decay."),
        field("ema_decay", &C::ema_decay, {0.0, 0.999999},
              "Decay of the average of the weights, which evaluates and speaks."),
        field("gradient_clip_norm", &C::gradient_clip_norm, {0.0, 1e6},
              "Longest gradient; 0: not clipped.")
            .myxtts("training.gradient_clip_val"),
        field("scheduler", &C::scheduler, "Course of the step size.")
            .myxtts("training.lr_schedule"),
        field("warmup_steps", &C::warmup_steps, {0, 1'000'000'000}, "Steps of linear warm-up.")
            .unit("steps"),
        field("restart_period", &C::restart_period_steps, {1, 1'000'000'000},
              "First period of cosine_restarts, and length of cosine.")
            .unit("steps"),
        field("restart_mult", &C::restart_mult, {0.01, 100.0},
              "Factor on the peak at each restart."),
    };
  }
};

// What is watched and written beside the work.
struct ObserveSettings {
  static constexpr std::string_view kSection = "observe";
  static constexpr std::string_view kTitle = "Watching";

  bool records = true;
  std::string metrics;
  bool metrics_remote = false;
  std::string trace;
  std::string report;
  std::string report_language = "en";
  std::string tensorboard_log_dir;
  Maybe<std::int64_t> spectrogram_log_interval;
  bool enable_text2audio_eval = false;
  std::int64_t text2audio_interval_steps = 200;
  std::string text2audio_output_dir;
  std::vector<std::string> text2audio_texts;
  std::int64_t report_every_epochs = 10;
  double sample_interval_s = 1.0;

  static constexpr auto fields() {
    using C = ObserveSettings;
    constexpr std::int64_t kMany = 1'000'000'000'000;
    return std::tuple{
        field("records", &C::records,
              "Keep a record of what happened to each of the last batches, for other processes too "
              "(docs/format/records.md)."),
        field("metrics", &C::metrics,
              "Address at which a training serves its figures to Prometheus and browsers, e.g. "
              "127.0.0.1:9109; empty: none."),
        field("metrics_remote", &C::metrics_remote,
              "Let observe.metrics be an address that other machines can reach."),
        field("trace", &C::trace,
              "File for a trace of the run: .json and .json.gz for Chrome, else for Perfetto."),
        field("report", &C::report,
              "File for an HTML report of the training, written at its end (docs/guide/report.md).")
            .flags("--report --html"),
        field("report_language", &C::report_language, "Language of the report: English or Persian.")
            .choices("en fa"),
        field("tensorboard_log_dir", &C::tensorboard_log_dir,
              "Folder for TensorBoard events; empty: the run folder.")
            .myxtts("paths.log_dir"),
        field("spectrogram_log_interval", &C::spectrogram_log_interval, {1, kMany},
              "Steps between pictures of predicted mels.")
            .unit("steps")
            .flags("--training-samples-log-interval")
            .myxtts("training.spectrogram_log_interval"),
        field("enable_text2audio_eval", &C::enable_text2audio_eval,
              "Speak a few sentences while training.")
            .flags("--enable-evaluation")
            .myxtts("training.enable_text2audio_eval"),
        field("text2audio_interval_steps", &C::text2audio_interval_steps, {1, kMany},
              "Steps between spoken sentences.")
            .unit("steps")
            .flags("--evaluation-interval")
            .myxtts("training.text2audio_interval_steps training.text2audio_interval"),
        field("text2audio_output_dir", &C::text2audio_output_dir,
              "Folder for spoken sentences; empty: samples in the run folder.")
            .flags("--training-samples-dir")
            .myxtts("training.text2audio_output_dir"),
        field("text2audio_texts", &C::text2audio_texts,
              "The sentences; empty: one of the data set.")
            .myxtts("training.text2audio_texts"),
        field("report_every", &C::report_every_epochs, {1, kMany},
              "Epochs between summaries of step, data and compute time.")
            .unit("epochs"),
        field("sample_interval", &C::sample_interval_s, {0.01, 3600.0},
              "Time between samples of GPU, CPU and disk: lines of a run's machine.jsonl, and what "
              "its "
              "endpoint shows.")
            .unit("s"),
    };
  }
};

}  // namespace stoker::config
