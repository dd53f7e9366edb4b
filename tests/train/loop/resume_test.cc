// Going on after every step gives the batches, numbers, rates and weights of the run that was not
// interrupted; what changed is refused by name.
#include <gmock/gmock.h>

#include <filesystem>
#include <thread>

#include "stoker/train/checkpoint/run_folder.h"
#include "tests/train/loop/small_run.h"

namespace stoker::train {
namespace {

using testing::HasSubstr;

std::vector<std::string> metric_steps(const std::string& text) {
  std::vector<std::string> steps;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);)
    steps.push_back(Json::parse(line)->at("step").dump() + " " +
                    Json::parse(line)->at("loss").dump());
  return steps;
}

void resume_at_every_step(std::int64_t accumulation) {
  SmallRun whole;
  whole.settings.training.gradient_accumulation_steps = accumulation;
  whole.train();
  const std::vector<DoneUpdate> expected = whole.script.updates;
  const std::uint64_t expected_weight = whole.script.weight;
  const std::vector<std::string> expected_metrics = metric_steps(whole.run_file("metrics.jsonl"));
  for (std::size_t at = 1; at < expected.size(); ++at) {
    whole.settings.training.checkpoint_dir = whole.set.folder() / ("at" + std::to_string(at));
    whole.settings.training.resume = true;
    whole.settings.training.steps = static_cast<std::int64_t>(at);
    whole.settings.loader.num_workers = static_cast<std::int64_t>(at % 3);
    whole.train();
    EXPECT_TRUE(whole.has_told("no checkpoint in"));
    std::vector<DoneUpdate> seen = whole.script.updates;
    whole.settings.training.steps = {};
    whole.settings.loader.num_workers = static_cast<std::int64_t>((at + 1) % 4);
    whole.train();
    EXPECT_TRUE(whole.has_told("resumed from"));
    seen.insert(seen.end(), whole.script.updates.begin(), whole.script.updates.end());
    ASSERT_EQ(seen, expected) << "stopped after step " << at;
    ASSERT_EQ(whole.script.weight, expected_weight);
    ASSERT_EQ(metric_steps(whole.run_file("metrics.jsonl")), expected_metrics);
  }
}

TEST(ResumeTest, GoesOnFromEveryStepOfTwoEpochs) { resume_at_every_step(1); }
TEST(ResumeTest, GoesOnFromEveryWindowOfTwoEpochs) { resume_at_every_step(3); }

// As after a kill: files have lines of steps that no checkpoint knows.
TEST(ResumeTest, StepsAfterTheCheckpointAreThereOnce) {
  SmallRun run;
  run.train();
  const std::vector<std::string> expected = metric_steps(run.run_file("metrics.jsonl"));
  run.settings.training.checkpoint_dir = run.set.folder() / "killed";
  run.settings.training.save_step = 2;
  run.settings.training.steps = 5;
  run.train();
  std::filesystem::remove_all(run.settings.training.checkpoint_dir + "/checkpoints/" +
                              checkpoint_name(5));
  std::ofstream(run.settings.training.checkpoint_dir + "/metrics.jsonl", std::ios::app)
      << "{\"step\":6,\"lo";
  run.settings.training.steps = {};
  run.settings.training.resume = true;
  run.train();
  EXPECT_TRUE(run.has_told("resumed from " + run.settings.training.checkpoint_dir +
                           "/checkpoints/" + checkpoint_name(4)));
  EXPECT_EQ(metric_steps(run.run_file("metrics.jsonl")), expected);
}

TEST(ResumeTest, AFolderWithCheckpointsIsNotTrainedInByAccident) {
  SmallRun run;
  run.train();
  EXPECT_THAT(run.refusal(), HasSubstr("E-TRAIN-RUN"));
}

TEST(ResumeTest, ChangedSettingsAreRefusedByNameUnlessAllowed) {
  SmallRun run;
  run.settings.training.steps = 3;
  run.train();
  run.settings.training.resume = true;
  run.settings.training.steps = 6;
  run.settings.optimizer.learning_rate = 0.5;
  const std::string refused = run.refusal();
  EXPECT_THAT(refused, HasSubstr("E-TRAIN-CHANGED"));
  EXPECT_THAT(refused, HasSubstr("training.learning_rate was"));
  run.settings.training.allow_changed_data = true;
  EXPECT_EQ(run.refusal(), "trained");
  EXPECT_TRUE(run.has_told("training.learning_rate", "warning"));
  EXPECT_EQ(run.script.updates.size(), 3U);
}

