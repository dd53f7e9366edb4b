// From planted findings to settings: reasons with figures, a file that loads, and what is expected
// of small memory, cold storage and cards that are not here.
#include "stoker/observe/recommend/advice.h"

#include <gmock/gmock.h>

#include <fstream>

#include "stoker/config/load.h"
#include "stoker/feed/errors.h"
#include "tests/doubles/scratch_folder.h"

namespace stoker::observe {
namespace {

using testing::Contains;
using testing::HasSubstr;

TriedChoice tried(FeedTier tier, unsigned workers, unsigned depth, double rate) {
  return {{tier, workers, depth}, {rate, rate * 1.001, rate * 0.999}};
}

Findings planted() {
  Findings findings;
  findings.machine.cpus = {.online = 8, .by_affinity = 4, .by_quota = 2.0, .allowed = 2};
  findings.machine.memory = {.total_bytes = 16ULL << 30U, .available_bytes = 8ULL << 30U};
  findings.machine.storage.cold_mb_per_s = 100;
  findings.data = {.num_utterances = 1000,
                   .audio_s = 6500,
                   .formats = {{"flac", 1000}},
                   .rates_hz = {{44100, 1000}},
                   .mean_file_bytes = 3e5,
                   .mel_bytes = 9e7,
                   .pcm_bytes = 2.9e8,
                   .frames_per_clip = 560};
  findings.why_no_gpu = "no GPU: none";
  findings.search.tried = {tried(FeedTier::kFiles, 2, 8, 3000),
                           tried(FeedTier::kCached, 1, 8, 40'000),
                           tried(FeedTier::kCached, 2, 4, 70'000)};
  findings.search.best = findings.search.tried.back();
  findings.held = {.grown_bytes = 30U << 20U, .buffer_bytes = 20U << 20U};
  findings.start_bytes = 10U << 20U;
  return findings;
}

const AdvisedSetting& setting(const Advice& advice, std::string_view path) {
  for (const AdvisedSetting& each : advice.settings)
    if (each.path == path) return each;
  throw std::out_of_range(std::string(path));
}

bool has(const Advice& advice, std::string_view path) {
  return std::any_of(advice.settings.begin(), advice.settings.end(),
                     [&](const AdvisedSetting& each) { return each.path == path; });
}

config::Settings loaded(const Findings& findings, const Advice& advice) {
  const ScratchFolder folder;
  std::ofstream(folder / "r.yaml") << advice_yaml(findings, advice);
  return config::load_settings({.file = folder / "r.yaml"}).settings;
}

TEST(AdviceTest, EverySettingHasItsReasonAndFigure) {
  const Advice advice = advise(planted());
  EXPECT_EQ(setting(advice, "device").value, "cpu");
  EXPECT_EQ(setting(advice, "data.num_workers").value, "2");
  EXPECT_THAT(setting(advice, "data.num_workers").reason,
              HasSubstr("70,000 clips/s; 40,000 with 1 (2 cores allowed)"));
  EXPECT_THAT(setting(advice, "data.preprocessing_mode").reason,
              HasSubstr("files 3,000, cached 70,000 clips/s"));
  EXPECT_FALSE(has(advice, "data.buffer_memory")) << "auto is right where nothing limits";
  for (const AdvisedSetting& each : advice.settings) EXPECT_FALSE(each.reason.empty()) << each.path;
}

TEST(AdviceTest, TheFileLoadsToTheSameValues) {
  Findings findings = planted();
  findings.gpu = GpuFindings{"rtx3060", 12'288, true, false, gpu_by_name("rtx3060")};
  findings.buffer_memory_bytes = 64U << 20U;
  findings.search.best->choice.tier = FeedTier::kMemory;
  const Advice advice = advise(findings);
  const config::Settings settings = loaded(findings, advice);
  EXPECT_EQ(settings.loader.num_workers, 2);
  EXPECT_EQ(settings.loader.prefetch_buffer_size, 4);
  EXPECT_EQ(settings.loader.buffer_memory->count, 64U << 20U);
  EXPECT_EQ(settings.cache.tier, config::CacheTier::kRam);
  EXPECT_EQ(settings.run.device, "cuda");
  EXPECT_EQ(settings.training.precision, config::Precision::kBf16);
  EXPECT_EQ(std::to_string(*settings.batch.batch_frames),
            setting(advice, "data.batch_frames").value);
}

TEST(AdviceTest, TheRangeOfWhatIsExpectedHoldsTheMiddle) {
  const Advice advice = advise(planted());
  EXPECT_NEAR(advice.clips_per_s.value, 70'000, 100);
  EXPECT_LT(advice.clips_per_s.low, 68'500) << "3 % at least: runs hours apart differ";
  EXPECT_GT(advice.clips_per_s.high, 71'500);
  EXPECT_EQ(advice.memory_bytes.value, 40U << 20U);
  EXPECT_LT(advice.memory_bytes.low, advice.memory_bytes.value);
}

TEST(AdviceTest, DataThatTheMemoryCannotHoldIsExpectedFromStorage) {
  Findings findings = planted();
  findings.machine.memory.available_bytes = 50U << 20U;
  const Advice advice = advise(findings);
  EXPECT_NEAR(advice.clips_per_s.value, 100e6 / 9e4, 1) << "100 MB/s of 90 kB a clip";
  EXPECT_THAT(advice.notes, Contains(HasSubstr("larger than the 50.0 MiB of memory")));
}

TEST(AdviceTest, ALimitOfMemoryIsWrittenDown) {
  Findings findings = planted();
  findings.buffer_memory_bytes = 32U << 20U;
  findings.machine.memory.limited_by = "a control group";
  const Advice advice = advise(findings);
  EXPECT_EQ(setting(advice, "data.buffer_memory").value, "32MiB");
  EXPECT_THAT(setting(advice, "data.buffer_memory").reason, HasSubstr("a control group"));
}

struct CardCase {
  const char* name;
  const char* original;
};

TEST(AdviceTest, ACardThatIsNotHereComesWithTheOriginalsValues) {
  for (const CardCase& row :
       {CardCase{"rtx4090", "batch 32 / workers 24 / prefetch 32"},
        CardCase{"RTX 3090", "batch 24 / workers 16 / prefetch 24"},
        CardCase{"3060", "batch 8 / workers 8 / prefetch 8 with accumulation 2"}}) {
    Findings findings = planted();
    const KnownGpu gpu = gpu_by_name(row.name);
    findings.gpu = GpuFindings{std::string(gpu.name), gpu.memory_mib, gpu.has_bf16, false, gpu};
    const Advice advice = advise(findings);
    EXPECT_THAT(advice.notes, Contains(HasSubstr(row.original))) << row.name;
    EXPECT_THAT(advice.notes, Contains(HasSubstr("public figures"))) << row.name;
    EXPECT_EQ(setting(advice, "data.num_workers").value, "2") << "never more than the cores";
    EXPECT_THAT(advice_yaml(findings, advice), HasSubstr("not in this machine"));
    const double step_bytes = std::stod(setting(advice, "data.batch_frames").value) * 199e3;
    EXPECT_LT(step_bytes, 0.9 * static_cast<double>(gpu.memory_mib << 20U)) << row.name;
  }
}

TEST(AdviceTest, ASmallCardAccumulatesAndAnOldOneHasNoBf16) {
  Findings findings = planted();
  findings.gpu = GpuFindings{"small", 4096, false, true, std::nullopt};
  const Advice advice = advise(findings);
  const double frames = std::stod(setting(advice, "data.batch_frames").value);
  const double steps = std::stod(setting(advice, "training.gradient_accumulation_steps").value);
  EXPECT_GE(frames * steps, 20'000);
  EXPECT_EQ(setting(advice, "training.precision").value, "fp16");
}

TEST(AdviceTest, WhatCouldNotRunIsSaidAndNothingAtAllIsThrown) {
  Findings findings = planted();
  findings.refusals.emplace(FeedTier::kPcm, Error{.code = &feed::kFeedMemory, .found = "too big"});
  EXPECT_THAT(advise(findings).notes, Contains("pcm was not possible: too big"));
  findings.search = {};
  EXPECT_THROW(advise(findings), MemoryError);
}

TEST(KnownGpusTest, NamesAreTakenAsPeopleWriteThem) {
  for (const char* name : {"rtx4090", "RTX 4090", "4090", "NVIDIA GeForce RTX 4090"})
    EXPECT_EQ(gpu_by_name(name).name, "rtx4090") << name;
  EXPECT_EQ(find_gpu("NVIDIA H200")->name, "h200");
  EXPECT_FALSE(find_gpu("abacus"));
  try {
    gpu_by_name("rtx409O");
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.error().cure, HasSubstr("rtx4090"));
  }
}

}  // namespace
}  // namespace stoker::observe
