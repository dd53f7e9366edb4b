// What a run says before its first step, and what it hands on to the learner and to whoever speaks.
#include <gmock/gmock.h>

#include "stoker/train/errors.h"
#include "stoker/train/loop/run_feeds.h"
#include "tests/doubles/simulated_gpu.h"
#include "tests/feed/device/log_mel_kernels.h"
#include "tests/train/loop/small_run.h"

namespace stoker::train {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

// Lines from the one that names the mode on.
std::vector<std::string> mode_lines(const SmallRun& run) {
  std::vector<std::string> lines = run.lines();
  std::size_t begin = 0;
  while (begin < lines.size() && !lines[begin].starts_with("Intelligent")) ++begin;
  lines.erase(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(begin));
  return lines;
}

struct GpuRun : SmallRun {
  explicit GpuRun(unsigned num_rows = 24)
      : SmallRun(num_rows), gpu({.num_devices = 2}), view(feed::view_of(gpu)) {
    settings.run.device = "auto";
    settings.gpu.buffer_size = 4;
    settings.training.steps = 2;
    devices = &view;
  }
  SimulatedGpu gpu;
  feed::DeviceView view;
};

TEST(StartLinesTest, OneGpu) {
  GpuRun run;
  run.settings.run.device = "cuda";
  run.settings.gpu.model_start_delay_s = 1.5;
  run.train();
  const std::vector<std::string> lines = mode_lines(run);
  ASSERT_GE(lines.size(), 4U);
  EXPECT_EQ(lines.front(), "Intelligent GPU Pipeline: Single-GPU Buffered Mode");
  EXPECT_THAT(lines[1], StartsWith("  - Buffer Size: 4"));
  EXPECT_EQ(lines[lines.size() - 2],
            "  Waiting for the buffer, at most 1.5 s after the first batch ...");
  EXPECT_THAT(lines.back(), StartsWith("Model training starting now (buffer "));
  EXPECT_EQ(run.script.options.device, Device::cuda(0));
  EXPECT_EQ(run.script.options.precision, config::Precision::kBf16);
}

TEST(StartLinesTest, GraphsAreCapturedBeforeTheFirstStepOfAGpu) {
  GpuRun run;
  run.settings.run.device = "cuda";
  run.script.graphs = {.num_captured = 3, .num_eager = 1, .capture_s = 1.26, .reason = "a wait"};
  run.train();
  EXPECT_TRUE(run.script.options.uses_graphs);
  ASSERT_FALSE(run.script.prepared.empty());
  EXPECT_GT(run.script.prepared.front().num_frames, 0);
  EXPECT_TRUE(run.has_told("graphs    captured 3 shapes in 1.3 s"));
  EXPECT_TRUE(run.has_told("1 shape cannot be captured and run without graphs: a wait", "warning"));

  GpuRun off;
  off.settings.run.device = "cuda";
  off.settings.training.graphs = config::OnOffAuto::kOff;
  off.train();
  EXPECT_FALSE(off.script.options.uses_graphs);
  EXPECT_TRUE(off.script.prepared.empty());
  EXPECT_FALSE(off.has_told("captured"));
}

struct FittedRun : GpuRun {
  static constexpr std::uint64_t kAllowedBytes = std::uint64_t{1} << 29U;  // half of the card

