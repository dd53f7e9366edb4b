// What a run goes on from besides the weights: counters, the feed's position, and the settings that
// a resume compares.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stoker/base/json.h"
#include "stoker/config/settings.h"
#include "stoker/train/loop/learner.h"

namespace stoker::train {

// Sums over a run, resumes included.
struct RunTotals {
  std::uint64_t num_clips = 0;
  std::uint64_t true_frames = 0;
  std::uint64_t bad_steps = 0;
  double train_s = 0;
};

// After an update; never between the batches of one.
struct RunState {
  std::string feed;         // Feed::state()
  std::string feed_origin;  // Feed::state_origin(); empty where that is too long to keep
  std::uint64_t step = 0;
  std::uint64_t batches = 0;      // since the run's first; keys the draws of the next one
  std::uint64_t epochs_done = 0;  // whole passes
  std::uint64_t seed = 0;
  unsigned torch_threads = 1;
  std::string precision;           // as it was resolved
  std::uint64_t batch_frames = 0;  // that were fitted to the device; 0: as the settings say
  Json early_stop;
  std::vector<LossFigures> first{};  // of at most kEdgeSteps steps each
  std::vector<LossFigures> last{};
  RunTotals totals{};
};

inline constexpr std::size_t kEdgeSteps = 10;
inline constexpr std::size_t kMostOriginBytes = std::size_t{8} << 20U;

// Under the key "run" of state.json.
Json run_state_json(const RunState& state);
// E-CHECKPOINT-BAD, which names `folder`, where something is absent or not of its kind.
RunState run_state_of(const Json& checkpoint_state, const std::string& folder);

struct ChangedSetting {
  std::string path;
  std::string before;
  std::string now;
};

// Settings that decide what the next step computes and that the feed's state does not cover: those
// of training, without where, how long and how often.
std::vector<ChangedSetting> changed_settings(const config::Settings& before,
                                             const config::Settings& now);

// "training.learning_rate was 0.001, is 0.002; …"
std::string changes_text(const std::vector<ChangedSetting>& changes);

}  // namespace stoker::train
