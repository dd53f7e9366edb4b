// Batches for the alignment search, random and made by hand, in one piece of host memory.
#pragma once

#include <cstdint>
#include <vector>

#include "stoker/base/philox.h"
#include "stoker/train/model/alignment_search.h"

namespace stoker::train {

struct AlignmentCase {
  std::int64_t num_rows = 0;
  std::int64_t num_tokens = 0;
  std::int64_t num_frames = 0;
  std::vector<float> score;
  std::vector<std::int64_t> text_len;
  std::vector<std::int64_t> mel_len;

  AlignmentBatch batch(std::vector<std::int64_t>& out) const {
    out.assign(static_cast<std::size_t>(num_rows * num_frames), -1);
    return {.score = score.data(),
            .text_len = text_len.data(),
            .mel_len = mel_len.data(),
            .token_of_frame = out.data(),
            .num_rows = num_rows,
            .num_tokens = num_tokens,
            .num_frames = num_frames};
  }
  std::vector<std::int64_t> search(unsigned num_threads = 1) const {
    std::vector<std::int64_t> out;
    search_alignment(batch(out), num_threads);
    return out;
  }
  std::vector<float> score_in(ScoreLayout layout) const {
    if (layout == ScoreLayout::kTokensFirst) return score;
    std::vector<float> turned;
    for (std::int64_t row = 0; row < num_rows; ++row)
      for (std::int64_t frame = 0; frame < num_frames; ++frame)
        for (std::int64_t token = 0; token < num_tokens; ++token)
          turned.push_back(at(row, token, frame));
    return turned;
  }
  float at(std::int64_t row, std::int64_t token, std::int64_t frame) const {
    return score[static_cast<std::size_t>((row * num_tokens + token) * num_frames + frame)];
  }
};

struct CaseSize {
  std::int64_t rows, tokens, frames;
  bool has_ties = false;  // whole numbers, few of them
};

// Rows of every kind: empty, full, with fewer frames than tokens.
inline AlignmentCase random_case(std::uint64_t seed, const CaseSize& size) {
  KeyedDraws draws({seed, "alignment-case", 0, 0});
  AlignmentCase made{size.rows, size.tokens, size.frames, {}, {}, {}};
  for (std::int64_t i = 0; i < size.rows * size.tokens * size.frames; ++i) {
    const double value = draws.next_between(-3, 3);
    made.score.push_back(static_cast<float>(size.has_ties ? static_cast<int>(value) : value));
  }
  for (std::int64_t row = 0; row < size.rows; ++row) {
    made.text_len.push_back(
        static_cast<std::int64_t>(draws.next_below(static_cast<std::uint64_t>(size.tokens) + 1)));
    made.mel_len.push_back(
        static_cast<std::int64_t>(draws.next_below(static_cast<std::uint64_t>(size.frames) + 1)));
  }
  return made;
}

}  // namespace stoker::train
