// What a feed records against what its consumer saw itself, with random settings and sources.
#include <gtest/gtest.h>

#include <deque>
#include <filesystem>
#include <thread>

#include "stoker/base/philox.h"
#include "stoker/feed/feed.h"
#include "stoker/feed/open_feed.h"
#include "tests/feed/small_data_set.h"
#include "tests/feed/synthetic_source.h"

namespace stoker::feed {
namespace {

// One batch as the consumer knows it, by its own clock.
struct Seen {
  std::uint64_t epoch = 0, batch = 0;
  std::size_t num_rows = 0;
  std::uint64_t num_frames = 0, padded_frames = 0, num_tokens = 0;
  BatchShape shape;
  std::int64_t before_ns = 0, after_ns = 0;
  std::int64_t released_before_ns = 0, released_after_ns = 0;
  std::size_t num_held = 0;
};

std::int64_t now_ns() { return system_clock().now().count(); }

// Takes batches, holds some, seeks once where it is told to.
class Consumer {
 public:
  Consumer(Feed& feed, KeyedDraws draws) : feed_(feed), draws_(std::move(draws)) {}

  void take(std::uint64_t most) {
    while (log.size() < most && !feed_.has_ended()) {
      while (!held_.empty() && (held_.size() > 2 || draws_.next_below(3) != 0)) give_back();
      Seen seen;
      seen.before_ns = now_ns();
      std::optional<Batch> batch = feed_.next();
      seen.after_ns = now_ns();
      if (!batch) continue;
      note(*batch, seen);
      held_.push_back({log.size(), std::move(*batch)});
      seen.num_held = held_.size();
      log.push_back(seen);
    }
  }
  void give_all_back() {
    while (!held_.empty()) give_back();
  }

  std::vector<Seen> log;

 private:
  static void note(const Batch& batch, Seen& seen) {
    seen.epoch = batch.epoch();
    seen.batch = batch.index();
    seen.num_rows = batch.num_rows();
    seen.shape = batch.global_shape();
    seen.padded_frames = std::uint64_t{batch.shape().num_rows} * batch.shape().num_frames;
    for (const std::int32_t each : batch.mel_len())
      seen.num_frames += static_cast<std::uint64_t>(each);
    for (const std::int32_t each : batch.text_len())
      seen.num_tokens += static_cast<std::uint64_t>(each);
  }
  void give_back() {
    Seen& seen = log[held_.front().first];
    seen.released_before_ns = now_ns();
    held_.pop_front();
    seen.released_after_ns = now_ns();
  }

  Feed& feed_;
  KeyedDraws draws_;
  std::deque<std::pair<std::size_t, Batch>> held_;
};

std::vector<BatchRecord> all_records(const Feed& feed) {
  std::vector<BatchRecord> records;
  EXPECT_EQ(feed.records()->read_since(0, records)->num_lost, 0U);
  return records;
}

void expect_same(const BatchRecord& record, const Seen& seen, const Feed& feed) {
  EXPECT_EQ(record.epoch, seen.epoch);
  EXPECT_EQ(record.batch, seen.batch);
  EXPECT_EQ(record.num_rows, seen.num_rows);
  EXPECT_EQ(record.num_frames, seen.num_frames);
  EXPECT_EQ(record.padded_frames, seen.padded_frames);
  EXPECT_EQ(record.num_tokens, seen.num_tokens);
  EXPECT_EQ(record.num_held, seen.num_held);
  EXPECT_EQ(feed.shapes()[record.shape], seen.shape);
  EXPECT_LE(seen.before_ns, record.asked_ns);
  EXPECT_LE(record.asked_ns, record.handed_ns);
  EXPECT_LE(record.handed_ns, seen.after_ns);
  EXPECT_LE(seen.released_before_ns, record.released_ns);
  EXPECT_LE(record.released_ns, seen.released_after_ns);
}

// Stages are inside the fill, the fill before the hand-out.
void expect_ordered(const BatchRecord& record) {
  std::int64_t busy_ns = 0, first_ns = record.handed_ns, last_ns = 0;
  for (std::size_t i = 0; i < kNumStages; ++i) {
    const StageSpan& span = record.stages[i];
    if (span.end_ns == 0) continue;
    EXPECT_LE(span.begin_ns, span.end_ns);
    EXPECT_LE(span.busy_ns, span.end_ns - span.begin_ns);
    busy_ns += span.busy_ns;
    first_ns = std::min(first_ns, span.begin_ns);
    last_ns = std::max(last_ns, span.end_ns);
  }
  EXPECT_EQ(busy_ns, last_ns - first_ns);
  const StageSpan& ready = record.stages[static_cast<std::size_t>(RecordStage::kWaitConsumer)];
  EXPECT_EQ(ready.begin_ns, last_ns);
  EXPECT_EQ(ready.end_ns, record.handed_ns);
  EXPECT_LE(record.slowest_ns, busy_ns);
  EXPECT_GE(record.worker_cpu_ns, -1);
}

void expect_counts(const std::vector<BatchRecord>& records, const FeedStats& stats) {
  std::uint64_t frames = 0, padded = 0;
  for (const BatchRecord& record : records) {
    frames += record.num_frames;
    padded += record.padded_frames;
  }
  EXPECT_EQ(records.size(), stats.num_batches);
  EXPECT_EQ(frames, stats.true_frames);
  EXPECT_EQ(padded, stats.all_frames);
}

// Every fill was delivered: the records hold all of the workers' time.
void expect_stage_sums(const std::vector<BatchRecord>& records, const FeedStats& stats) {
  for (std::size_t i = 0; i < kNumStages; ++i) {
    std::int64_t busy_ns = 0;
    for (const BatchRecord& record : records) busy_ns += record.stages[i].busy_ns;
    const double counted_ns = 1e9 * stats.pipeline.stages[i].busy_s;
    // Whoever finds the end looks at the plan as well.
    const double most_off = 0.01 * counted_ns + (i == kPlan ? 1e7 : 1e3);
    EXPECT_NEAR(static_cast<double>(busy_ns), counted_ns, most_off) << name_of(RecordStage(i));
  }
}

void run_and_compare(Feed& feed, bool seeks, KeyedDraws draws) {
  Consumer consumer(feed, draws);
  if (seeks) {
    consumer.take(3 + draws.next_below(5));
    feed.seek({0, draws.next_below(2)});
  }
  consumer.take(~std::uint64_t{0});
  consumer.give_all_back();
  const std::vector<BatchRecord> records = all_records(feed);
  ASSERT_EQ(records.size(), consumer.log.size());
  for (std::size_t i = 0; i < records.size(); ++i) {
    ASSERT_EQ(records[i].number, i);
    expect_same(records[i], consumer.log[i], feed);
    expect_ordered(records[i]);
    if (i > 0) {
      EXPECT_GE(records[i].asked_ns, records[i - 1].handed_ns);
    }
  }
  const FeedStats stats = feed.stats();
  expect_counts(records, stats);
  EXPECT_EQ(stats.pipeline.num_delivered, records.size());
  if (!seeks) expect_stage_sums(records, stats);
}

TEST(FeedRecordsTest, EqualWhatTheConsumerSawWithFormulaRows) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    KeyedDraws draws({.seed = seed, .stage = "test/records", .epoch = 0, .item = 0});
    FeedSetup setup = synthetic_setup(std::make_shared<SyntheticSource>(speech_like_rows(60)));
    setup.num_epochs = 2;
    setup.order.layout = draws.next_below(2) == 0 ? BatchLayout::kPadded : BatchLayout::kPacked;
    setup.loading.num_workers = static_cast<unsigned>(draws.next_below(5));
    setup.loading.depth = 1 + static_cast<unsigned>(draws.next_below(6));
    Feed feed(std::move(setup));
    run_and_compare(feed, draws.next_below(2) == 0, draws);
  }
}

