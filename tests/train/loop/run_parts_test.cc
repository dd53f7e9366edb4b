// The parts of a run by themselves: scale, lines, rules of ending, words, alignment.
#include <gmock/gmock.h>

#include <cmath>

#include "stoker/feed/open_feed.h"
#include "stoker/train/errors.h"
#include "stoker/train/loop/alignment_check.h"
#include "stoker/train/loop/mel_scale.h"
#include "stoker/train/loop/progress_line.h"
#include "stoker/train/loop/run_judge.h"
#include "stoker/train/loop/run_state.h"
#include "tests/doubles/scratch_folder.h"
#include "tests/feed/small_data_set.h"

namespace stoker::train {
namespace {

using testing::HasSubstr;

TEST(MelScaleTest, IsTheMeanAndDeviationForAnyNumberOfThreads) {
  feed::SmallDataSet set(150);
  set.settings().loader.preprocessing_mode = config::PreprocessingMode::kRuntime;
  set.settings().batch.batch_dtype = config::MelDtype::kF32;
  feed::OpenedFeed opened = feed::open_feed(set.settings(), {.num_epochs = 1});
  double sum = 0;
  double squares = 0;
  double count = 0;
  while (const auto batch = opened.feed.next()) {
    const feed::MelArray mel = batch->mel();
    const auto* values = static_cast<const float*>(mel.data);
    for (std::size_t row = 0; row < batch->num_rows(); ++row)
      for (std::size_t i = 0; i < static_cast<std::size_t>(batch->mel_len()[row]) * mel.shape[2];
           ++i) {
        const double value = values[row * mel.shape[1] * mel.shape[2] + i];
        sum += value;
        squares += value * value;
        ++count;
      }
  }
  const MelScale one = measure_mel_scale(*opened.source, {.num_workers = 1});
  EXPECT_NEAR(one.mean, sum / count, 1e-9);
  EXPECT_NEAR(one.deviation, std::sqrt(squares / count - sum / count * (sum / count)), 1e-9);
  for (const unsigned num_workers : {2U, 3U, 8U})
    EXPECT_EQ(measure_mel_scale(*opened.source, {.num_workers = num_workers}), one);
  const MelScale part = measure_mel_scale(*opened.source, {.most_utterances = 10});
  EXPECT_NE(part, one);
  EXPECT_NEAR(part.mean, one.mean, 0.5);
}

TEST(LineFileTest, KeepsLinesUpToAStepAndDropsWhatAKillCut) {
  const ScratchFolder folder;
  folder.put("m.jsonl", "{\"step\":1}\n{\"step\":5}\n{\"step\":9}\n{\"st");
  LineFile lines = LineFile::open(system_io(), folder / "m.jsonl", 5);
  lines.append(Json{{"step", 6}});
  std::ifstream file(folder / "m.jsonl");
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  EXPECT_EQ(text, "{\"step\":1}\n{\"step\":5}\n{\"step\":6}\n");
  LineFile::open(system_io(), folder / "m.jsonl", 0);
  EXPECT_EQ(std::filesystem::file_size(folder / "m.jsonl"), 0U);
}

TEST(EarlyStopTest, CountsEvaluationsWithoutProgress) {
  config::TrainingSettings training;
  training.early_stopping_patience = 2;
  training.early_stopping_min_delta = 0.1;
  EarlyStop stop(training);
  EXPECT_FALSE(stop.add(1.0));
  EXPECT_FALSE(stop.add(0.95)) << "less than min_delta is no progress";
  EXPECT_FALSE(stop.add(0.8));
  EXPECT_FALSE(stop.add(std::nan("")));
  EarlyStop later(training);
  later.restore(stop.state());
  EXPECT_EQ(later.best(), 0.8);
  EXPECT_TRUE(later.add(0.79));
  EarlyStop never(config::TrainingSettings{});
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(never.add(1.0));
}

TEST(ProgressLineTest, ReadsAsAgreed) {
  ProgressFigures figures{.step = 1200,
                          .losses = {.duration = 0.11, .prior = 0.30, .flow = 0.42},
                          .clips_per_s = 985.2,
                          .data_ms = 0.12,
                          .step_ms = 58.7,
                          .gpu_percent = 97};
  EXPECT_EQ(progress_text(figures),
            "step 1200 | loss 0.83 (dur 0.11 prior 0.30 flow 0.42) | 985 clips/s | data 0.1 ms "
            "(0.2 %) | step 58.7 ms | GPU 97 %");
  figures.gpu_percent.reset();
  figures.clips_per_s = 6.04;
  EXPECT_THAT(progress_text(figures), testing::EndsWith("| step 58.7 ms"));
  EXPECT_THAT(progress_text(figures), HasSubstr("6.04 clips/s"));
}

TEST(ProgressLineTest, TheSummaryHasTheOldWordAndTheVerdictOfTheDiagnosis) {
  const TimeSummary slow{
      .epochs_done = 10, .num_steps = 40, .step_ms = 100, .data_ms = 31, .compute_ms = 69};
  EXPECT_THAT(summary_text(slow), HasSubstr("data > 30 % of the step"));
  const TimeSummary good{
      .epochs_done = 10, .num_steps = 1, .step_ms = 100, .data_ms = 30, .compute_ms = 70};
  EXPECT_THAT(summary_text(good), HasSubstr("data <= 30 % of the step, training waits for it"));
  const TimeSummary fed{
      .epochs_done = 10, .num_steps = 1, .step_ms = 100, .data_ms = 4, .compute_ms = 96};
  EXPECT_THAT(summary_text(fed), HasSubstr("<= 30 % of the step, training is not held up by it"));
  EXPECT_THAT(summary_text(good), HasSubstr("epoch 10: 1 step of 100.0 ms, data 30.0 ms (30.0 %)"));
}

TEST(RunStateTest, ComesBackAsItWas) {
  RunState state;
  state.feed = "{}";
  state.feed_origin = "o";
  state.step = 7;
  state.batches = 21;
  state.epochs_done = 2;
  state.seed = std::numeric_limits<std::int64_t>::max();
  state.torch_threads = 3;
  state.precision = "bf16";
  state.early_stop = Json{{"best", 0.1}};
  state.first = {{0.1, 1.0 / 3, 2.5e-17}};
  state.totals = {.num_clips = 5, .true_frames = 9, .bad_steps = 1, .train_s = 0.125};
  const std::string text = Json{{"run", run_state_json(state)}}.dump();
  const RunState back = run_state_of(*Json::parse(text), "run");
  EXPECT_EQ(run_state_json(back).dump(), run_state_json(state).dump());
  EXPECT_EQ(back.seed, state.seed);
  EXPECT_EQ(back.first.at(0).prior, 1.0 / 3);
  for (const char* bad : {"{}", "{\"run\":{}}", "{\"run\":3}"}) {
    try {
      run_state_of(*Json::parse(bad), "run");
      ADD_FAILURE() << bad;
    } catch (const StorageError& error) {
      EXPECT_EQ(error.error().code, &kCheckpointBad);
    }
  }
}

// Frames of 256 samples at 22,050 Hz are centred at 5.8, 17.4, 29.0, 40.6, 52.2 ms …
TEST(AlignmentCheckTest, MapsPhonesToTokensWithPausesAtTheEdges) {
  const FrameTimes times{};
  const std::vector<std::string> phones{"AA", "B"};
  const std::vector<TimedPhone> timed{{"SP", 0.010}, {"AA", 0.030}, {"B", 0.045}, {"SP", 0.1}};
  EXPECT_THAT(*known_alignment(timed, phones, times, 6), testing::ElementsAre(0, 1, 1, 2, 3, 3));
  const std::vector<TimedPhone> bare{{"AA", 0.030}, {"B", 0.045}};
  EXPECT_THAT(*known_alignment(bare, phones, times, 5), testing::ElementsAre(1, 1, 1, 2, 3));
  const std::vector<TimedPhone> tail{{"AA", 0.030}, {"B", 0.045}, {"SP", 0.1}};
  EXPECT_THAT(*known_alignment(tail, phones, times, 5), testing::ElementsAre(1, 1, 1, 2, 3));
  const std::vector<TimedPhone> other{{"SP", 0.010}, {"AA", 0.030}, {"D", 0.045}};
  EXPECT_FALSE(known_alignment(other, phones, times, 5).has_value());
}

TEST(AlignmentCheckTest, CountsExactFramesAndNeighbours) {
  AlignmentShare share;
  const std::vector<std::int32_t> known{0, 0, 1, 1, 2};
  const std::vector<std::int32_t> found{0, 1, 1, 2, 0};
  share.add(known, found);
  EXPECT_EQ(share.num_exact, 2U);
  EXPECT_EQ(share.num_near, 4U) << "the second and the fourth are one frame off";
}

}  // namespace
}  // namespace stoker::train
