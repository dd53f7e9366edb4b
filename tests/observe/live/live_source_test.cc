// One look at cards, machine and feed; the thread that looks; and the table of samples.
#include "stoker/observe/live/live_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <fstream>
#include <sstream>

#include "stoker/base/errors.h"
#include "stoker/observe/errors.h"
#include "stoker/observe/live/gpu_csv.h"
#include "stoker/observe/live/live_means.h"
#include "stoker/observe/live/live_sampler.h"
#include "tests/observe/live/planted_figures.h"
#include "tests/observe/machine/planted_machine.h"

namespace stoker::observe {
namespace {

using testing::HasSubstr;

LiveSourceOptions planted_options(const PlantedMachine& machine) {
  LiveSourceOptions options;
  options.root = machine.root.path();
  options.clock = &machine.clock;
  options.feed.run_folder = machine.root / "run";
  return options;
}

std::string text_of(const std::string& path) {
  std::ostringstream out;
  out << std::ifstream(path).rdbuf();
  return out.str();
}

TEST(LiveSourceTest, RatesAreOfTheTimeSinceTheLastLook) {
  PlantedMachine machine;
  LiveSource source(planted_options(machine));
  EXPECT_EQ(source.look().number, 1U);
  machine.clock.advance(std::chrono::seconds(2));
  machine.put("proc/stat", PlantedMachine::stat_text(100, 0, 200));
  const LiveFigures figures = source.look();
  EXPECT_EQ(figures.number, 2U);
  EXPECT_NEAR(figures.interval_s, 2, 1e-9);
  EXPECT_NEAR(figures.machine.cpu.busy_cores.value_or(0), 2, 1e-9);
  EXPECT_EQ(figures.feed.state, FeedState::kNotBegun);
}

TEST(LiveSourceTest, EveryCardIsAskedAndOneThatFailsTakesNothingElseWithIt) {
  PlantedMachine machine;
  LiveSourceOptions options = planted_options(machine);
  int num_links = 0;
  options.gpus.gauges.push_back(
      {.index = 0,
       .name = "a",
       .gauge = {.sample = [] { return cuda::GpuSample{.utilization_percent = 5}; },
                 .link =
                     [&] {
                       ++num_links;
                       return cuda::GpuLink{.power_limit_w = 300};
                     }}});
  options.gpus.gauges.push_back(
      {.index = 3, .name = "b", .gauge = {.sample = []() -> cuda::GpuSample {
                                  throw std::runtime_error("lost");
                                }}});
  LiveSource source(std::move(options));
  source.look();
  machine.clock.advance(std::chrono::milliseconds(100));
  const LiveFigures figures = source.look();
  ASSERT_EQ(figures.gpus.size(), 2U);
  EXPECT_EQ(figures.gpus[0].now.utilization_percent, 5U);
  EXPECT_EQ(figures.gpus[0].link.power_limit_w, 300);
  EXPECT_EQ(figures.gpus[1].index, 3U);
  EXPECT_EQ(figures.gpus[1].now.utilization_percent, std::nullopt);
  EXPECT_EQ(num_links, 1);  // it takes the driver 40 ms
}

TEST(LiveSourceTest, TheDriversLibraryGivesEachCardARow) {
  const GpuGauges gauges = open_gpu_gauges({}, STOKER_FAKE_NVML);
  ASSERT_EQ(gauges.gauges.size(), 2U);
  EXPECT_EQ(gauges.gauges[0].name, "first");
  EXPECT_EQ(gauges.gauges[0].gauge.sample().fan_percent, 33U);
  EXPECT_EQ(gauges.gauges[1].gauge.sample().fan_percent, std::nullopt);
  EXPECT_EQ(gauges.gauges[1].gauge.sample().utilization_percent, 41U);
  EXPECT_EQ(open_gpu_gauges({1}, STOKER_FAKE_NVML).gauges.at(0).index, 1U);
}

TEST(LiveSourceTest, ACardThatIsNotThereIsAnErrorAndNoDriverIsNone) {
  try {
    open_gpu_gauges({7}, STOKER_FAKE_NVML);
    FAIL();
  } catch (const GpuError& error) {
    EXPECT_EQ(error.error().code, &kLiveGpu);
  }
  const GpuGauges none = open_gpu_gauges({0}, "libno-such-library.so");
  EXPECT_TRUE(none.gauges.empty());
  EXPECT_THAT(none.why_none, HasSubstr("no NVIDIA driver"));
}

TEST(LiveSamplerTest, WhoAsksGetsTheNewestAndWaitsForTheNext) {
  PlantedMachine machine;
  LiveSourceOptions options = planted_options(machine);
  options.clock = &system_clock();
  LiveSampler sampler(std::move(options), std::chrono::milliseconds(1));
  const std::uint64_t seen = sampler.latest()->number;
  EXPECT_GE(seen, 1U);
  EXPECT_GT(sampler.wait_newer(seen, {}, std::chrono::minutes(1))->number, seen);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_NE(sampler.wait_newer(~std::uint64_t{0}, stop.get_token(), std::chrono::hours(1)),
            nullptr);
}

TEST(GpuCsvTest, RowsHaveTheColumnsThatOldScriptsRead) {
  LiveFigures figures = planted_figures(2);
  figures.gpus[1].now = {};
  const std::string rows = gpu_csv_rows(figures);
  EXPECT_THAT(rows, HasSubstr(",0,97,41.000,139.000,29.5,61,512.4,33\n"));
  EXPECT_THAT(rows, HasSubstr(",1,,,,,,,\n"));
  EXPECT_THAT(rows, testing::StartsWith("2023-11-1"));
  EXPECT_THAT(default_csv_name(figures.unix_ns), testing::StartsWith("gpu_monitor_202311"));
}

TEST(GpuCsvTest, AFileGrowsAndIsContinued) {
  const ScratchFolder folder;
  const std::string path = folder / "gpu.csv";
  for (int i = 0; i < 2; ++i) {
    GpuCsvFile file = GpuCsvFile::open(path).take_or_raise();
    file.add(planted_figures(1)).take_or_raise();
  }
  const std::string text = text_of(path);
  EXPECT_THAT(text, testing::StartsWith(std::string(kGpuCsvHeader)));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3);
}

TEST(GpuCsvTest, OtherFilesAreLeftAsTheyAre) {
  const ScratchFolder folder;
  folder.put("notes.txt", "mine");
  EXPECT_EQ(GpuCsvFile::open(folder / "notes.txt").error().code, &kLiveCsv);
  EXPECT_EQ(text_of(folder / "notes.txt"), "mine");
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(GpuCsvFile::open(folder / "pipe").error().code, &kIoKind);
  EXPECT_FALSE(GpuCsvFile::open(folder.path()).ok());
}

TEST(LiveMeansTest, WhatIsNotKnownIsNotCounted) {
  LiveMeans means;
  LiveFigures figures = planted_figures(1);
  means.add(figures);
  figures.gpus[0].now.utilization_percent = 47;
  figures.machine.cpu.busy_cores.reset();
  means.add(figures);
  const Json json = means.json();
  EXPECT_EQ(means.num_samples(), 2U);
  EXPECT_NEAR(json.at("cpu_busy_cores").number(), 13.5, 1e-9);
  EXPECT_NEAR(json.at("gpus").elements().at(0).at("utilization").number(), 72, 1e-9);
  EXPECT_NEAR(json.at("feed").at("clips_per_s").number(), 196, 1e-9);
}

TEST(LiveFiguresTest, TheJsonHasEveryPart) {
  const Json json = planted_figures(1).json();
  EXPECT_EQ(json.at("gpus").elements().at(0).at("fan_pct").number(), 33);
  EXPECT_EQ(json.at("feed").at("state").text(), "running");
  EXPECT_EQ(json.at("feed").at("gaps").elements().at(0).at("file").text(), "wavs/slow.wav");
  EXPECT_NEAR(json.at("feed").at("stages").at("mel").number(), 0.7, 1e-9);
  EXPECT_EQ(json.at("process").at("pid").number(), 123);
}

}  // namespace
}  // namespace stoker::observe
