#include "stoker/train/model/alignment_search.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/train/model/alignment_cases.h"

namespace stoker::train {
namespace {

// All ways of a row: frame counts of at least one for every token. The best one, and of equals the
// one whose last tokens are longest.
class EveryWay {
 public:
  EveryWay(const AlignmentCase& scores, std::int64_t row) : scores_(scores), row_(row) {
    num_tokens_ = scores.text_len[static_cast<std::size_t>(row)];
    num_frames_ = scores.mel_len[static_cast<std::size_t>(row)];
    if (num_tokens_ > 0 && num_frames_ >= num_tokens_) extend({});
  }
  std::vector<std::int64_t> best() const {
    std::vector<std::int64_t> way = best_;
    way.resize(static_cast<std::size_t>(scores_.num_frames), 0);
    return way;
  }

 private:
  void extend(std::vector<std::int64_t> way) {
    const auto frame = static_cast<std::int64_t>(way.size());
    if (frame == num_frames_) return judge(way);
    for (const std::int64_t step : {0, 1}) {
      const std::int64_t token = frame == 0 ? 0 : way.back() + step;
      if (token >= num_tokens_ || (frame == 0 && step == 1)) continue;
      std::vector<std::int64_t> longer = way;
      longer.push_back(token);
      extend(longer);
    }
  }
  void judge(const std::vector<std::int64_t>& way) {
    if (way.back() != num_tokens_ - 1) return;
    float sum = 0;
    for (std::size_t y = 0; y < way.size(); ++y)
      sum = y == 0 ? scores_.at(row_, way[y], 0)
                   : scores_.at(row_, way[y], static_cast<std::int64_t>(y)) + sum;
    if (sum > best_sum_ || (sum == best_sum_ && is_later(way))) {
      best_sum_ = sum;
      best_ = way;
    }
  }
  // Looked at from the end, the first difference decides: the larger token stayed longer.
  bool is_later(const std::vector<std::int64_t>& way) const {
    for (std::size_t y = way.size(); y-- > 0;) {
      if (way[y] != best_[y]) return way[y] > best_[y];
    }
    return false;
  }

  const AlignmentCase& scores_;
  std::int64_t row_;
  std::int64_t num_tokens_;
  std::int64_t num_frames_;
  float best_sum_ = -std::numeric_limits<float>::infinity();
  std::vector<std::int64_t> best_;
};

TEST(AlignmentSearchTest, FindsTheBestOfAllWays) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const AlignmentCase scores = random_case(seed, {5, 5, 10, seed % 2 == 1});
    const std::vector<std::int64_t> found = scores.search();
    for (std::int64_t row = 0; row < scores.num_rows; ++row) {
      const auto first = found.begin() + row * scores.num_frames;
      EXPECT_EQ(std::vector(first, first + scores.num_frames), EveryWay(scores, row).best())
          << "seed " << seed << " row " << row;
    }
  }
}

TEST(AlignmentSearchTest, EveryTokenHasAFrameAndNoneIsOutOfTurn) {
  const AlignmentCase scores = random_case(7, {40, 90, 400});
  const std::vector<std::int64_t> found = scores.search();
  for (std::int64_t row = 0; row < scores.num_rows; ++row) {
    const std::int64_t tokens = scores.text_len[static_cast<std::size_t>(row)];
    const std::int64_t frames = scores.mel_len[static_cast<std::size_t>(row)];
    const std::int64_t* way = found.data() + row * scores.num_frames;
    const bool is_aligned = tokens > 0 && frames >= tokens;
    for (std::int64_t y = is_aligned ? frames : 0; y < scores.num_frames; ++y) EXPECT_EQ(way[y], 0);
    if (!is_aligned) continue;
    EXPECT_EQ(way[0], 0);
    EXPECT_EQ(way[frames - 1], tokens - 1);
    for (std::int64_t y = 1; y < frames; ++y) {
      EXPECT_GE(way[y], way[y - 1]);
      EXPECT_LE(way[y], way[y - 1] + 1);
    }
  }
}

TEST(AlignmentSearchTest, EqualScoresStayInTheLastTokenLongest) {
  AlignmentCase scores = random_case(0, {1, 3, 7});
  std::fill(scores.score.begin(), scores.score.end(), 1.0F);
  scores.text_len = {3};
  scores.mel_len = {7};
  EXPECT_EQ(scores.search(), (std::vector<std::int64_t>{0, 1, 2, 2, 2, 2, 2}));
}

TEST(AlignmentSearchTest, RowsWithoutAnAlignmentAreZero) {
  AlignmentCase scores = random_case(1, {4, 6, 8});
  scores.text_len = {0, 3, 6, 4};
  scores.mel_len = {8, 0, 5, 4};
  std::vector<std::int64_t> expected(32, 0);
  for (std::size_t y = 0; y < 4; ++y) expected[24 + y] = static_cast<std::int64_t>(y);
  EXPECT_EQ(scores.search(), expected);
}

TEST(AlignmentSearchTest, ThreadsDoNotChangeIt) {
  const AlignmentCase scores = random_case(3, {17, 40, 120, true});
  EXPECT_EQ(scores.search(1), scores.search(4));
}

TEST(AlignmentSearchTest, ScoresBehindTheLengthsHaveNoEffect) {
  AlignmentCase scores = random_case(5, {8, 20, 60});
  const std::vector<std::int64_t> before = scores.search();
  for (std::int64_t row = 0; row < scores.num_rows; ++row) {
    for (std::int64_t x = 0; x < scores.num_tokens; ++x) {
      for (std::int64_t y = 0; y < scores.num_frames; ++y) {
        if (x < scores.text_len[static_cast<std::size_t>(row)] &&
            y < scores.mel_len[static_cast<std::size_t>(row)])
          continue;
        scores.score[static_cast<std::size_t>((row * scores.num_tokens + x) * scores.num_frames +
                                              y)] = 1e6F;
      }
    }
  }
  EXPECT_EQ(scores.search(), before);
}

TEST(AlignmentSearchTest, BothLayoutsOfScoresGiveTheSame) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const AlignmentCase scores = random_case(seed, {3, 9, 30, seed % 2 == 0});
    const std::vector<float> turned = scores.score_in(ScoreLayout::kFramesFirst);
    std::vector<std::int64_t> out;
    AlignmentBatch batch = scores.batch(out);
    batch.score = turned.data();
    batch.layout = ScoreLayout::kFramesFirst;
    search_alignment(batch, 1);
    EXPECT_EQ(out, scores.search()) << "seed " << seed;
  }
}

}  // namespace
}  // namespace stoker::train
