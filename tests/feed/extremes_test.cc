// The ends of every numeric setting's range on tiny data: batches or an error with its code, never
// an abort or a hang.
#include <gtest/gtest.h>

#include <functional>

#include "stoker/feed/open_feed.h"
#include "tests/feed/device/open_device_feed.h"

namespace stoker::feed {
namespace {

using config::Bytes;
using config::Settings;

struct Extreme {
  const char* name;
  std::function<void(Settings&)> set;
};

const std::array kExtremes{
    Extreme{"as they are", [](Settings&) {}},
    Extreme{"no workers", [](Settings& s) { s.loader.num_workers = 0; }},
    Extreme{"many workers", [](Settings& s) { s.loader.num_workers = 200; }},
    Extreme{"depth 1", [](Settings& s) { s.loader.prefetch_buffer_size = 1; }},
    Extreme{"depth 4096", [](Settings& s) { s.loader.prefetch_buffer_size = 4096; }},
    Extreme{"least memory", [](Settings& s) { s.loader.buffer_memory = Bytes{config::kMiB}; }},
    Extreme{"most memory", [](Settings& s) { s.loader.buffer_memory = Bytes{64 * config::kTiB}; }},
    Extreme{"one shape", [](Settings& s) { s.batch.max_shapes = 1; }},
    Extreme{"1024 shapes", [](Settings& s) { s.batch.max_shapes = 1024; }},
    Extreme{"multiple 65536", [](Settings& s) { s.batch.batch_multiple = 65'536; }},
    Extreme{"64 frames", [](Settings& s) { s.batch.batch_frames = 64; }},
    Extreme{"10^9 frames", [](Settings& s) { s.batch.batch_frames = 1'000'000'000; }},
    Extreme{"one row", [](Settings& s) { s.batch.batch_size = 1; }},
    Extreme{"65536 rows", [](Settings& s) { s.batch.batch_size = 65'536; }},
    Extreme{"no read-ahead", [](Settings& s) { s.loader.read_ahead_batches = 0; }},
    Extreme{"read-ahead 65536", [](Settings& s) { s.loader.read_ahead_batches = 65'536; }},
    Extreme{"last rank of 65536",
            [](Settings& s) {
              s.loader.rank = 65'535;
              s.loader.world_size = 65'536;
            }},
    Extreme{"one token", [](Settings& s) { s.rows.max_text_tokens = 1; }},
    Extreme{"one frame", [](Settings& s) { s.rows.max_mel_frames = 1; }},
    Extreme{"crops of 10^6", [](Settings& s) { s.batch.segment_frames = 1'000'000; }},
    Extreme{"stall limit of a day", [](Settings& s) { s.loader.stall_limit_s = 86'400; }},
};

const std::array kDeviceExtremes{
    Extreme{"buffer 1", [](Settings& s) { s.gpu.buffer_size = 1; }},
    Extreme{"buffer 9000", [](Settings& s) { s.gpu.buffer_size = 9000; }},
    Extreme{"buffer 65536", [](Settings& s) { s.gpu.buffer_size = 65'536; }},
    Extreme{"least GPU memory", [](Settings& s) { s.gpu.data_gpu_memory = Bytes{config::kMiB}; }},
    Extreme{"most GPU memory", [](Settings& s) { s.gpu.data_gpu_memory = Bytes{config::kTiB}; }},
    Extreme{"all rows stay",
            [](Settings& s) {
              s.cache.tier = config::CacheTier::kGpu;
              s.cache.tier_memory = Bytes{64 * config::kTiB};
            }},
};

// Every row once an epoch, or a typed error.
void run(const Settings& settings, const OpenOptions& options, unsigned num_rows) {
  try {
    OpenedFeed opened = open_feed(settings, options);
    for (int epoch = 0; epoch < 3; ++epoch) {
      std::size_t num_ids = 0;
      while (const auto batch = opened.feed.next())
        for (std::size_t row = 0; row < batch->num_rows(); ++row)
          num_ids += batch->id(row).empty() ? 0 : 1;
      EXPECT_LE(num_ids, num_rows);
    }
  } catch (const Failure& failure) {
    EXPECT_FALSE(failure.error().found.empty()) << failure.what();
  }
}

class ExtremesTest : public testing::TestWithParam<unsigned> {
 protected:
  ExtremesTest() : set_(GetParam()) {
    set_.settings().loader.preprocessing_mode = config::PreprocessingMode::kRuntime;
  }
  SmallDataSet set_;
};

TEST_P(ExtremesTest, GiveBatchesOrAnError) {
  for (const bool is_packed : {false, true}) {
    for (const Extreme& extreme : kExtremes) {
      SCOPED_TRACE(extreme.name + std::string(is_packed ? ", packed" : ", padded"));
      Settings settings = set_.settings();
      if (is_packed) settings.batch.batch_layout = config::BatchLayout::kPacked;
      extreme.set(settings);
      run(settings, {}, GetParam());
    }
  }
}

TEST_P(ExtremesTest, GiveBatchesOrAnErrorOnAGpu) {
  for (const bool is_packed : {false, true}) {
    for (const Extreme& extreme : kDeviceExtremes) {
      SCOPED_TRACE(extreme.name + std::string(is_packed ? ", packed" : ", padded"));
      SimulatedGpu gpu;
      const DeviceView view = view_of(gpu);
      Settings settings = set_.settings();
      settings.run.device = "cuda";
      if (is_packed) settings.batch.batch_layout = config::BatchLayout::kPacked;
      extreme.set(settings);
      run(settings, {.devices = &view}, GetParam());
    }
  }
}

// Each epoch is one batch, so the buffer holds as many epochs: more than the planner once kept.
TEST(LongBufferTest, EpochsOfOneBatchDoNotRunOutOfMemory) {
  SimulatedGpu gpu;
  const DeviceView view = view_of(gpu);
  SmallDataSet set(1);
  Settings settings = set.settings();
  settings.run.device = "cuda";
  settings.loader.preprocessing_mode = config::PreprocessingMode::kRuntime;
  settings.gpu.mel_place = config::MelPlace::kCpu;
  settings.gpu.buffer_size = 9000;
  settings.batch.batch_frames = 64;
  OpenedFeed opened = open_feed(settings, {.devices = &view});
  const unsigned num_slots = opened.feed.stats().ring->num_slots;
  ASSERT_EQ(num_slots, 9000U);
  opened.feed.await_start({.delay = std::chrono::hours(1)});
  for (std::uint64_t epoch = 0; epoch < 20; ++epoch) {
    auto batch = opened.feed.next();
    ASSERT_TRUE(batch);
    EXPECT_EQ(batch->epoch(), epoch);
    EXPECT_FALSE(opened.feed.next());
  }
}

INSTANTIATE_TEST_SUITE_P(Rows, ExtremesTest, testing::Values(1U, 3U));

}  // namespace
}  // namespace stoker::feed
