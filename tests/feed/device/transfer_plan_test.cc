// From settings to batches on a (simulated) GPU: routes of the mel, tiers, modes, bounds, resume.
#include "stoker/feed/device/transfer_plan.h"

#include <gtest/gtest.h>

#include "stoker/cuda/errors.h"
#include "stoker/feed/device/gpu_mode.h"
#include "stoker/feed/device/mel_route.h"
#include "stoker/feed/errors.h"
#include "stoker/feed/open_feed.h"
#include "tests/feed/device/open_device_feed.h"

namespace stoker::feed {
namespace {

using TransferPlanTest = OpenDeviceFeedTest;

TEST_F(TransferPlanTest, EveryPlaceTierAndModeGivesTheSameBytes) {
  const std::vector<std::string> expected = host_digests(set_.settings());
  for (const config::MelPlace place : {config::MelPlace::kCpu, config::MelPlace::kGpu}) {
    for (const config::CacheTier tier : {config::CacheTier::kDisk, config::CacheTier::kGpu}) {
      for (const bool is_multi : {false, true}) {
        config::Settings settings = set_.settings();
        settings.gpu.mel_place = place;
        settings.cache.tier = tier;
        if (is_multi) {
          settings.gpu.data_gpu = 0;
          settings.gpu.model_gpu = 1;
        }
        OpenedFeed opened = open(settings);
        EXPECT_EQ(opened.mode.choice.mode, is_multi ? GpuMode::kMultiGpu : GpuMode::kSingleGpu);
        EXPECT_EQ(digests(opened.feed), expected);
        EXPECT_EQ(opened.feed.identity().path == kCudaPath, place == config::MelPlace::kGpu);
      }
    }
  }
}

TEST_F(TransferPlanTest, OnlyBatchesWithMuchPaddingAreLaidOutOnTheGpu) {
  struct Case {
    const char* name;
    bool static_shapes, shuffle;
    config::CacheTier tier;
    SlotPayload payload;
  };
  using config::CacheTier;
  for (const Case& row :
       {Case{"many shapes", false, true, CacheTier::kDisk, SlotPayload::kPaddedMel},
        Case{"one shape", true, true, CacheTier::kDisk, SlotPayload::kRaggedMel},
        Case{"file order", false, false, CacheTier::kDisk, SlotPayload::kRaggedMel},
        Case{"to stay", false, true, CacheTier::kGpu, SlotPayload::kRaggedMel}}) {
    SCOPED_TRACE(row.name);
    config::Settings settings = set_.settings();
    settings.gpu.mel_place = config::MelPlace::kCpu;
    settings.batch.static_shapes = row.static_shapes;
    settings.batch.shuffle = row.shuffle;
    settings.cache.tier = row.tier;
    OpenedFeed opened = open(settings);
    EXPECT_EQ(opened.feed.format().payload, row.payload);
    EXPECT_EQ(digests(opened.feed), host_digests(settings));
  }
}

TEST_F(TransferPlanTest, AugmentedBytesAreTheSameInEveryPlaceTierAndLayout) {
  set_.settings().augment.enable_noise_mixing = true;
  set_.settings().augment.noise_mixing_probability = 0.5;
  set_.settings().augment.gain_db = {-6.0, 6.0};
  for (const config::BatchLayout layout :
       {config::BatchLayout::kPadded, config::BatchLayout::kPacked}) {
    config::Settings settings = set_.settings();
    settings.batch.batch_layout = layout;
    const std::vector<std::string> expected = host_digests(settings);
    for (const config::MelPlace place : {config::MelPlace::kCpu, config::MelPlace::kGpu}) {
      for (const config::CacheTier tier : {config::CacheTier::kDisk, config::CacheTier::kGpu}) {
        settings.gpu.mel_place = place;
        settings.cache.tier = tier;
        OpenedFeed opened = open(settings);
        EXPECT_EQ(digests(opened.feed), expected);
        // Mels made on the CPU may not stay on the GPU: the next epoch has others.
        const bool must_stream = place == config::MelPlace::kCpu && tier == config::CacheTier::kGpu;
        EXPECT_EQ(opened.feed.stats().fallbacks.size(), must_stream ? 1U : 0U);
      }
    }
  }
}

TEST_F(TransferPlanTest, OtherNumberFormatsAndLayoutsToo) {
  for (const config::BatchLayout layout :
       {config::BatchLayout::kPadded, config::BatchLayout::kPacked}) {
    config::Settings settings = set_.settings();
    settings.batch.batch_layout = layout;
    settings.batch.batch_dtype = config::MelDtype::kF32;
    settings.gpu.mel_place = config::MelPlace::kGpu;
    OpenedFeed opened = open(settings);
    EXPECT_EQ(digests(opened.feed), host_digests(settings));
  }
}

TEST_F(TransferPlanTest, AutoPrefersACompleteCacheAndMeasuresWithoutOne) {
  OpenedFeed measured = open(set_.settings());
  EXPECT_NE(measured.mode.mel.reason.find("measured in "), std::string::npos);
  config::Settings cached = set_.settings();
  cached.loader.preprocessing_mode = config::PreprocessingMode::kPrecompute;
  set_.build_cache();
  OpenedFeed opened = open(cached);
  EXPECT_EQ(opened.mode.mel.source, MelSource::kCache);
  EXPECT_EQ(opened.mode.text, "cached mel");
  EXPECT_EQ(digests(opened.feed), host_digests(cached));
}

TEST_F(TransferPlanTest, TheStateKeepsThePlaceOfTheMel) {
  config::Settings settings = set_.settings();
  settings.gpu.mel_place = config::MelPlace::kGpu;
  OpenedFeed first = open(settings);
  const std::vector<std::string> all = digests(first.feed);
  OpenedFeed again = open(settings);
  again.feed.next();
  again.feed.next();
  const std::string state = again.feed.state();
  settings.gpu.mel_place = config::MelPlace::kAuto;
  OpenedFeed resumed = open(settings, state);
  EXPECT_EQ(resumed.mode.mel.source, MelSource::kGpu);
  EXPECT_EQ(resumed.feed.next()->content_digest().hex(), all[2]);
  config::Settings on_cpu = settings;
  on_cpu.run.device = "cpu";
  try {
    open(on_cpu, state);
    FAIL() << "another numeric path went on";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.error().code, &kFeedChanged);
    EXPECT_NE(failure.error().found.find("numeric path"), std::string::npos);
  }
}

TEST_F(TransferPlanTest, ModeLinesNameWhatRuns) {
  config::Settings settings = set_.settings();
  settings.gpu.mel_place = config::MelPlace::kGpu;
  settings.gpu.data_gpu_memory = config::Bytes{std::uint64_t{1} << 30U};
  const std::vector<std::string> lines = open(settings).mode.lines;
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_EQ(lines[0], "Intelligent GPU Pipeline: Single-GPU Buffered Mode");
  EXPECT_EQ(lines[1], "  - Buffer Size: 4");
  EXPECT_EQ(lines[2], "  - Smart Prefetching: Enabled (mel on GPU 0 from PCM16)");
  EXPECT_EQ(lines[3], "  - Prefetching to GPU 0 with buffer_size=4 (0.0 of 1.0 GiB)");
}

TEST_F(TransferPlanTest, ABufferThatNobodySizedSaysWhyItIsAsLarge) {
  config::Settings settings = set_.settings();
  settings.gpu.buffer_size.reset();
  const OpenedFeed opened = open(settings);
  EXPECT_NE(opened.mode.lines.back().find(", chosen: "), std::string::npos);
  EXPECT_NE(opened.mode.lines.back().find("for a pause of "), std::string::npos);
}

TEST_F(TransferPlanTest, SwitchesOffMeanHostBatchesOrOneAtATime) {
  const std::vector<std::string> expected = host_digests(set_.settings());
  config::Settings host = set_.settings();
  host.gpu.prefetch_to_gpu = false;
  OpenedFeed in_host = open(host);
  EXPECT_EQ(in_host.feed.next()->device(), Device::cpu());
  EXPECT_EQ(in_host.mode.lines.at(1), "  - Smart Prefetching: Disabled");
  for (const bool no_prefetch : {false, true}) {
    config::Settings settings = set_.settings();
    if (no_prefetch) settings.gpu.enhanced_gpu_prefetch = false;
    if (!no_prefetch) settings.loader.optimize_cpu_gpu_overlap = false;
    OpenedFeed opened = open(settings);
    EXPECT_EQ(opened.feed.stats().ring->num_ready, 0U);
    EXPECT_EQ(digests(opened.feed), expected);
  }
}

TEST_F(TransferPlanTest, AKernelThatDoesNotLoadLeavesTheMelToTheCpu) {
  const std::vector<std::string> expected = host_digests(set_.settings());
  view_.make_kernels = [](const DeviceKernelOptions&) -> std::unique_ptr<DeviceKernels> {
    raise({.code = &cuda::kCudaArch, .found = "no kernel image"});
  };
  config::Settings settings = set_.settings();
  settings.gpu.mel_place = config::MelPlace::kGpu;
  OpenedFeed opened = open(settings);
  EXPECT_EQ(opened.mode.mel.source, MelSource::kCpu);
  const std::vector<FallbackCount> taken = opened.feed.stats().fallbacks;
  ASSERT_EQ(taken.size(), 1U) << "batches that are nearly full need no kernel";
  EXPECT_EQ(taken[0].from, "GPU mel");
  EXPECT_EQ(digests(opened.feed), expected);
  config::Settings one_shape = settings;
  one_shape.batch.static_shapes = true;
  OpenedFeed padded = open(one_shape);
  ASSERT_EQ(padded.feed.stats().fallbacks.size(), 2U);
  EXPECT_EQ(padded.feed.stats().fallbacks[0].from, "GPU layout");
  EXPECT_EQ(digests(padded.feed), host_digests(one_shape));
  settings.run.strict = true;
  EXPECT_THROW(open(settings), GpuError);
}

TEST_F(TransferPlanTest, ABufferMovesOnlyWhereNoSettingSaysHowLongItIs) {
  config::Settings settings = set_.settings();
  OpenedFeed fixed = open(settings);
  EXPECT_EQ(fixed.feed.stats().device->most_slots, fixed.feed.stats().device->num_slots);
  EXPECT_FALSE(fixed.feed.tuner_log()->limits.buffer);
  settings.gpu.buffer_size.reset();
  OpenedFeed moving = open(settings);
  const DeviceBudget budget = *moving.feed.stats().device;
  EXPECT_GT(budget.most_slots, budget.num_slots);
  EXPECT_LE(budget.fixed_bytes + budget.most_slots * budget.slot_bytes, budget.allowed_bytes);
  EXPECT_EQ(moving.feed.tuner_log()->limits.buffer, TunerKnob::kDeviceDepth);
  settings.loader.auto_tune_performance = false;
  OpenedFeed still = open(settings);
  EXPECT_EQ(still.feed.stats().device->most_slots, still.feed.stats().device->num_slots);
}

TEST_F(TransferPlanTest, RowsThatDoNotFitTheGpuAreStreamed) {
  config::Settings settings = set_.settings();
  settings.cache.tier = config::CacheTier::kGpu;
  settings.cache.tier_memory = config::Bytes{std::uint64_t{1} << 20U};
  OpenedFeed opened = open(settings);
  EXPECT_EQ(opened.feed.stats().fallbacks.at(0).from, "gpu tier");
  EXPECT_EQ(digests(opened.feed), host_digests(set_.settings()));
}

TEST_F(TransferPlanTest, AutoIsTheFirstGpuAndGivesTheBytesOfTheHost) {
  config::Settings settings = set_.settings();
  settings.run.device = "auto";
  EXPECT_EQ(open(settings).feed.next()->device(), Device::cpu()) << "of the library";
  OpenedFeed opened = open(resolve_auto_device(settings, AutoMel::kHost, &view_));
  EXPECT_EQ(opened.feed.next()->device(), Device::cuda(0));
  opened = open(resolve_auto_device(settings, AutoMel::kHost, &view_));
  EXPECT_EQ(digests(opened.feed), host_digests(set_.settings()));
}

TEST_F(TransferPlanTest, AutoKeepsWhatWasNamed) {
  config::Settings settings = set_.settings();
  settings.run.device = "cpu";
  EXPECT_EQ(resolve_auto_device(settings, AutoMel::kHost, &view_).run.device, "cpu");
  settings.run.device = "auto";
  settings.gpu.data_gpu = 0;
  EXPECT_EQ(resolve_auto_device(settings, AutoMel::kHost, &view_).run.device, "auto");
  settings.gpu.data_gpu = {};
  settings.gpu.mel_place = config::MelPlace::kGpu;
  const config::Settings on_gpu = resolve_auto_device(settings, AutoMel::kHost, &view_);
  EXPECT_EQ(on_gpu.run.device, "cuda:0");
  EXPECT_EQ(on_gpu.gpu.mel_place, config::MelPlace::kGpu);
  const DeviceView none;
  EXPECT_EQ(resolve_auto_device(settings, AutoMel::kHost, &none).run.device, "auto");
}

}  // namespace
}  // namespace stoker::feed
