// What a run does beside its steps: evaluates, draws pictures, speaks, saves.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stoker/train/checkpoint/checkpoint_saver.h"
#include "stoker/train/loop/run_report.h"
#include "stoker/train/loop/run_start.h"

namespace stoker::train {

// All of it, at most this many batches, always the same ones in the same order: mean over true
// frames. Nothing where the run has no evaluation part or was stopped meanwhile.
inline constexpr std::uint64_t kMostEvaluationBatches = 200;
std::optional<LossFigures> evaluate(RunFeeds& feeds, Learner& learner, const std::stop_token& stop);

// Of the first utterance of the evaluation part, into TensorBoard.
void draw_pictures(StartedRun& run, RunReport& report, const std::stop_token& stop);

// Sentences into the run folder and TensorBoard.
class SampleSpeaker {
 public:
  SampleSpeaker(const config::Settings& settings, const TrainingHooks& hooks, std::string folder);
  void speak(StartedRun& run, RunReport& report);

 private:
  const TrainingHooks& hooks_;
  std::vector<std::string> texts_;
  std::string folder_;
};

// Saves without stopping training, and tells what came of it.
class RunSaver {
 public:
  RunSaver(RunFolder folder, const KeepRule& keep, const TrainingHooks& hooks);

  void save(StartedRun& run, std::optional<double> evaluated);
  // What has ended since the last call.
  void tell();
  void wait();  // for the save in progress, and tells
  std::optional<std::uint64_t> last_submitted() const { return last_submitted_; }
  // The folder of the newest checkpoint that is on disk; empty: none yet.
  std::string newest() const;
  const std::string& path() const { return path_; }
  const SaverStats& stats() const { return told_; }

 private:
  const TrainingHooks& hooks_;
  std::string path_;
  CheckpointSaver saver_;
  SaverStats told_{};
  std::optional<std::uint64_t> last_submitted_{};
};

}  // namespace stoker::train
