// The whole diagnosis on a real feed: one slow file is named in the longest gap, a consumer that
// logs every eighth step is found by its period, and a cure's prediction is what it brings.
#include "stoker/observe/diagnose/diagnose.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <utility>

#include "stoker/base/progress.h"
#include "stoker/data/voice/data_set_maker.h"
#include "stoker/feed/source/wrapped_source.h"
#include "tests/doubles/scratch_folder.h"

namespace stoker::observe {
namespace {

using feed::UtteranceReader;
using feed::UtteranceSource;

constexpr std::string_view kSlowFile = "spk00_00017.wav";
constexpr auto kSlowTime = std::chrono::milliseconds(120);

// How long the decoding of a file waits: the same on every machine, however busy it is.
using SlowTime = std::function<std::chrono::milliseconds(std::string_view file)>;

std::chrono::milliseconds one_slow_file(std::string_view file) {
  return file.ends_with(kSlowFile) ? kSlowTime : std::chrono::milliseconds(0);
}

class SlowReader final : public UtteranceReader {
 public:
  SlowReader(const UtteranceSource& source, const SlowTime& slow_time)
      : source_(source), slow_time_(slow_time), inner_(source.make_reader()) {}
  Result<std::uint32_t> read_tokens(std::uint32_t utterance, std::span<std::int32_t> out) override {
    return inner_->read_tokens(utterance, out);
  }
  Result<std::uint32_t> read_mel(std::uint32_t utterance, const feed::MelTarget& out,
                                 pipeline::FillContext& context) override {
    const std::chrono::milliseconds slow = slow_time_(source_.file(utterance));
    if (slow.count() > 0) {
      context.enter(feed::kDecode);
      std::this_thread::sleep_for(slow);
    }
    return inner_->read_mel(utterance, out, context);
  }
  Result<std::uint32_t> read_pcm(std::uint32_t utterance, std::span<std::int16_t> out,
                                 pipeline::FillContext& context) override {
    return inner_->read_pcm(utterance, out, context);
  }
  Result<std::uint32_t> read_audio(std::uint32_t utterance, std::span<float> out,
                                   pipeline::FillContext& context) override {
    return inner_->read_audio(utterance, out, context);
  }

 private:
  const UtteranceSource& source_;
  const SlowTime& slow_time_;
  std::unique_ptr<UtteranceReader> inner_;
};

class SlowSource final : public feed::WrappedSource<UtteranceSource> {
 public:
  SlowSource(std::shared_ptr<const UtteranceSource> inner, SlowTime slow_time)
      : WrappedSource(std::move(inner)), slow_time_(std::move(slow_time)) {}
  std::unique_ptr<UtteranceReader> make_reader() const override {
    return std::make_unique<SlowReader>(inner(), slow_time_);
  }

 private:
  SlowTime slow_time_;
};

auto slowed_by(SlowTime slow_time) {
  return [slow_time = std::move(slow_time)](std::shared_ptr<const UtteranceSource> source) {
    return std::make_shared<SlowSource>(std::move(source), slow_time);
  };
}

bool has_run(const Diagnosis& diagnosis, RunKind kind) {
  return std::any_of(diagnosis.runs.begin(), diagnosis.runs.end(), [kind](const SupplyRun& run) {
    return run.kind == kind && run.batches_per_s > 0;
  });
}

// Logs for a while after every eighth batch.
class LoggingConsumer final : public WatchedConsumer {
 public:
  void step(feed::Batch, feed::Feed& feed) override {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    if (++num_steps_ % 8 != 0) return;
    const feed::WorkTimer timer(feed, feed::ConsumerWork::kLogging);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }

 private:
  int num_steps_ = 0;
};

class DiagnoseTest : public testing::Test {
 protected:
  void SetUp() override {
    data::voice::make_data_set(
        system_io(), {.out = folder_.path() + "/voice", .num_utterances = 40}, {}, no_progress())
        .take_or_raise();
  }
  DiagnoseOptions options() const {
    DiagnoseOptions options;
    options.settings.data.path = folder_.path() + "/voice";
    options.settings.run.device = "cpu";
    options.settings.batch.batch_size = 4;
    options.settings.loader.preprocessing_mode = config::PreprocessingMode::kRuntime;
    options.settings.loader.auto_tune_performance = false;
    options.settings.loader.num_workers = 1;
    options.settings.loader.prefetch_buffer_size = 2;
    options.budget_s = 3;
    return options;
  }
  ScratchFolder folder_;
};

TEST_F(DiagnoseTest, OneSlowFileIsTheLongestGap) {
  DiagnoseOptions how = options();
  how.step_s = 4e-3;
  how.wrap = slowed_by(one_slow_file);
  const Diagnosis diagnosis = diagnose(how).diagnosis;
  ASSERT_FALSE(diagnosis.gaps.empty());
  EXPECT_TRUE(diagnosis.gaps.front().file.ends_with(kSlowFile)) << diagnosis_text(diagnosis);
  EXPECT_EQ(diagnosis.gaps.front().stage, "decode");
  EXPECT_EQ(diagnosis.verdict, LoopVerdict::kStarved);
}

TEST_F(DiagnoseTest, LoggingEveryEighthStepIsFoundByItsPeriod) {
  LoggingConsumer consumer;
  DiagnoseOptions how = options();
  how.consumer = &consumer;
  const Diagnosis diagnosis = diagnose(how).diagnosis;
  EXPECT_EQ(diagnosis.oscillation.period_batches, 8U) << diagnosis_text(diagnosis);
  EXPECT_EQ(diagnosis.oscillation.what, "logging of the consumer");
  ASSERT_FALSE(diagnosis.causes.empty());
  EXPECT_EQ(diagnosis.causes.front().cause, Cause::kLogging);
}

// Workers that sleep need no core: more of them bring more on any machine. A gain is drawn, so that
// a cache is no cure.
TEST_F(DiagnoseTest, ACureIsAppliedAndMeasured) {
  DiagnoseOptions how = options();
  how.step_s = 1e-3;
  how.applies = true;
  how.settings.augment.gain_db = {-3, 3};
  how.wrap = slowed_by([](std::string_view) { return std::chrono::milliseconds(8); });
  const Diagnosis diagnosis = diagnose(how).diagnosis;
  ASSERT_FALSE(diagnosis.cures.empty());
  EXPECT_EQ(diagnosis.cures.front().set.front().substr(0, 16), "data.num_workers");
  ASSERT_TRUE(diagnosis.cures.front().measured_gain.has_value());
  EXPECT_GT(*diagnosis.cures.front().measured_gain, 1) << diagnosis_text(diagnosis);
}

TEST_F(DiagnoseTest, FilesAreTriedColdAndMelsFromMemory) {
  DiagnoseOptions how = options();
  how.step_s = 1e-3;
  how.budget_s = 12;
  how.num_batches = 40;
  how.wrap = slowed_by([](std::string_view) { return std::chrono::milliseconds(4); });
  const Diagnosis diagnosis = diagnose(how).diagnosis;
  EXPECT_TRUE(has_run(diagnosis, RunKind::kCold)) << diagnosis_text(diagnosis);
  EXPECT_TRUE(has_run(diagnosis, RunKind::kMemory));
  EXPECT_FALSE(has_run(diagnosis, RunKind::kNoCopy));
}

TEST_F(DiagnoseTest, RecordsAloneGiveTheSameVerdict) {
  DiagnoseOptions how = options();
  how.step_s = 50e-6;
  const DiagnoseReport report = diagnose(how);
  const DiagnoseReport again = diagnose_records(report.evidence.watch.records);
  EXPECT_EQ(again.diagnosis.verdict, report.diagnosis.verdict);
  EXPECT_NEAR(again.diagnosis.stall_share, report.diagnosis.stall_share, 0.1);
}

}  // namespace
}  // namespace stoker::observe
