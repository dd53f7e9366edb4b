// What a run says before its first step, and what it hands on to the learner and to whoever speaks.
#include <gmock/gmock.h>

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
  GpuRun() : gpu({.num_devices = 2}), view(feed::view_of(gpu)) {
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
