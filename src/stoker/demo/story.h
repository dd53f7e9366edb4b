// The demo: what stoker does, done once on the built-in voice and on this machine, with everything
// measured kept.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/audio/feature_file.h"
#include "stoker/base/io/io.h"
#include "stoker/base/philox.h"
#include "stoker/data/account.h"
#include "stoker/demo/feed_runs.h"
#include "stoker/demo/gpu_figures.h"
#include "stoker/demo/training.h"
#include "stoker/observe/machine_survey.h"

namespace stoker::demo {

struct DemoOptions {
  std::string out;  // the folder; what an earlier demo left there is replaced
  std::uint64_t num_utterances = 48;
  std::uint32_t num_speakers = 4;
  std::uint64_t seed = kDefaultSeed;
  unsigned num_workers = 1;
  double training_s = 60;  // 0: no training
};

// The trainer, or why there is none.
using OpenTrainer = std::function<Result<std::unique_ptr<DemoTrainer>>()>;

// One utterance, looked at from all sides.
struct DemoSample {
  std::string id;
  std::string text;
  std::uint32_t rate_hz = 0;
  std::vector<std::int16_t> spoken{};
  std::vector<std::int16_t> returned{};  // after log-mel and back
  audio::FileFeatures features{};
  audio::FileFeatures returned_features{};
  double mean_difference_db = 0;    // between the two, over all cells
  double mel_times_real_time = 0;   // speed of the way there
  double back_times_real_time = 0;  // and of the way back
};

struct DemoStory {
  observe::MachineSurvey machine;
  std::string data_folder;
  double make_s = 0;
  double audio_s = 0;
  std::string tree_digest;
  data::IndexCounts counts;
  double check_s = 0;
  std::vector<double> durations_s;
  std::vector<std::string> speakers;
  DemoSample sample;
  DemoRace race;
  std::optional<DemoGpu> gpu;  // nothing on a machine without one that can be used
  std::optional<DemoTraining> training;
  std::string training_left_out;  // why there is none
};

struct DemoHooks {
  std::function<void(std::string_view)> say;  // gets a line before each part
  OpenTrainer open_trainer;
  std::stop_token stop = {};
};

// Tells the story; after a stop there is no page. Throws what a part throws.
DemoStory tell_demo(Io& io, const DemoOptions& options, const DemoHooks& hooks);

// The story as one page.
std::string demo_page(const DemoStory& story);

}  // namespace stoker::demo
