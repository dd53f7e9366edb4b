#include <algorithm>
#include <vector>

#include "stoker/base/thread/parallel.h"
#include "stoker/train/model/alignment_search.h"

namespace stoker::train {
namespace {

struct RowSize {
  std::int64_t num_tokens;
  std::int64_t num_frames;
};

RowSize size_of(const AlignmentBatch& batch, std::int64_t row) {
  const std::int64_t tokens = std::min(batch.text_len[row], batch.num_tokens);
  const std::int64_t frames = std::min(batch.mel_len[row], batch.num_frames);
  if (tokens <= 0 || frames < tokens) return {0, 0};
  return {tokens, frames};
}

// Only what can be reached from the first token and still reach the last is computed: token x at
// frames x … num_frames - num_tokens + x, of which `advanced` keeps one flag each.
void search_row(const float* score, const AlignmentBatch& batch, RowSize size, std::int64_t* out) {
  const std::int64_t stride = batch.token_stride();
  const std::int64_t step = batch.frame_stride();
  const std::int64_t width = size.num_frames - size.num_tokens + 1;
  std::vector<float> best(static_cast<std::size_t>(width));
  std::vector<std::uint8_t> advanced(static_cast<std::size_t>(width * size.num_tokens));
  float sum = 0;
  for (std::int64_t k = 0; k < width; ++k) {
    sum = k == 0 ? score[0] : score[k * step] + sum;
    best[static_cast<std::size_t>(k)] = sum;
  }
  for (std::int64_t x = 1; x < size.num_tokens; ++x) {
    const float* at = score + x * stride + x * step;
    std::uint8_t* flags = advanced.data() + x * width;
    float stay = 0;
    for (std::int64_t k = 0; k < width; ++k) {
      float& before = best[static_cast<std::size_t>(k)];  // of token x - 1, one frame ago
      const bool is_advance = k == 0 || before > stay;
      flags[k] = is_advance ? 1 : 0;
      stay = at[k * step] + (is_advance ? before : stay);
      before = stay;
    }
  }
  std::int64_t x = size.num_tokens - 1;
  for (std::int64_t y = size.num_frames - 1; y >= 0; --y) {
    out[y] = x;
    if (x > 0 && advanced[static_cast<std::size_t>(x * width + y - x)] != 0) --x;
  }
}

}  // namespace

void search_alignment(const AlignmentBatch& batch, unsigned num_threads) {
  run_parallel(num_threads, static_cast<std::size_t>(batch.num_rows), [&](std::size_t index) {
    const auto row = static_cast<std::int64_t>(index);
    std::int64_t* out = batch.token_of_frame + row * batch.num_frames;
    std::fill_n(out, batch.num_frames, 0);
    const RowSize size = size_of(batch, row);
    if (size.num_tokens == 0) return;
    search_row(batch.score + row * batch.num_tokens * batch.num_frames, batch, size, out);
  });
}

}  // namespace stoker::train
