// One training from settings to summary: opens the feeds, resumes, steps, evaluates, saves, tells.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>

#include "stoker/base/clock.h"
#include "stoker/base/io/io.h"
#include "stoker/base/json.h"
#include "stoker/config/settings.h"
#include "stoker/train/loop/learner.h"

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

struct TrainingHooks {
  Io* io = &system_io();
  const Clock* clock = &system_clock();
  TellEvent tell = [](const Json&) {};
  std::stop_token stop = {};
  // Tests bring a stand-in.
  std::function<std::unique_ptr<Learner>(const LearnerOptions&)> make_learner =
      stoker::train::make_learner;
};

// Trains as the settings say; returns the keys of `stoker train --json` (docs/guide/train.md).
// Throws Failure.
Json run_training(const config::Settings& settings, const TrainingHooks& hooks);

}  // namespace stoker::train