  FittedRun() : GpuRun(96) {
    settings.run.device = "cuda";
    settings.batch.batch_frames.reset();
    settings.batch.batch_size.reset();
    settings.training.max_memory_fraction = 0.5;
    script.probe = [this](const StepShape& shape) { return take(shape.num_frames); };
    // Together they hold more than the largest of them alone.
    script.held = [this](std::span<const StepShape> prepared) {
      std::int64_t most = 0;
      for (const StepShape& shape : prepared) most = std::max(most, shape.num_frames);
      return take(most + most / 4);
    };
  }
  std::uint64_t take(std::int64_t num_frames) {
    const auto bytes =
        static_cast<std::uint64_t>(bytes_per_frame * static_cast<double>(num_frames));
    if (!script.bounds_bytes.empty() && bytes > script.bounds_bytes.back())
      raise({.code = &kTrainMemory, .found = "no memory"});
    most_bytes = std::max(most_bytes, bytes + gpu.allocated_bytes());
    if (num_frames > 0) last_bytes = bytes + gpu.allocated_bytes();
    return bytes;
  }
  double bytes_per_frame = 1;
  std::uint64_t most_bytes = 0;  // of all
  std::uint64_t last_bytes = 0;  // of the steps that were tried last and all else
};

// What the driver takes for recorded steps and loaded kernels is not libtorch's.
struct DriverMemory {
  explicit DriverMemory(FittedRun& of) : run(of) {
    run.script.on_prepared = [this](std::span<const StepShape> prepared) {
      hold(prepared.empty() ? 0 : kBytes);
    };
  }
  ~DriverMemory() { hold(0); }
  DriverMemory(const DriverMemory&) = delete;
  DriverMemory& operator=(const DriverMemory&) = delete;

