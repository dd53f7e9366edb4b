// A measured run with a scripted learner: what is counted, what stays in memory, what is refused.
#include "stoker/train/measure/measured_run.h"

#include <gmock/gmock.h>

#include <chrono>
#include <filesystem>
#include <set>

#include "stoker/train/checkpoint/run_folder.h"
#include "stoker/train/errors.h"
#include "tests/train/loop/small_run.h"

namespace stoker::train {
namespace {

using testing::HasSubstr;

Json measure(SmallRun& run, const MeasureRequest& request) {
  TrainingHooks hooks;
  hooks.tell = [&run](const Json& event) { run.events.push_back(event); };
  hooks.stop = run.stop.get_token();
  hooks.make_learner = [&run](const LearnerOptions& options) {
    return std::make_unique<ScriptedLearner>(run.script, options);
  };
  return run_measurement(run.settings, request, hooks);
}

constexpr double kSeconds = 0.2;
constexpr double kWarmS = 0.05;

// Steps as long as their frames say, on a device whose clock the host does not follow.
void use_device_clock(SmallRun& run, double fed_factor_from_update = 1) {
  run.script.ended_s = [now_s = 1.0, fed_factor_from_update](std::uint64_t,
                                                             std::uint64_t true_frames) mutable {
    return now_s += 1e-5 * fed_factor_from_update * static_cast<double>(true_frames);
  };
}

TEST(MeasuredRunTest, NothingIsSaved) {
  SmallRun run;
  measure(run, {.seconds = kSeconds, .warmup_s = kWarmS});
  EXPECT_FALSE(std::filesystem::exists(run.settings.training.checkpoint_dir));
  EXPECT_EQ(run.num_events("saved") + run.num_events("evaluated"), 0U);
}

TEST(MeasuredRunTest, KeepsWhatTheFedStepsHaveLearned) {
  SmallRun run;
  const std::string folder = run.settings.training.checkpoint_dir + "-kept";
  const Json result =
      measure(run, {.seconds = kSeconds, .warmup_s = kWarmS, .with_steps = true, .keep = folder});
  const FoundCheckpoint found = load_checkpoint(system_io(), folder).take_or_raise();
  EXPECT_EQ(found.folder, result.at("kept").text());
  EXPECT_GE(static_cast<double>(found.checkpoint.step), result.at("steps").number());
  EXPECT_EQ(run.num_events("saved"), 1U);
  EXPECT_FALSE(std::filesystem::exists(run.settings.training.checkpoint_dir));
}

TEST(MeasuredRunTest, RatesAreThoseOfTheDevicesClock) {
  SmallRun run;
  run.script.figures_late = 3;
  use_device_clock(run);
  const Json result = measure(run, {.seconds = kSeconds, .warmup_s = kWarmS, .with_steps = true});
  EXPECT_EQ(result.at("clock").text(), "device");
  EXPECT_NEAR(result.at("frames_per_s").number(), 1e5, 1);
  EXPECT_NEAR(result.at("au").number(), 1, 0.15) << "both kinds of steps take the same time";
  EXPECT_GT(result.at("au_coverage").number(), 0.5);
  EXPECT_EQ(result.at("per_step").at("interval_ms").elements().size(),
            static_cast<std::size_t>(result.at("steps").number()));
  EXPECT_EQ(result.at("resident").at("clock").text(), "device");
}

TEST(MeasuredRunTest, HostClockIsUsedWhereTheDeviceHasNone) {
  SmallRun run;
  const Json result = measure(run, {.seconds = kSeconds, .warmup_s = kWarmS});
  EXPECT_EQ(result.at("clock").text(), "host");
  EXPECT_NEAR(result.at("measured_s").number(), kSeconds, kSeconds);
  EXPECT_EQ(result.at("per_step").dump(), "null");
  EXPECT_EQ(result.at("gpu_util_mean").dump(), "null");
  EXPECT_GT(result.at("memory").at("host_bytes_end").number(), 0);
  for (const char* key : {"precision", "parameters", "batch_rows", "batch_frames", "graphs",
                          "batch_ms", "interval_cv", "shape_cv", "data_ms", "compute_ms",
                          "cpu_percent", "samples_per_s", "shapes"})
    EXPECT_TRUE(result.contains(key)) << key;
}

TEST(MeasuredRunTest, LoadersDifferInSpeedOnly) {
  SmallRun naive;
  use_device_clock(naive);
  const Json slow = measure(naive, {.is_naive = true, .seconds = kSeconds, .warmup_s = kWarmS});
  EXPECT_EQ(slow.at("loader").text(), "naive");
  EXPECT_EQ(slow.at("num_workers").number(), 0);
  EXPECT_GT(slow.at("data_ms").number(), 0);
  SmallRun native;
  const Json fast = measure(native, {.seconds = kSeconds, .warmup_s = kWarmS});
  EXPECT_EQ(fast.at("loader").text(), "native");
  EXPECT_GT(fast.at("num_workers").number(), 0);
  EXPECT_EQ(fast.at("num_shapes").number(), slow.at("num_shapes").number());
}

TEST(MeasuredRunTest, EveryShapeIsMetBeforeAnythingIsCounted) {
  SmallRun run;
  const Json result =
      measure(run, {.seconds = kSeconds, .warmup_s = kWarmS, .mode = MeasureMode::kResident});
  EXPECT_EQ(result.at("shapes").elements().size(),
            static_cast<std::size_t>(result.at("num_shapes").number()));
  EXPECT_EQ(result.at("au").dump(), "null");
  EXPECT_GT(result.at("steps").number(), 1);
}

TEST(MeasuredRunTest, ResidentStepsRepeatTheShapesOfFedOnesWithAccumulation) {
  SmallRun run;
  run.settings.training.gradient_accumulation_steps = 2;
  use_device_clock(run);
  const Json result = measure(run, {.seconds = kSeconds, .warmup_s = kWarmS});
  EXPECT_EQ(result.at("accumulation").number(), 2);
  EXPECT_NEAR(result.at("au").number(), 1, 0.2);
  EXPECT_THAT(result.at("shapes").dump(), HasSubstr("+"));
}

TEST(MeasuredRunTest, WindowTooShortForAFigureIsRefused) {
  SmallRun run;
  try {
    measure(run, {.seconds = 1e-9, .warmup_s = 1e-9, .mode = MeasureMode::kFeed});
    FAIL();
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.error().code, &kTrainData);
  }
}

TEST(MeasuredRunTest, StopEndsIt) {
  SmallRun run;
  run.script.on_update = [&run](std::uint64_t update) {
    if (update == 20) run.stop.request_stop();
  };
  const auto began = std::chrono::steady_clock::now();
  EXPECT_EQ(measure(run, {.seconds = 600, .warmup_s = 600}).at("stopped").dump(), "true");
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(60));
}

TEST(MeasuredRunTest, ModesHaveNames) {
  EXPECT_EQ(measure_mode_from("both"), MeasureMode::kBoth);
  EXPECT_THROW(measure_mode_from("fed"), ConfigError);
}

}  // namespace
}  // namespace stoker::train
