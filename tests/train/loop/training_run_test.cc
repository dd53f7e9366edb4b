// The loop with a learner that remembers what it got: windows, ends, evaluation, refusals.
#include "stoker/train/loop/training_run.h"

#include <gmock/gmock.h>

#include <fstream>

#include "stoker/train/checkpoint/run_folder.h"
#include "stoker/train/errors.h"
#include "tests/train/loop/small_run.h"

namespace stoker::train {
namespace {

using testing::HasSubstr;

TEST(TrainingRunTest, TakesEveryBatchOfTheEpochsOnceAndSavesAtTheEnd) {
  SmallRun run;
  const Json result = run.train();
  const std::size_t per_epoch = run.script.updates.size() / 2;
  ASSERT_GE(per_epoch, 3U);
  EXPECT_EQ(run.script.updates.size(), 2 * per_epoch);
  for (std::size_t i = 0; i < run.script.updates.size(); ++i)
    EXPECT_EQ(run.script.updates[i].batches.at(0).number, i);
  EXPECT_EQ(result.at("steps").number(), static_cast<double>(run.script.updates.size()));
  EXPECT_EQ(result.at("epochs").number(), 2);
  EXPECT_EQ(result.at("checkpoint").text(), run.settings.training.checkpoint_dir + "/checkpoints/" +
                                                checkpoint_name(run.script.updates.size()));
  EXPECT_EQ(run.num_events("saved"), 1U);
  EXPECT_THAT(run.run_file("config.yaml"), HasSubstr("model_size: tiny"));
  EXPECT_FALSE(run.has_told("GPU")) << "nothing of a GPU is said on a CPU";
  for (const char* key :
       {"loss_first", "loss_last", "flow_first", "flow_last", "clips_per_s", "frames_per_s",
        "stall_share", "interval_cv", "au", "gpu_util_mean", "gpu_util_p5", "cpu_percent",
        "data_ms", "compute_ms", "cache", "fallbacks", "parameters", "run"})
    EXPECT_TRUE(result.contains(key)) << key;
}

TEST(TrainingRunTest, AccumulatesAndUpdatesWithWhatAnEpochHasLeft) {
  SmallRun plain;
  plain.train();
  const std::size_t per_epoch = plain.script.updates.size() / 2;
  SmallRun run;
  run.settings.training.gradient_accumulation_steps = 2;
  run.train();
  const std::size_t per_epoch_updates = (per_epoch + 1) / 2;
  ASSERT_EQ(run.script.updates.size(), 2 * per_epoch_updates);
  std::uint64_t number = 0;
  for (const DoneUpdate& update : run.script.updates)
    for (const AddedBatch& batch : update.batches) EXPECT_EQ(batch.number, number++);
  EXPECT_EQ(number, 2 * per_epoch);
  EXPECT_EQ(run.script.updates[per_epoch_updates - 1].batches.size(), 2 - per_epoch % 2);
}

TEST(TrainingRunTest, EndsAfterStepsAndAfterSeconds) {
  SmallRun run;
  run.settings.training.epochs = 1000;
  run.settings.training.steps = 5;
  EXPECT_EQ(run.train().at("steps").number(), 5);
  SmallRun timed;
  timed.settings.training.epochs = 1'000'000;
  timed.settings.training.seconds = 0.2;
  EXPECT_GE(timed.train().at("steps").number(), 1);
}

TEST(TrainingRunTest, WritesItsReportWhenTheFeedIsClosed) {
  SmallRun run;
  const std::string page = run.set.folder() / "report.html";
  run.settings.observe.report = page;
  EXPECT_EQ(run.train().at("report").text(), page);
  EXPECT_TRUE(run.has_told("report " + page));
  std::ifstream file(page);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  EXPECT_THAT(text, HasSubstr("run · ended, by stoker"));
  EXPECT_THAT(text, HasSubstr(">Loss and spoken samples</h2>"));
}

TEST(TrainingRunTest, AReportThatCannotBeWrittenEndsNothing) {
  SmallRun run;
  run.settings.observe.report = run.set.folder().path();  // a folder
  const Json result = run.train();
  EXPECT_FALSE(result.contains("report"));
  EXPECT_TRUE(run.has_told("the report is not written: error[E-IO-", "warning"));
}

// As when another process takes the device's memory between two steps.
TEST(TrainingRunTest, WhereMemoryEndsASmallerBatchIsNamedAndTheCheckpointStays) {
  SmallRun run;
  run.settings.batch.batch_frames = 1000;
  run.settings.training.save_step = 2;
  run.script.on_update = [](std::uint64_t update) {
    if (update == 3) raise({.code = &kTrainMemory, .found = "the device has no memory left"});
  };
  try {
    run.train();
    FAIL() << "goes on";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.error().code, &kTrainMemory);
    EXPECT_THAT(help_line(failure.error()), HasSubstr("data.batch_frames 704"));
  }
  run.script.on_update = nullptr;
  run.settings.training.resume = true;
  run.train();
  EXPECT_TRUE(run.has_told("step 2")) << "resumed from the checkpoint before the failure";
}

TEST(TrainingRunTest, TheRateFollowsTheSchedule) {
  SmallRun run;
  run.settings.optimizer.learning_rate = 0.03;
  run.settings.optimizer.scheduler = config::Scheduler::kConstant;
  run.train();
  EXPECT_DOUBLE_EQ(run.script.updates[0].learning_rate, 0.01);
  EXPECT_DOUBLE_EQ(run.script.updates[1].learning_rate, 0.02);
  EXPECT_DOUBLE_EQ(run.script.updates[2].learning_rate, 0.03);
  EXPECT_DOUBLE_EQ(run.script.updates[3].learning_rate, 0.03);
}

TEST(TrainingRunTest, EvaluationDoesNotDisturbTheTrainFeed) {
  SmallRun plain(60);
  plain.settings.data.val_split = 0.2;
  plain.settings.data.train_split = 0.8;
  plain.settings.training.val_step = 1000;
  plain.train();
  SmallRun often(60);
  often.settings.data.val_split = 0.2;
  often.settings.data.train_split = 0.8;
  often.settings.training.val_step = 2;
  const Json result = often.train();
  EXPECT_EQ(often.script.updates, plain.script.updates);
  EXPECT_EQ(often.num_events("evaluated"), (often.script.updates.size() + 1) / 2);
  EXPECT_TRUE(result.at("evaluation").contains("prior"));
  EXPECT_TRUE(often.has_told("evaluating on"));
}

TEST(TrainingRunTest, EvaluatesOnADataSetOfItsOwn) {
  SmallRun run;
  const feed::SmallDataSet other(6);
  run.settings.data.val_path = other.folder().path();
  run.settings.training.val_step = 2;
  run.train();
  EXPECT_TRUE(run.has_told("training on 24 utterances, evaluating on 6"));
  EXPECT_GT(run.num_events("evaluated"), 0U);
}

TEST(TrainingRunTest, APrecomputedDataSetServesBothParts) {
  SmallRun run(60);
  run.settings.data.val_split = 0.2;
  run.settings.data.train_split = 0.8;
  run.train();
  const std::vector<DoneUpdate> expected = run.script.updates;
  run.set.build_cache();
  run.settings.loader.preprocessing_mode = config::PreprocessingMode::kAuto;
  run.settings.training.checkpoint_dir = run.set.folder() / "cached";
  const Json result = run.train();
  EXPECT_EQ(run.script.updates, expected);
  EXPECT_EQ(result.at("cache").at("misses").number(), 0);
  EXPECT_GT(result.at("cache").at("hits").number(), 30);
  EXPECT_FALSE(run.has_told("completed while batches are made"));
}

TEST(TrainingRunTest, AnEmptyEvaluationPartIsSaid) {
  SmallRun run;
  run.settings.data.val_split = 1e-6;
  EXPECT_EQ(run.refusal(), "trained");
  EXPECT_TRUE(run.has_told("no evaluation: the evaluation part of the data is empty"));
}

TEST(TrainingRunTest, ARunThatIsDoneSaysSo) {
  SmallRun run;
  run.settings.training.steps = 2;
  run.train();
  run.settings.training.resume = true;
  const Json result = run.train();
  EXPECT_TRUE(run.has_told("nothing is left to do"));
  EXPECT_EQ(result.at("steps").number(), 2);
  EXPECT_EQ(run.num_events("saved"), 0U);
}

TEST(TrainingRunTest, EndsEarlyWithoutProgress) {
  SmallRun run(60);
  run.settings.data.val_split = 0.2;
  run.settings.data.train_split = 0.8;
  run.settings.training.epochs = 50;
  run.settings.training.val_step = 1;
  run.settings.training.early_stopping_patience = 3;
  run.script.evaluation = [](std::uint64_t count) {
    return count < 3 ? 1.0 / static_cast<double>(count) : 0.6;
  };
  const Json result = run.train();
  EXPECT_EQ(result.at("steps").number(), 5) << "progress at 1 and 2, none at 3, 4 and 5";
  EXPECT_EQ(result.at("stopped_early").dump(), "true");
}

TEST(TrainingRunTest, StepsThatAreNotNumbersAreSkippedKeptAndBounded) {
  SmallRun run;
  run.script.bad_batches = {1, 3};
  run.settings.training.max_bad_steps = 2;
  const Json result = run.train();
  EXPECT_EQ(result.at("bad_steps").number(), 2);
  const std::string kept = run.run_file("bad-steps.jsonl");
  EXPECT_THAT(kept, HasSubstr("\"step\":2"));
  EXPECT_THAT(kept, HasSubstr("\"batches\":[3]"));
  EXPECT_THAT(kept, HasSubstr("\"ids\":[\"spk"));
  SmallRun strict;
  strict.script.bad_batches = {1};
  EXPECT_THAT(strict.refusal(), HasSubstr("E-TRAIN-NONFINITE"));
  EXPECT_THAT(strict.run_file("bad-steps.jsonl"), HasSubstr("\"step\":2"));
}

TEST(TrainingRunTest, FiguresThatComeLateAreTheSame) {
  SmallRun run;
  run.train();
  SmallRun late;
  late.script.figures_late = 3;
  late.settings.data.path = run.settings.data.path;
  late.train();
  const auto losses = [](const std::string& text) {
    std::vector<std::string> found;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);)
      found.push_back(Json::parse(line)->at("loss").dump());
    return found;
  };
  EXPECT_EQ(losses(late.run_file("metrics.jsonl")), losses(run.run_file("metrics.jsonl")));
}

TEST(TrainingRunTest, SettingsThatExcludeEachOtherAreRefused) {
  SmallRun run;
  run.settings.training.mel_mean = -5.0;
  EXPECT_THAT(run.refusal(), HasSubstr("E-TRAIN-SETTINGS"));
  run.settings.training.mel_std = 2.0;
  run.settings.training.precision = config::Precision::kFp16;
  EXPECT_THAT(run.refusal(), HasSubstr("E-TRAIN-SETTINGS"));
  run.settings.training.precision = config::Precision::kAuto;
  run.settings.training.model = "myxtts";
  EXPECT_EQ(run.refusal(), "trained");
  EXPECT_TRUE(run.has_told("stoker's own model is trained"));
  EXPECT_EQ(run.script.options.scale, (MelScale{-5.0, 2.0}));
}

TEST(TrainingRunTest, TextsLongerThanTheirSoundCannotBeTrainedOn) {
  SmallRun run;
  run.settings.features.hop_samples = 4096;
  run.settings.features.win_samples = 4096;
  run.settings.features.n_fft = 4096;
  EXPECT_THAT(run.refusal(), HasSubstr("E-TRAIN-DATA"));
}

}  // namespace
}  // namespace stoker::train
