// The feed over formula rows: same bytes whatever the workers, epochs, ranks, layouts, extras.
#include "stoker/feed/feed.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <thread>

#include "stoker/audio/float16.h"
#include "stoker/feed/errors.h"
#include "tests/feed/synthetic_source.h"

namespace stoker::feed {
namespace {

std::shared_ptr<SyntheticSource> make_store(std::size_t num_rows) {
  return std::make_shared<SyntheticSource>(speech_like_rows(num_rows));
}

// Content digests of the first epochs.
std::vector<std::string> digests(Feed& feed, int num_epochs) {
  std::vector<std::string> found;
  for (int epoch = 0; epoch < num_epochs; ++epoch) {
    while (const auto batch = feed.next()) found.push_back(batch->content_digest().hex());
    found.push_back("end of epoch");
  }
  return found;
}

TEST(FeedTest, BytesDoNotDependOnWorkersOrDepthUnderRandomDelays) {
  const auto plain = make_store(60);
  Feed reference(synthetic_setup(plain));
  const std::vector<std::string> expected = digests(reference, 2);
  auto store = make_store(60);
  store->before_mel = [](std::uint32_t row) {
    std::this_thread::sleep_for(std::chrono::microseconds(row * 7919 % 11 * 100));
    return Result<void>();
  };
  for (const unsigned num_workers : {0U, 1U, 2U, 3U, 7U, 16U, 64U}) {
    std::ptrdiff_t most_sharing = 0;  // a busy machine may give one short run to one worker
    for (const unsigned depth : {1U, 2U, 8U}) {
      FeedSetup setup = synthetic_setup(store);
      setup.loading.num_workers = num_workers;
      setup.loading.depth = depth;
      Feed feed(std::move(setup));
      EXPECT_EQ(digests(feed, 2), expected) << num_workers << " workers, depth " << depth;
      const auto fills = feed.stats().pipeline.fills;
      std::uint64_t total = 0;
      for (const auto each : fills) total += each;
      most_sharing = std::max(
          most_sharing,
          std::count_if(fills.begin(), fills.end(), [&](auto each) { return each * 10 >= total; }));
    }
    EXPECT_GE(most_sharing, num_workers < 2 ? 1 : 2) << num_workers << " workers";
  }
}

TEST(FeedTest, BorrowedBatchIsTheSameAndGivesNothingBack) {
  FeedSetup setup = synthetic_setup(make_store(50));
  setup.loading.depth = 2;
  Feed feed(std::move(setup));
  std::optional<Batch> owner = feed.next();
  ASSERT_TRUE(owner);
  const std::string digest = owner->content_digest().hex();
  for (int i = 0; i < 20; ++i) {
    Batch borrowed = owner->borrow();
    EXPECT_EQ(borrowed.content_digest().hex(), digest);
    borrowed.release(cuda::StreamView(nullptr));
    // An epoch's end comes once.
    const bool is_next = feed.next().has_value() || feed.next().has_value();
    ASSERT_TRUE(is_next) << "other slots go round";
  }
  EXPECT_EQ(owner->content_digest().hex(), digest);
}

TEST(FeedTest, BatchesHoldWhatTheRowsAre) {
  const auto store = make_store(50);
  Feed feed(synthetic_setup(store));
  std::set<std::string> seen;
  while (const auto batch = feed.next()) {
    const BatchShape shape = batch->shape();
    const auto tokens = batch->tokens();
    const auto* mel = static_cast<const std::uint16_t*>(batch->mel().data);
    ASSERT_EQ(batch->mel().shape,
              (std::array<std::size_t, 3>{shape.num_rows, shape.num_frames, 8}));
    for (std::size_t at = 0; at < batch->num_rows(); ++at) {
      if (batch->id(at).empty()) {
        EXPECT_EQ(batch->mel_len()[at], 0);
        EXPECT_EQ(batch->text_len()[at], 0);
        continue;
      }
      const auto row = static_cast<std::uint32_t>(std::stoul(std::string(batch->id(at).substr(3))));
      EXPECT_TRUE(seen.insert(std::string(batch->id(at))).second);
      EXPECT_EQ(batch->mel_len()[at], static_cast<std::int32_t>(store->rows()[row].num_frames));
      EXPECT_EQ(batch->text_len()[at], static_cast<std::int32_t>(store->rows()[row].num_tokens));
      EXPECT_EQ(batch->speaker()[at], static_cast<std::int32_t>(row % 3));
      for (std::uint32_t i = 0; i < shape.num_tokens; ++i) {
        const bool inside = i < store->rows()[row].num_tokens;
        ASSERT_EQ(tokens.data[at * shape.num_tokens + i],
                  inside ? static_cast<std::int32_t>(row + i + 1) : 0);
      }
      for (std::uint32_t i = 0; i < shape.num_frames; ++i) {
        const bool inside = i < store->rows()[row].num_frames;
        const float expected = inside ? SyntheticSource::mel_value(row, i) : store->padding();
        ASSERT_EQ(audio::f16_value(mel[(at * shape.num_frames + i) * 8 + 3]), expected);
      }
    }
  }
  EXPECT_EQ(seen.size(), 50U);
}

TEST(FeedTest, EpochsEndOnceAndTheLastEndsTheFeed) {
  FeedSetup setup = synthetic_setup(make_store(30));
  setup.num_epochs = 3;
  Feed feed(std::move(setup));
  for (int epoch = 0; epoch < 3; ++epoch) {
    EXPECT_FALSE(feed.has_ended());
    const std::uint64_t expected = feed.num_batches();
    std::uint64_t count = 0;
    while (const auto batch = feed.next()) {
      EXPECT_EQ(batch->epoch(), static_cast<std::uint64_t>(epoch));
      EXPECT_EQ(batch->index(), count++);
      EXPECT_EQ(batch->is_last_of_epoch(), count == expected);
    }
    EXPECT_EQ(count, expected);
  }
  EXPECT_TRUE(feed.has_ended());
  EXPECT_FALSE(feed.next().has_value());
}

TEST(FeedTest, RanksTogetherHoldTheGlobalBatch) {
  const auto store = make_store(200);
  const auto with_ranks = [&](std::uint32_t rank, std::uint32_t world) {
    FeedSetup setup = synthetic_setup(store);
    setup.order.batch_frames = 24 * 900;
    setup.order.batch_multiple = 24;
    setup.ranks = {rank, world};
    return Feed(std::move(setup));
  };
  std::vector<std::vector<std::string>> global;
  Feed whole = with_ranks(0, 1);
  std::vector<std::string> global_digests;
  while (const auto batch = whole.next()) {
    global.emplace_back();
    for (std::size_t i = 0; i < batch->num_rows(); ++i) global.back().emplace_back(batch->id(i));
    global_digests.push_back(batch->global_ids_digest().hex());
    EXPECT_EQ(batch->global_ids_digest(), batch->ids_digest());
  }
  for (const std::uint32_t world : {2U, 3U, 4U, 8U}) {
    for (std::uint32_t rank = 0; rank < world; ++rank) {
      Feed feed = with_ranks(rank, world);
      std::size_t step = 0;
      while (const auto batch = feed.next()) {
        ASSERT_LT(step, global.size());
        EXPECT_EQ(batch->num_rows() * world, global[step].size());
        EXPECT_EQ(batch->global_ids_digest().hex(), global_digests[step]);
        for (std::size_t i = 0; i < batch->num_rows(); ++i) {
          EXPECT_EQ(batch->id(i), global[step][rank + i * world]);
        }
        ++step;
      }
      EXPECT_EQ(step, global.size());
    }
  }
}

TEST(FeedTest, PackedHoldsTheSameRowsEndToEnd) {
  const auto store = make_store(200);
  FeedSetup setup = synthetic_setup(store);
  setup.order.layout = BatchLayout::kPacked;
  setup.order.batch_multiple = 2;
  setup.order.batch_frames = 8000;
  Feed feed(std::move(setup));
  std::set<std::string> seen;
  while (const auto batch = feed.next()) {
    ASSERT_EQ(batch->shape().num_rows, 2U);
    const auto* mel = static_cast<const std::uint16_t*>(batch->mel().data);
    for (std::size_t at = 0; at < batch->num_rows(); ++at) {
      EXPECT_TRUE(seen.insert(std::string(batch->id(at))).second);
      const auto row = static_cast<std::uint32_t>(std::stoul(std::string(batch->id(at).substr(3))));
      const std::uint32_t last = store->rows()[row].num_frames - 1;
      const float value = audio::f16_value(mel[(batch->frame_begins()[at] + last) * 8]);
      EXPECT_EQ(value, SyntheticSource::mel_value(row, last));
      EXPECT_EQ(batch->tokens().data[batch->token_begins()[at]], static_cast<int>(row + 1));
    }
    const std::size_t end = 2 * std::size_t{batch->shape().num_frames} * 8;
    EXPECT_EQ(audio::f16_value(mel[end - 1]) == store->padding() || mel[end - 1] != 0, true);
  }
  EXPECT_EQ(seen.size(), 200U);
}

TEST(FeedTest, ExtrasAreCutByKeyedDraws) {
  const auto store = make_store(40);
  const auto crops = [&](unsigned num_workers) {
    FeedSetup setup = synthetic_setup(store);
    setup.dtype = config::MelDtype::kF32;
    setup.extras = {.with_audio = true,
                    .reference = ReferenceFrom::kSameSpeaker,
                    .reference_frames = 64,
                    .segment_frames = 16};
    setup.loading.num_workers = num_workers;
    Feed feed(std::move(setup));
    std::map<std::string, std::vector<float>> found;
    while (const auto batch = feed.next()) {
      for (std::size_t at = 0; at < batch->num_rows(); ++at) {
        if (batch->mel_len()[at] == 0) continue;
        const auto row =
            static_cast<std::uint32_t>(std::stoul(std::string(batch->id(at).substr(3))));
        const auto* reference =
            static_cast<const float*>(batch->reference_mel().data) + at * 64 * 8;
        const auto other = static_cast<std::uint32_t>(reference[0]);
        EXPECT_EQ(other % 3, row % 3) << "another speaker";
        EXPECT_NE(other, row) << "the same utterance";
        const auto* mel = static_cast<const float*>(batch->mel_segment().data) + at * 16 * 8;
        const float* wav = batch->wav_segment().data + at * 16 * 4;
        for (int frame = 0; frame < 16; ++frame) EXPECT_EQ(mel[frame * 8], wav[frame * 4]);
        EXPECT_EQ(batch->audio_len()[at], batch->mel_len()[at] * 4);
        found[std::string(batch->id(at))] = {reference[0], reference[8], mel[0], wav[0]};
      }
    }
    return found;
  };
  const auto one = crops(1);
  EXPECT_EQ(one.size(), 40U);
  EXPECT_EQ(one, crops(4));
}

TEST(FeedTest, MemoryStaysBelowTheCap) {
  FeedSetup setup = synthetic_setup(make_store(100));
  setup.loading.depth = 1000;
  setup.loading.buffer_bytes = 1 << 20;
  Feed feed(std::move(setup));
  EXPECT_LE((feed.depth() + 2) * feed.format().slot_bytes(), std::size_t{1} << 20U);
  EXPECT_GT((feed.depth() + 3) * feed.format().slot_bytes(), std::size_t{1} << 20U);
  FeedSetup too_small = synthetic_setup(make_store(100));
  too_small.loading.buffer_bytes = 1000;
  EXPECT_THROW(Feed{std::move(too_small)}, MemoryError);
}

// Where nobody says how much memory there is for them, a few large batches get more.
TEST(FeedTest, AFewLargeBatchesGetMoreMemoryWhereNoneIsGiven) {
  FeedSetup setup = synthetic_setup(make_store(100));
  setup.loading.depth = 1000;
  setup.loading.buffer_bytes = 1000;
  setup.loading.most_buffer_bytes = 1 << 30;
  Feed feed(std::move(setup));
  EXPECT_EQ(feed.depth() + 2, 6U);
  EXPECT_EQ(feed.device_bytes_with(100'000), std::uint64_t{0});
  FeedSetup bounded = synthetic_setup(make_store(100));
  bounded.loading.buffer_bytes = 3 * feed.format().slot_bytes();
  bounded.loading.most_buffer_bytes = bounded.loading.buffer_bytes;
  const Feed few(std::move(bounded));
  EXPECT_EQ(few.depth() + 2, 3U);
  EXPECT_EQ(few.device_bytes_with(100'000), std::nullopt);
}

}  // namespace
}  // namespace stoker::feed
