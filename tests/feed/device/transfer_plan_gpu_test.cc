// Mels made on a real GPU: the same bytes over workers, tiers, modes and a resume.
#include <gtest/gtest.h>

#include "stoker/feed/open_feed.h"
#include "tests/doubles/failing_calls.h"
#include "tests/doubles/gpu_present.h"
#include "tests/feed/small_data_set.h"

namespace stoker::feed {
namespace {

class TransferPlanGpuTest : public cuda::GpuTest {
 protected:
  ~TransferPlanGpuTest() override { cuda::plant_call_fault(std::nullopt); }
  TransferPlanGpuTest() : set_(40) {
    config::Settings& settings = set_.settings();
    settings.run.device = "cuda";
    settings.run.strict = true;
    settings.gpu.buffer_size = 4;
    settings.gpu.mel_place = config::MelPlace::kGpu;
    settings.loader.preprocessing_mode = config::PreprocessingMode::kRuntime;
  }
  static std::vector<std::string> digests(const config::Settings& settings) {
    OpenedFeed opened = open_feed(settings);
    EXPECT_EQ(opened.feed.identity().path, kCudaPath);
    std::vector<std::string> found;
    for (int epoch = 0; epoch < 2; ++epoch) {
      while (const auto batch = opened.feed.next()) found.push_back(batch->content_digest().hex());
    }
    return found;
  }

  SmallDataSet set_;
};

TEST_F(TransferPlanGpuTest, WorkersTiersAndModesGiveTheSameBytes) {
  const std::vector<std::string> expected = digests(set_.settings());
  ASSERT_GE(expected.size(), 6U);
  for (const std::int64_t num_workers : {0, 1, 7}) {
    config::Settings settings = set_.settings();
    settings.loader.num_workers = num_workers;
    EXPECT_EQ(digests(settings), expected) << num_workers << " workers";
  }
  config::Settings resident = set_.settings();
  resident.cache.tier = config::CacheTier::kGpu;
  EXPECT_EQ(digests(resident), expected) << "resident";
  config::Settings two = set_.settings();
  two.gpu.data_gpu = 0;
  two.gpu.model_gpu = 0;
  EXPECT_EQ(digests(two), expected) << "two devices that are one";
  config::Settings one_by_one = set_.settings();
  one_by_one.gpu.enhanced_gpu_prefetch = false;
  EXPECT_EQ(digests(one_by_one), expected) << "without a ring";
}

TEST_F(TransferPlanGpuTest, AugmentedRowsAreTheSameWhetherTheyStayOrCome) {
  const std::vector<std::string> plain = digests(set_.settings());
  set_.settings().augment.enable_noise_mixing = true;
  set_.settings().augment.noise_mixing_probability = 0.5;
  set_.settings().augment.gain_db = {-6.0, 6.0};
  const std::vector<std::string> expected = digests(set_.settings());
  EXPECT_NE(expected, plain);
  config::Settings settings = set_.settings();
  settings.loader.num_workers = 7;
  EXPECT_EQ(digests(settings), expected) << "other workers";
  settings.cache.tier = config::CacheTier::kGpu;
  EXPECT_EQ(digests(settings), expected) << "resident";
}

TEST_F(TransferPlanGpuTest, AResumeGoesOnExactly) {
  const std::vector<std::string> expected = digests(set_.settings());
  OpenedFeed first = open_feed(set_.settings());
  first.feed.next();
  first.feed.next();
  OpenedFeed again = open_feed(set_.settings(), {.state = first.feed.state()});
  EXPECT_EQ(again.feed.next()->content_digest().hex(), expected[2]);
}

TEST_F(TransferPlanGpuTest, AnyFailingCallEndsInAGpuErrorOrTheSameBytes) {
  cuda::let_calls_fail([&] { return digests(set_.settings()); }, 40);
}

// Every fallback of the GPU that can be forced here, once.
TEST_F(TransferPlanGpuTest, ForcedFallbacksAreCountedAndGiveTheSameBytes) {
  config::Settings settings = set_.settings();
  const std::vector<std::string> expected = digests(settings);
  settings.run.strict = false;
  settings.gpu.data_gpu = 0;
  settings.gpu.model_gpu = 77;  // no such GPU
  settings.cache.tier = config::CacheTier::kGpu;
  settings.cache.tier_memory = config::Bytes{std::uint64_t{1} << 20U};  // too little
  OpenedFeed opened = open_feed(settings);
  EXPECT_EQ(opened.mode.choice.mode, GpuMode::kSingleGpu);
  EXPECT_EQ(opened.feed.stats().fallbacks.size(), 2U);
  EXPECT_EQ(opened.feed.next()->content_digest().hex(), expected[0]);
  settings.run.strict = true;
  EXPECT_THROW(open_feed(settings), GpuError);
}

}  // namespace
}  // namespace stoker::feed
