// Optional parts of a batch in both layouts, for random combinations: each compared with a slow
// computation of the whole batch.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "stoker/feed/errors.h"
#include "stoker/feed/feed.h"
#include "tests/feed/expected_batch.h"
#include "tests/feed/synthetic_source.h"

namespace stoker::feed {
namespace {

constexpr ErrorCode kBadFile{"E-TEST-BAD", ExitCode::kData, "a file turned bad", ""};

struct Combination {
  BatchLayout layout = BatchLayout::kPadded;
  ExtraParts extras;
  bool with_arrays = false;
  bool shuffle = true;
  bool with_bad_rows = false;
  unsigned extra_samples = 0;
  unsigned num_workers = 0;
  unsigned world_size = 1;
  unsigned num_rows = 30;

  std::string text() const {
    return std::string(layout == BatchLayout::kPacked ? "packed" : "padded") +
           (extras.with_audio ? " audio" : "") + " segment " +
           std::to_string(extras.segment_frames) + " reference " +
           std::to_string(extras.reference_frames) + (with_arrays ? " arrays" : "") +
           (shuffle ? "" : " in order") + (with_bad_rows ? " bad rows" : "") + " extra " +
           std::to_string(extra_samples) + " workers " + std::to_string(num_workers) + " world " +
           std::to_string(world_size) + " rows " + std::to_string(num_rows);
  }
};

Combination draw_combination(std::uint64_t seed) {
  KeyedDraws draws({seed, "test/combination", 0, 0});
  const auto coin = [&] { return draws.next_below(2) == 1; };
  Combination drawn;
  drawn.layout = coin() ? BatchLayout::kPacked : BatchLayout::kPadded;
  drawn.extras.with_audio = coin();
  if (coin()) drawn.extras.segment_frames = 1 + static_cast<std::uint32_t>(draws.next_below(300));
  if (const auto from = draws.next_below(3); from > 0) {
    drawn.extras.reference =
        from == 1 ? ReferenceFrom::kSameUtterance : ReferenceFrom::kSameSpeaker;
    drawn.extras.reference_frames = 1 + static_cast<std::uint32_t>(draws.next_below(300));
  }
  drawn.with_arrays = coin();
  drawn.shuffle = coin();
  drawn.with_bad_rows = coin();
  drawn.extra_samples = static_cast<unsigned>(draws.next_below(7));
  drawn.num_workers = static_cast<unsigned>(draws.next_below(4));
  drawn.world_size = 1 + static_cast<unsigned>(draws.next_below(3));
  drawn.num_rows = 1 + static_cast<unsigned>(draws.next_below(50));
  return drawn;
}

std::shared_ptr<SyntheticSource> make_store(const Combination& how,
                                            const std::set<std::uint32_t>& bad_mels,
                                            const std::set<std::uint32_t>& bad_extras) {
  auto store = std::make_shared<SyntheticSource>(speech_like_rows(how.num_rows));
  store->extra_samples = how.extra_samples;
  if (how.with_arrays) {
    store->kinds = {{"f0", cache::ElementType::kF32, 6, 1},
                    {"ids", cache::ElementType::kI16, 3, 5}};
  }
  const auto fail_in = [](const std::set<std::uint32_t>& rows) {
    return [rows](std::uint32_t row) -> Result<void> {
      if (!rows.contains(row)) return {};
      return Error{.code = &kBadFile, .found = "row " + std::to_string(row)};
    };
  };
  store->before_mel = fail_in(bad_mels);
  store->before_extra = fail_in(bad_extras);
  return store;
}

void check(const Combination& how, std::uint64_t seed) {
  SCOPED_TRACE("seed " + std::to_string(seed) + ": " + how.text());
  const std::set<std::uint32_t> bad_mels =
      how.with_bad_rows ? std::set<std::uint32_t>{1, 4, 12} : std::set<std::uint32_t>();
  const std::set<std::uint32_t> bad_extras =
      how.with_bad_rows ? std::set<std::uint32_t>{2, 7} : std::set<std::uint32_t>();
  const auto store = make_store(how, bad_mels, bad_extras);
  const ExpectedWorld world{*store, how.layout, how.extras, 42, bad_mels, bad_extras};
  for (unsigned rank = 0; rank < how.world_size; ++rank) {
    FeedSetup setup = synthetic_setup(store);
    setup.dtype = config::MelDtype::kF32;
    setup.order.layout = how.layout;
    setup.order.shuffle = how.shuffle;
    setup.order.batch_multiple = how.world_size;
    setup.ranks = {rank, how.world_size};
    setup.extras = how.extras;
    setup.loading.num_workers = how.num_workers;
    setup.num_epochs = 2;
    Feed feed(std::move(setup));
    for (int epoch = 0; epoch < 2; ++epoch) {
      while (const auto batch = feed.next()) {
        ExpectedBatch(world, *batch).compare();
        if (testing::Test::HasFailure()) return;
      }
    }
  }
}

// 2 layouts, with and without each part, bad rows, 0 to 3 workers, 1 to 3 ranks.
TEST(OptionalFieldsTest, RandomCombinationsHoldWhatTheSlowComputationGives) {
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    check(draw_combination(seed), seed);
    if (HasFailure()) return;
  }
}

TEST(OptionalFieldsTest, PackedHoldsEveryPartAtOnce) {
  check({.layout = BatchLayout::kPacked,
         .extras = {.with_audio = true,
                    .reference = ReferenceFrom::kSameSpeaker,
                    .reference_frames = 40,
                    .segment_frames = 32},
         .with_arrays = true,
         .with_bad_rows = true,
         .extra_samples = 5,
         .num_workers = 2,
         .world_size = 2,
         .num_rows = 60},
        0);
}

TEST(OptionalFieldsTest, ABadReferenceIsRecordedAndLeavesItsCropEmpty) {
  auto store = std::make_shared<SyntheticSource>(speech_like_rows(30));
  store->before_mel = [](std::uint32_t row) -> Result<void> {
    if (row == 9) return Error{.code = &kBadFile, .found = "no longer what it was"};
    return {};
  };
  FeedSetup setup = synthetic_setup(store);
  setup.rows[9].is_used = false;  // never a row of its own: it is met as a reference alone
  setup.extras = {.reference = ReferenceFrom::kSameSpeaker, .reference_frames = 20};
  setup.loading.num_workers = 0;
  Feed feed(std::move(setup));
  std::size_t num_empty = 0;
  for (int epoch = 0; epoch < 12; ++epoch) {
    while (const auto batch = feed.next()) {
      for (std::size_t at = 0; at < batch->num_rows(); ++at) {
        if (batch->mel_len()[at] > 0 && batch->reference_len()[at] == 0) ++num_empty;
      }
    }
  }
  EXPECT_GT(num_empty, 0U);
  ASSERT_EQ(feed.bad_rows().size(), 1U);
  EXPECT_EQ(feed.bad_rows()[0].id, "utt9");
  EXPECT_EQ(feed.bad_rows()[0].error.code, &kBadFile);
}

TEST(OptionalFieldsTest, StorageThatFailsUnderAReferenceEndsTheRun) {
  static constexpr ErrorCode kDisk{"E-TEST-DISK", ExitCode::kStorage, "a disk failed", ""};
  auto store = std::make_shared<SyntheticSource>(speech_like_rows(30));
  store->before_mel = [](std::uint32_t row) -> Result<void> {
    if (row == 9) return Error{.code = &kDisk, .found = "input/output error"};
    return {};
  };
  FeedSetup setup = synthetic_setup(store);
  setup.rows[9].is_used = false;
  setup.extras = {.reference = ReferenceFrom::kSameSpeaker, .reference_frames = 20};
  Feed feed(std::move(setup));
  const auto run = [&feed] {
    for (int epoch = 0; epoch < 12; ++epoch) {
      while (feed.next()) {
      }
    }
  };
  EXPECT_THROW(run(), StorageError);
}

}  // namespace
}  // namespace stoker::feed
