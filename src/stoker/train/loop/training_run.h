// One training from settings to summary: opens the feeds, resumes, steps, evaluates, saves, tells.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "stoker/base/clock.h"
#include "stoker/base/io/io.h"
#include "stoker/base/json.h"
#include "stoker/config/settings.h"
#include "stoker/feed/device/gpu_mode.h"
#include "stoker/observe/machine/gpu_gauge.h"
#include "stoker/train/loop/learner.h"
#include "stoker/train/loop/voice_record.h"

namespace stoker::train {

// What a run tells while it goes on. `kind` is one of
//   line      text          a line for people: mode, start rule, what is resumed, warnings apart
//   warning   text
//   progress  text, step, … the progress line, at most ten times a second; plain lines are made
//                           from it by whoever shows them
//   saved     step, folder
//   evaluated step, losses
//   spoken    step, files
using TellEvent = std::function<void(const Json& event)>;

// Sentences that are spoken while training goes on (observe.enable_text2audio_eval).
struct SampleRequest {
  Learner& learner;
  const VoiceRecord& voice;
  std::uint64_t step = 0;
  std::vector<std::string> texts;
  std::string folder;  // exists
};

struct SpokenSample {
  std::string file;  // a WAV file in the folder
  std::uint32_t rate_hz = 0;
  std::uint64_t num_samples = 0;
};

struct TrainingHooks {
  Io* io = &system_io();
  const Clock* clock = &system_clock();
  TellEvent tell = [](const Json&) {};
  std::stop_token stop = {};
  // Tests bring a stand-in.
  std::function<std::unique_ptr<Learner>(const LearnerOptions&)> make_learner =
      stoker::train::make_learner;
  // Writes what the learner speaks; may throw Failure, which is told and ends nothing. Null: a
  // warning where sentences were asked for.
  std::function<std::vector<SpokenSample>(const SampleRequest&)> speak_sample = {};
  const feed::DeviceView* devices = nullptr;  // null: asks the driver
  // What the GPU does meanwhile; null: NVML, of the device that the model is on.
  std::function<observe::GpuGauge(int device)> open_gauge = {};
};

// Trains as the settings say; returns the keys of `stoker train --json` (docs/guide/train.md).
// Throws Failure.
Json run_training(const config::Settings& settings, const TrainingHooks& hooks);

}  // namespace stoker::train