TEST(ResumeTest, ChangedDataIsRefusedByNameUnlessAllowed) {
  SmallRun run;
  run.settings.training.steps = 2;
  run.train();
  run.settings.training.resume = true;
  run.settings.training.steps = 4;
  run.settings.batch.batch_frames = 900;
  const std::string refused = run.refusal();
  EXPECT_THAT(refused, HasSubstr("E-TRAIN-CHANGED"));
  EXPECT_THAT(refused, HasSubstr("data.batch_frames"));
  run.settings.training.allow_changed_data = true;
  EXPECT_EQ(run.refusal(), "trained");
  EXPECT_EQ(run.script.updates.at(0).batches.at(0).number, 2U) << "numbers go on";
}

TEST(ResumeTest, ResetKeepsWeightsAndPutsTheEarlierRunAside) {
  SmallRun run;
  run.settings.training.steps = 4;
  run.train();
  const std::uint64_t weight = run.script.weight;
  run.settings.training.reset_training = true;
  run.settings.training.steps = 2;
  run.script.on_update = [&](std::uint64_t) {};
  run.train();
  EXPECT_EQ(run.script.num_restored, 1U);
  EXPECT_NE(run.script.weight, weight);
  EXPECT_EQ(run.script.updates.at(0).batches.at(0).number, 0U);
  const FoundCheckpoint newest =
      load_checkpoint(system_io(), run.settings.training.checkpoint_dir).take_or_raise();
  EXPECT_EQ(newest.checkpoint.step, 2U);
  EXPECT_TRUE(std::filesystem::exists(run.settings.training.checkpoint_dir + "/before-" +
                                      checkpoint_name(4) + "-checkpoints/" + checkpoint_name(4)));
}

TEST(ResumeTest, AnotherSizeIsRefused) {
  SmallRun run;
  run.settings.training.steps = 2;
  run.train();
  run.settings.training.reset_training = true;
  run.settings.training.model_size = config::ModelSize::kSmall;
  EXPECT_THAT(run.refusal(), HasSubstr("E-CHECKPOINT-SHAPE"));
}

TEST(ResumeTest, ADamagedCheckpointIsPassedOver) {
  SmallRun run;
  run.settings.training.save_step = 2;
  run.settings.training.steps = 4;
  run.train();
  const std::string newest =
      run.settings.training.checkpoint_dir + "/checkpoints/" + checkpoint_name(4);
  std::ofstream(newest + "/model.safetensors", std::ios::trunc) << "x";
  run.settings.training.resume = true;
  run.settings.training.steps = 6;
  run.train();
  EXPECT_TRUE(run.has_told("passed over", "warning"));
  EXPECT_EQ(run.script.updates.size(), 4U);
}

TEST(ResumeTest, ASecondRunOnTheFolderEndsWithSeven) {
  SmallRun run;
  std::string second;
  run.script.on_update = [&](std::uint64_t update) {
    if (update != 2) return;
    SmallRun other;
    other.settings.training.checkpoint_dir = run.settings.training.checkpoint_dir;
    try {
      other.train();
    } catch (const LockError& error) {
      second = error.error().code->name;
    }
  };
  run.train();
  EXPECT_EQ(second, "E-TRAIN-LOCKED");
}

TEST(ResumeTest, AStopKeepsACheckpointAndSaysHowToGoOn) {
  SmallRun whole;
  whole.train();
  SmallRun run;
  run.settings.data.path = whole.settings.data.path;
  run.settings.training.gradient_accumulation_steps = 1;
  run.script.on_update = [&](std::uint64_t update) {
    if (update == 3) run.stop.request_stop();
  };
  const Json result = run.train();
  EXPECT_EQ(result.at("stopped").dump(), "true");
  EXPECT_EQ(result.at("steps").number(), 3);
  EXPECT_TRUE(run.has_told("--resume"));
  std::vector<DoneUpdate> seen = run.script.updates;
  run.script.on_update = {};
  run.stop = std::stop_source();
  run.settings.training.resume = true;
  run.train();
  seen.insert(seen.end(), run.script.updates.begin(), run.script.updates.end());
  EXPECT_EQ(seen, whole.script.updates);
  EXPECT_EQ(run.script.weight, whole.script.weight);
}

}  // namespace
}  // namespace stoker::train