// From the cache, from samples in the cache, from files.
TEST(FeedRecordsTest, EqualWhatTheConsumerSawWithADataSet) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    KeyedDraws draws({.seed = seed, .stage = "test/records", .epoch = 1, .item = 0});
    SmallDataSet data(24);
    config::Settings& settings = data.settings();
    const std::uint64_t path = seed % 3;
    if (path == 1) settings.cache.content = config::CacheContent::kPcm;
    if (path == 2) settings.loader.preprocessing_mode = config::PreprocessingMode::kRuntime;
    settings.loader.auto_tune_performance = false;
    settings.loader.num_workers = static_cast<std::int64_t>(draws.next_below(5));
    settings.batch.batch_layout =
        draws.next_below(2) == 0 ? config::BatchLayout::kPadded : config::BatchLayout::kPacked;
    if (path != 2) data.build_cache();
    OpenedFeed opened = open_feed(settings, {.num_epochs = 2});
    run_and_compare(opened.feed, draws.next_below(2) == 0, draws);
    std::uint64_t hits = 0, misses = 0, bytes = 0, rows = 0;
    for (const BatchRecord& record : all_records(opened.feed)) {
      hits += record.num_cache_hits;
      misses += record.num_cache_misses;
      bytes += record.bytes_read;
    }
    rows = opened.feed.stats().num_clips;
    EXPECT_EQ(hits, path == 2 ? 0 : rows);
    EXPECT_EQ(misses, path == 2 ? rows : 0);
    EXPECT_GT(bytes, rows * 4000);
  }
}

TEST(FeedRecordsTest, NameTheSlowUtteranceAndWhatTheConsumerDid) {
  constexpr std::uint32_t kSlow = 17;
  auto store = std::make_shared<SyntheticSource>(speech_like_rows(40));
  store->before_mel = [](std::uint32_t row) {
    if (row == kSlow) std::this_thread::sleep_for(std::chrono::milliseconds(30));
    return Result<void>();
  };
  FeedSetup setup = synthetic_setup(store);
  setup.num_epochs = 1;
  Feed feed(std::move(setup));
  ASSERT_TRUE(feed.next());
  feed.note(ConsumerWork::kLogging, std::chrono::microseconds(7));
  { const WorkTimer timer(feed, ConsumerWork::kValidation); }
  while (feed.next()) {
  }
  const std::vector<BatchRecord> records = all_records(feed);
  const auto slowest = std::max_element(
      records.begin(), records.end(),
      [](const BatchRecord& a, const BatchRecord& b) { return a.slowest_ns < b.slowest_ns; });
  EXPECT_EQ(slowest->slowest_utterance, kSlow);
  EXPECT_EQ(slowest->slowest_stage, RecordStage::kMel);
  EXPECT_EQ(std::string(slowest->slowest_file.data()), "wavs/utt17.wav");
  EXPECT_GE(slowest->slowest_ns, 30'000'000);
  const auto work = [&](std::size_t number, ConsumerWork kind) {
    return records.at(number).works_ns[static_cast<std::size_t>(kind)];
  };
  EXPECT_EQ(work(1, ConsumerWork::kLogging), 7000);
  EXPECT_GT(work(1, ConsumerWork::kValidation), 0);
  EXPECT_EQ(work(0, ConsumerWork::kLogging), 0);
  EXPECT_EQ(work(2, ConsumerWork::kLogging), 0);
}

}  // namespace
}  // namespace stoker::feed
