// Everything between the settings and the first step: folder, checkpoint, feeds, scale and learner.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "stoker/config/settings.h"
#include "stoker/train/checkpoint/run_folder.h"
#include "stoker/train/loop/batch_sizing.h"
#include "stoker/train/loop/learner.h"
#include "stoker/train/loop/run_feeds.h"
#include "stoker/train/loop/run_state.h"
#include "stoker/train/loop/training_run.h"
#include "stoker/train/loop/voice_record.h"

namespace stoker::train {

struct StartedRun {
  std::optional<RunFolder> folder{};  // none where nothing is to be saved
  RunFeeds feeds;
  std::unique_ptr<Learner> learner{};
  Device device = Device::cpu();
  VoiceRecord voice{};
  RunState state{};
  std::optional<BatchSizing> sizing{};  // where batches were fitted to the device in this run
  bool is_resumed = false;
  bool is_reset = false;  // from the weights of an earlier run, whose files were put aside
};

// Tells what people should know on the way. Throws E-TRAIN-SETTINGS, E-TRAIN-RUN, E-TRAIN-LOCKED,
// E-TRAIN-CHANGED, E-CHECKPOINT-…, and what feeds and learner throw.
StartedRun start_run(const config::Settings& settings, const TrainingHooks& hooks);

// The same feeds and learner without a folder: nothing is resumed, nothing can be saved.
StartedRun start_unsaved(const config::Settings& settings, const TrainingHooks& hooks);

// {"kind": "line", "text": …}
void tell_line(const TrainingHooks& hooks, std::string text);
void tell_warning(const TrainingHooks& hooks, std::string text);

}  // namespace stoker::train
