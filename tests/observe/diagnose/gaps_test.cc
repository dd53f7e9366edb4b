// The longest gaps of planted runs are blamed on who made them: a file, a stage, the consumer.
#include <gtest/gtest.h>

#include <vector>

#include "planted_evidence.h"
#include "stoker/observe/diagnose/diagnosis.h"

namespace stoker::observe {
namespace {

using feed::RecordStage;

TEST(Gaps, TheLongestNamesTheSlowFile) {
  PlantedRun run;
  run.change = [](std::size_t i, PlantedBatch& batch) {
    if (i != 120) return;
    batch.cpu(RecordStage::kDecode) += 0.3;
    batch.slowest_s = 0.3;
    batch.slowest_file = "wavs/slow.flac";
    batch.slowest_stage = RecordStage::kDecode;
  };
  const std::vector<Gap> gaps = find_gaps(plant(run));
  ASSERT_FALSE(gaps.empty());
  EXPECT_EQ(gaps.front().file, "wavs/slow.flac");
  EXPECT_EQ(gaps.front().stage, "decode");
  EXPECT_EQ(gaps.front().batch, 120U);
  EXPECT_FALSE(gaps.front().is_consumer);
}

TEST(Gaps, TheConsumersOwnAreNotTheFeeds) {
  PlantedRun run;
  run.change = [](std::size_t i, PlantedBatch& batch) {
    if (i == 60) batch.works_s[static_cast<std::size_t>(feed::ConsumerWork::kCheckpoint)] = 0.2;
  };
  const std::vector<Gap> gaps = find_gaps(plant(run));
  ASSERT_FALSE(gaps.empty());
  EXPECT_TRUE(gaps.front().is_consumer);
  EXPECT_EQ(gaps.front().stage, "checkpoint");
}

TEST(Gaps, ALineThatWasLoggedIsNotTheReasonOfASlowStep) {
  PlantedRun run;
  run.change = [](std::size_t i, PlantedBatch& batch) {
    if (i != 60) return;
    batch.works_s[static_cast<std::size_t>(feed::ConsumerWork::kLogging)] = 20e-6;
    batch.step_s = 0.3;
  };
  const std::vector<Gap> gaps = find_gaps(plant(run));
  ASSERT_FALSE(gaps.empty());
  EXPECT_TRUE(gaps.front().is_consumer);
  EXPECT_EQ(gaps.front().stage, "step");
  EXPECT_EQ(gaps.front().sentence, "the consumer's own step");
}

}  // namespace
}  // namespace stoker::observe