  void hold(std::uint64_t size_bytes) {
    if (memory != nullptr) run.gpu.free(0, std::exchange(memory, nullptr));
    if (size_bytes > 0) memory = run.gpu.allocate(0, size_bytes);
  }
  static constexpr std::uint64_t kBytes = FittedRun::kAllowedBytes / 5;
  FittedRun& run;
  void* memory = nullptr;
};

TEST(StartLinesTest, WhatTheDriverTakesForStepsIsOfTheShareToo) {
  FittedRun unbounded;
  const double most = unbounded.train().at("sizing").at("batch_frames").number();
  for (const bool uses_graphs : {true, false}) {
    FittedRun run;
    run.bytes_per_frame = 2.0 * FittedRun::kAllowedBytes / most;
    if (!uses_graphs) run.settings.training.graphs = config::OnOffAuto::kOff;
    DriverMemory driver(run);
    // Kernels are loaded by the first step, whether it is recorded or not.
    if (!uses_graphs)
      run.script.probe = [&](const StepShape& shape) {
        const std::uint64_t bytes = run.take(shape.num_frames);
        driver.hold(DriverMemory::kBytes);
        return bytes;
      };
    const Json sizing = run.train().at("sizing");
    EXPECT_LE(sizing.at("bytes").number(), sizing.at("allowed_bytes").number());
    EXPECT_GE(sizing.at("bytes").number(), 0.6 * sizing.at("allowed_bytes").number());
    EXPECT_LE(run.last_bytes, FittedRun::kAllowedBytes) << uses_graphs;
  }
}

TEST(StartLinesTest, WhileSizesAreTriedARunKeepsToItsShareOfTheMemory) {
  FittedRun unbounded;
  const Json most = unbounded.train().at("sizing");
  ASSERT_EQ(most.at("bound_by_data").dump(), "true");
  FittedRun run;
  run.bytes_per_frame = 2.0 * FittedRun::kAllowedBytes / most.at("batch_frames").number();
  const Json sizing = run.train().at("sizing");
  EXPECT_EQ(sizing.at("bound_by_data").dump(), "false");
  EXPECT_LE(run.most_bytes, FittedRun::kAllowedBytes);
  EXPECT_GE(sizing.at("bytes").number(), 0.6 * sizing.at("allowed_bytes").number());
  EXPECT_EQ(run.script.bounds_bytes.back(), FittedRun::kAllowedBytes);
}

TEST(StartLinesTest, DeterministicRunsDoNotMeasureWhereMelsAreMade) {
  for (const bool is_deterministic : {false, true}) {
    GpuRun run;
    run.settings.run.device = "cuda";
    run.settings.loader.preprocessing_mode = config::PreprocessingMode::kRuntime;
    run.settings.training.deterministic = is_deterministic;
    TrainingHooks hooks;
    hooks.devices = run.devices;
    const RunFeeds feeds = open_run_feeds(run.settings, {}, hooks);
    EXPECT_EQ(feeds.settings.gpu.mel_place,
              is_deterministic ? config::MelPlace::kCpu : config::MelPlace::kAuto);
  }
}

TEST(StartLinesTest, GraphsAreRefusedOnACpu) {
  SmallRun run;
  run.train();
  EXPECT_FALSE(run.script.options.uses_graphs);
  SmallRun asked;
  asked.settings.training.graphs = config::OnOffAuto::kOn;
  EXPECT_THAT(asked.refusal(), testing::AllOf(HasSubstr("E-TRAIN-SETTINGS"),
                                              HasSubstr("training.graphs auto or off on a CPU")));
}

TEST(StartLinesTest, TwoGpus) {
  GpuRun run;
  run.settings.gpu.data_gpu = 0;
  run.settings.gpu.model_gpu = 1;
  run.settings.gpu.model_start_delay_s = 0;
  run.train();
  const std::vector<std::string> lines = mode_lines(run);
  ASSERT_GE(lines.size(), 5U);
  EXPECT_EQ(lines.front(), "Intelligent GPU Pipeline: Multi-GPU Mode");
  EXPECT_THAT(lines[1], HasSubstr("Data Processing GPU: 0"));
  EXPECT_THAT(lines[2], HasSubstr("Model Training GPU: 1"));
  EXPECT_THAT(lines.back(), StartsWith("Model training starting now"));
  EXPECT_EQ(run.script.options.device, Device::cuda(1));
}

TEST(StartLinesTest, TheModelGetsItsShareOfTheMemory) {
  GpuRun run;
  run.settings.run.device = "cuda";
  run.settings.training.max_memory_fraction = 0.5;
  run.train();
  EXPECT_EQ(run.script.options.max_device_bytes, std::uint64_t{1} << 29U);
  GpuRun bounded;
  bounded.settings.run.device = "cuda";
  bounded.settings.gpu.model_gpu_memory = config::Bytes{std::uint64_t{1} << 28U};
  bounded.train();
  EXPECT_EQ(bounded.script.options.max_device_bytes, std::uint64_t{1} << 28U);
}

TEST(StartLinesTest, ACpuHasNoBufferToWaitFor) {
  SmallRun run;
  run.settings.training.steps = 2;
  run.train();
  EXPECT_THAT(mode_lines(run), ElementsAre());
  EXPECT_FALSE(run.has_told("Waiting"));
  EXPECT_EQ(run.script.options.max_device_bytes, 0U);
  EXPECT_EQ(run.script.options.precision, config::Precision::kFp32);
}

TEST(StartLinesTest, SentencesAreSpokenIntoTheRunFolder) {
  SmallRun run;
  run.settings.training.steps = 5;
  run.settings.observe.enable_text2audio_eval = true;
  run.settings.observe.text2audio_interval_steps = 2;
  run.settings.observe.text2audio_texts = {"one", "two"};
  std::vector<std::string> asked;
  run.speak_sample = [&](const SampleRequest& request) {
    const std::string file = request.folder + "/step" + std::to_string(request.step) + ".wav";
    std::ofstream(file) << "RIFF";
    asked.push_back(file + " " + request.texts.at(1));
    return std::vector<SpokenSample>{{.file = file, .rate_hz = 22050, .num_samples = 2}};
  };
  run.train();
  const std::string folder = run.settings.training.checkpoint_dir + "/samples/";
  EXPECT_THAT(asked, ElementsAre(folder + "step2.wav two", folder + "step4.wav two"));
  EXPECT_EQ(run.num_events("spoken"), 2U);
}

TEST(StartLinesTest, AVoiceThatCannotSpeakEndsNothing) {
  SmallRun run;
  run.settings.training.steps = 2;
  run.settings.observe.enable_text2audio_eval = true;
  run.settings.observe.text2audio_interval_steps = 1;
  run.speak_sample = [](const SampleRequest&) -> std::vector<SpokenSample> {
    raise(io_error("write", "x.wav", ENOSPC));
  };
  EXPECT_EQ(run.refusal(), "trained");
  EXPECT_TRUE(run.has_told("nothing is spoken this time", "warning"));
}

}  // namespace
}  // namespace stoker::train
