// Settings to the parts of a feed: what is automatic gets a value, and switches mean what they say.
#include "stoker/feed/from_settings.h"

#include <gtest/gtest.h>

#include "stoker/base/cpu_count.h"
#include "tests/feed/small_data_set.h"

namespace stoker::feed {
namespace {

TEST(AutomaticValuesTest, AreTheDefaultOfTheSettingTheWorldAndTheCachesFormat) {
  config::Settings settings;
  settings.batch.batch_frames = {};
  settings.cache.dtype = config::MelDtype::kBf16;
  const config::Settings chosen = with_automatic_values(settings, {.rank = 1, .world_size = 3});
  EXPECT_EQ(*chosen.batch.batch_frames, *config::BatchSettings().batch_frames);
  EXPECT_EQ(*chosen.batch.batch_multiple, 3);
  EXPECT_EQ(*chosen.batch.batch_dtype, config::MelDtype::kBf16);
}

TEST(AutomaticValuesTest, LeaveWhatIsGiven) {
  config::Settings settings;
  settings.batch.batch_frames = 700;
  settings.batch.batch_multiple = 8;
  settings.batch.batch_dtype = config::MelDtype::kF32;
  const config::Settings chosen = with_automatic_values(settings, {.rank = 0, .world_size = 2});
  EXPECT_EQ(*chosen.batch.batch_frames, 700);
  EXPECT_EQ(*chosen.batch.batch_multiple, 8);
  EXPECT_EQ(*chosen.batch.batch_dtype, config::MelDtype::kF32);
}

TEST(WorkersTest, AreAsSetElseTheCoresBesideTheConsumer) {
  config::LoaderSettings loader;
  EXPECT_EQ(workers_of(loader), workers_beside_consumer(count_cpus().allowed));
  loader.num_workers = 3;
  EXPECT_EQ(workers_of(loader), 3U);
}

class SetupTest : public testing::Test {
 protected:
  FeedSetup make(const config::Settings& settings) {
    const config::Settings chosen = with_automatic_values(settings, {});
    return setup_of(
        chosen, {},
        std::make_shared<DataSetSource>(DataSetSourceOptions{
            .settings = chosen, .io = system_io(), .level = simd_level().take_or_raise()}));
  }
  SmallDataSet set_{12};
};

TEST_F(SetupTest, EitherSwitchLoadsABatchOnlyWhenItIsAskedFor) {
  EXPECT_GT(make(set_.settings()).loading.read_ahead_batches, 0U);
  config::Settings without_overlap = set_.settings();
  without_overlap.loader.optimize_cpu_gpu_overlap = false;
  config::Settings naive = set_.settings();
  naive.loader.use_native_loading = false;
  for (const config::Settings& settings : {without_overlap, naive}) {
    const LoadingOptions loading = make(settings).loading;
    EXPECT_EQ(loading.num_workers, 0U);
    EXPECT_EQ(loading.read_ahead_batches, 0U);
    EXPECT_EQ(loading.tuned_cores, 0U);
  }
}

TEST_F(SetupTest, TheSeedIsNotPartOfTheOrderDigestAndTheFramesAre) {
  const FeedIdentity first = make(set_.settings()).identity;
  config::Settings other = set_.settings();
  other.run.seed = 7;
  EXPECT_EQ(make(other).identity.order, first.order);
  EXPECT_EQ(make(other).identity.seed, 7U);
  other.batch.batch_frames = 777;
  EXPECT_NE(make(other).identity.order, first.order);
}

TEST_F(SetupTest, AReferenceHasAtLeastOneFrame) {
  config::Settings settings = set_.settings();
  EXPECT_EQ(make(settings).extras.reference_frames, 0U);
  settings.batch.reference = config::ReferencePart::kSame;
  settings.batch.reference_audio_s = 1e-9;
  EXPECT_EQ(make(settings).extras.reference_frames, 1U);
  EXPECT_EQ(make(settings).extras.reference, ReferenceFrom::kSameUtterance);
}

}  // namespace
}  // namespace stoker::feed
