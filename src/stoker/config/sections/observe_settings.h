// Settings of what is watched and written beside the work.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "stoker/config/field.h"

namespace stoker::config {

struct ObserveSettings {
  static constexpr std::string_view kSection = "observe";
  static constexpr std::string_view kTitle = "Watching";

  std::string metrics;
  std::string trace;
  std::string report;
  std::string tensorboard_log_dir;
  Maybe<std::int64_t> spectrogram_log_interval;
  bool enable_text2audio_eval = false;
  std::int64_t text2audio_interval_steps = 200;
  std::string text2audio_output_dir;
  std::vector<std::string> text2audio_texts;
  double sample_interval_s = 1.0;

  static constexpr auto fields() {
    using C = ObserveSettings;
    constexpr std::int64_t kMany = 1'000'000'000'000;
    return std::tuple{
        field("metrics", &C::metrics, "Address of the Prometheus endpoint, e.g. 127.0.0.1:9109.")
            .not_yet(NotYet::kFeed),
        field("trace", &C::trace, "File for a Perfetto trace.").not_yet(NotYet::kFeed),
        field("report", &C::report, "File for an HTML report.").not_yet(NotYet::kFeed),
        field("tensorboard_log_dir", &C::tensorboard_log_dir, "Folder for TensorBoard events.")
            .old("paths.log_dir")
            .not_yet(NotYet::kTrain),
        field("spectrogram_log_interval", &C::spectrogram_log_interval, {1, kMany},
              "Steps between pictures of predicted mels.")
            .unit("steps")
            .flags("--training-samples-log-interval")
            .old("training.spectrogram_log_interval")
            .not_yet(NotYet::kTrain),
        field("enable_text2audio_eval", &C::enable_text2audio_eval,
              "Speak a few sentences while training.")
            .flags("--enable-evaluation")
            .old("training.enable_text2audio_eval")
            .not_yet(NotYet::kTrain),
        field("text2audio_interval_steps", &C::text2audio_interval_steps, {1, kMany},
              "Steps between spoken sentences.")
            .unit("steps")
            .flags("--evaluation-interval")
            .old("training.text2audio_interval_steps training.text2audio_interval")
            .not_yet(NotYet::kTrain),
        field("text2audio_output_dir", &C::text2audio_output_dir, "Folder for spoken sentences.")
            .flags("--training-samples-dir")
            .old("training.text2audio_output_dir")
            .not_yet(NotYet::kTrain),
        field("text2audio_texts", &C::text2audio_texts, "The sentences.")
            .old("training.text2audio_texts")
            .not_yet(NotYet::kTrain),
        field("sample_interval", &C::sample_interval_s, {0.01, 3600.0},
              "Time between samples of GPU, CPU and disk.")
            .unit("s")
            .not_yet(NotYet::kFeed),
    };
  }
};

}  // namespace stoker::config
