// Where rows go that are laid end to end, and what memory the feed's shapes ask for.
#include "stoker/train/loop/device/step_packing.h"

#include <gtest/gtest.h>

#include <numeric>

#include "stoker/train/loop/learner.h"
#include "tests/train/doubles/made_speech.h"

namespace stoker::train {
namespace {

constexpr std::int64_t kMostReferenceFrames = 12;

TEST(StepPackingTest, APaddedShapeIsRowsTimesTheLongest) {
  const feed::BatchFormat format{.max_rows = 99, .max_row_frames = 4};
  const StepShape shape = step_shape_of({.num_rows = 3, .num_frames = 40, .num_tokens = 8}, format,
                                        kMostReferenceFrames);
  EXPECT_EQ(shape, (StepShape{.num_rows = 3,
                              .num_frames = 120,
                              .num_tokens = 24,
                              .longest_frames = 40,
                              .longest_tokens = 8}));
}

TEST(StepPackingTest, APackedShapeHasTheMostUtterancesAndTheLongest) {
  feed::BatchFormat format{.layout = feed::BatchLayout::kPacked,
                           .max_rows = 99,
                           .max_row_frames = 300,
                           .reference_frames = 20};
  StepShape shape = step_shape_of({.num_rows = 3, .num_frames = 400, .num_tokens = 80}, format,
                                  kMostReferenceFrames);
  EXPECT_EQ(shape, (StepShape{.is_packed = true,
                              .num_rows = 99,
                              .num_frames = 1200,
                              .num_tokens = 240,
                              .longest_frames = 300,
                              .longest_tokens = 80,
                              .reference_frames = 12}));
  format.reference_frames = 5;
  shape = step_shape_of({.num_rows = 3, .num_frames = 200, .num_tokens = 80}, format,
                        kMostReferenceFrames);
  EXPECT_EQ(shape.longest_frames, 200);
  EXPECT_EQ(shape.reference_frames, 5);
}

TEST(StepPackingTest, AFeedsShapesComeOnceAndTheLargestFirst) {
  const feed::Feed feed = MadeFeed{.num_utterances = 60}.open();
  const std::vector<StepShape> shapes = step_shapes_of(feed, kMostReferenceFrames);
  ASSERT_GE(shapes.size(), 2U);
  EXPECT_LE(shapes.size(), feed.shapes().size());
  for (std::size_t i = 1; i < shapes.size(); ++i) {
    EXPECT_GE(shapes[i - 1].num_frames, shapes[i].num_frames);
    EXPECT_NE(shapes[i - 1], shapes[i]);
  }
}

struct Layout {
  const char* name;
  feed::BatchLayout layout;
};
void PrintTo(const Layout& layout, std::ostream* out) { *out << layout.name; }

class PlacedRowsTest : public testing::TestWithParam<Layout> {};

// Every batch of an epoch: rows follow each other without a gap, in the batch's order, and fit.
TEST_P(PlacedRowsTest, AreEndToEnd) {
  feed::Feed feed = MadeFeed{.faults = {.bad = {2, 7, 11}}, .layout = GetParam().layout}.open();
  std::size_t num_empty = 0;
  while (const std::optional<feed::Batch> batch = feed.next()) {
    std::vector<RowPlace> rows(batch->num_rows());
    const RowTotals totals = place_rows(*batch, kMostReferenceFrames, rows);
    const StepShape shape = step_shape_of(batch->shape(), batch->format(), kMostReferenceFrames);
    EXPECT_LE(std::int64_t{totals.num_frames}, shape.num_frames);
    EXPECT_LE(std::int64_t{totals.num_tokens}, shape.num_tokens);
    EXPECT_LE(std::int64_t{totals.longest_frames}, shape.longest_frames);
    EXPECT_LE(static_cast<std::int64_t>(rows.size()), shape.num_rows);
    std::uint32_t frame = 0, token = 0;
    for (std::size_t row = 0; row < rows.size(); ++row) {
      const RowPlace& place = rows[row];
      EXPECT_EQ(place.to_frame, frame);
      EXPECT_EQ(place.to_token, token);
      EXPECT_EQ(place.num_frames, static_cast<std::uint32_t>(batch->mel_len()[row]));
      const bool is_empty = place.num_frames == 0;
      num_empty += is_empty && !batch->id(row).empty() ? 1 : 0;
      EXPECT_EQ(place.num_tokens == 0, is_empty) << "a row without frames has no text";
      if (!is_empty) {
        EXPECT_EQ(place.from_frame, batch->frame_begins()[row]);
        EXPECT_EQ(place.from_token, batch->token_begins()[row]);
      }
      frame += place.num_frames;
      token += place.num_tokens;
    }
    EXPECT_EQ(totals.num_frames, frame);
    EXPECT_EQ(totals.num_tokens, token);
  }
  EXPECT_EQ(num_empty, 3U);
}

INSTANTIATE_TEST_SUITE_P(Layouts, PlacedRowsTest,
                         testing::Values(Layout{"padded", feed::BatchLayout::kPadded},
                                         Layout{"packed", feed::BatchLayout::kPacked}),
                         [](const auto& given) { return given.param.name; });

TEST(StepPackingTest, ReferencesAreCutToTheModels) {
  feed::Feed feed =
      MadeFeed{.reference = feed::ReferenceFrom::kSameUtterance, .reference_frames = 20}.open();
  const feed::Batch batch = next_batch(feed);
  std::vector<RowPlace> rows(batch.num_rows());
  place_rows(batch, 7, rows);
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const bool is_empty = batch.mel_len()[row] == 0;
    EXPECT_EQ(rows[row].reference_frames, is_empty ? 0U : 7U);
  }
}

TEST(StepPackingTest, MadeUpRowsFillTheShape) {
  const auto sum = [](const std::vector<std::int64_t>& counts) {
    return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  };
  const StepShape padded{.num_rows = 3,
                         .num_frames = 120,
                         .num_tokens = 24,
                         .longest_frames = 40,
                         .longest_tokens = 8};
  EXPECT_EQ(rows_that_fill(padded).mel_len, (std::vector<std::int64_t>{40, 40, 40}));
  EXPECT_EQ(rows_that_fill(padded).text_len, (std::vector<std::int64_t>{8, 8, 8}));
  const StepShape packed{.is_packed = true,
                         .num_rows = 9,
                         .num_frames = 100,
                         .num_tokens = 30,
                         .longest_frames = 40,
                         .longest_tokens = 8};
  const MadeUpRows rows = rows_that_fill(packed);
  EXPECT_EQ(rows.mel_len.size(), 9U);
  EXPECT_EQ(sum(rows.mel_len), 100);
  EXPECT_EQ(sum(rows.text_len), 24) << "no text in rows without frames";
}

}  // namespace
}  // namespace stoker::train
