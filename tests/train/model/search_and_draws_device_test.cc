// Alignment search and draws on a GPU give what they give on the CPU, bit for bit.
#include <gtest/gtest.h>

#include "stoker/cuda/device_buffer.h"
#include "stoker/train/model/step_draws.h"
#include "tests/doubles/gpu_present.h"
#include "tests/train/model/alignment_cases.h"

namespace stoker::train {
namespace {

template <class T>
class DeviceValues {
 public:
  DeviceValues(const std::vector<T>& values, cuda::StreamView stream)
      : buffer_(0, std::max<std::size_t>(values.size() * sizeof(T), 1)), stream_(stream) {
    cuda::system_device_api().copy(
        {data(), values.data(), values.size() * sizeof(T), cuda::CopyKind::kToDevice},
        stream.handle());
  }
  T* data() const { return buffer_.template as<T>(); }
  std::vector<T> read(std::size_t count) const {
    std::vector<T> values(count);
    cuda::system_device_api().copy(
        {values.data(), data(), count * sizeof(T), cuda::CopyKind::kToHost}, stream_.handle());
    cuda::system_device_api().synchronize(stream_.handle());
    return values;
  }

 private:
  cuda::DeviceBuffer buffer_;
  cuda::StreamView stream_;
};

class OnGpuTest : public cuda::GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (!IsSkipped()) stream_.emplace(0);
  }
  std::vector<std::int64_t> search(const AlignmentCase& scores,
                                   ScoreLayout layout = ScoreLayout::kTokensFirst,
                                   const DiagonalPull& pull = {}) const {
    std::vector<std::int64_t> out;
    AlignmentBatch batch = scores.batch(out);
    batch.layout = layout;
    const DeviceValues score(scores.score_in(layout), *stream_);
    const DeviceValues text_len(scores.text_len, *stream_);
    const DeviceValues mel_len(scores.mel_len, *stream_);
    const DeviceValues found(out, *stream_);
    batch.score = score.data();
    batch.text_len = text_len.data();
    batch.mel_len = mel_len.data();
    batch.token_of_frame = found.data();
    const cuda::DeviceBuffer scratch(0, alignment_scratch_bytes(batch));
    search_alignment(batch, {.scratch = scratch.data(), .pull = pull}, *stream_);
    return found.read(out.size());
  }

  std::optional<cuda::Stream> stream_;
};

TEST_F(OnGpuTest, AThousandRandomBatchesAlignAsOnTheCpu) {
  KeyedDraws draws({1, "sizes", 0, 0});
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    const auto upto = [&](std::uint64_t most) {
      return 1 + static_cast<std::int64_t>(draws.next_below(most));
    };
    const std::int64_t tokens = upto(seed % 10 == 0 ? 600 : 80);
    const AlignmentCase scores =
        random_case(seed, {upto(6), tokens, tokens + upto(120), seed % 3 == 0});
    const auto layout = seed % 2 == 0 ? ScoreLayout::kTokensFirst : ScoreLayout::kFramesFirst;
    ASSERT_EQ(search(scores, layout), scores.search()) << "seed " << seed;
  }
}

TEST_F(OnGpuTest, PullsToTheDiagonalByTheStepInDeviceMemory) {
  for (const std::uint64_t step : {0, 42, 99, 100, 5000}) {
    const AlignmentCase scores = random_case(step, {4, 60, 300});
    const float strength = static_cast<float>(diagonal_pull(step));
    AlignmentCase lowered = scores;
    for (std::size_t row = 0; row < 4; ++row) {
      for (std::int64_t token = 0; token < scores.text_len[row]; ++token) {
        for (std::int64_t frame = 0; frame < scores.mel_len[row]; ++frame) {
          const float beside =
              (static_cast<float>(token) + 0.5F) / static_cast<float>(scores.text_len[row]) -
              (static_cast<float>(frame) + 0.5F) / static_cast<float>(scores.mel_len[row]);
          const std::size_t at =
              (row * 60 + static_cast<std::size_t>(token)) * 300 + static_cast<std::size_t>(frame);
          lowered.score[at] -= strength * (beside * beside);
        }
      }
    }
    const DeviceValues<std::uint64_t> there({step}, *stream_);
    EXPECT_EQ(search(scores, ScoreLayout::kTokensFirst, {0, there.data()}), lowered.search());
    EXPECT_EQ(search(scores, ScoreLayout::kTokensFirst, pull_of({1, step})), lowered.search());
  }
}

TEST_F(OnGpuTest, AlignsMoreTokensThanSharedMemoryHolds) {
  AlignmentCase scores = random_case(2, {2, 7000, 7400, true});
  scores.text_len = {7000, 6901};
  scores.mel_len = {7400, 7399};
  EXPECT_EQ(search(scores), scores.search());
}

TEST_F(OnGpuTest, DrawsTheBytesOfTheCpu) {
  for (const std::size_t length : {1U, 5U, 80U, 4096U, 100'003U}) {
    for (const bool is_normal : {false, true}) {
      const DrawStream draws{{42, 3 + (5ULL << 32U)}, kNoiseDraws, 9};
      std::vector<float> expected(3 * length);
      const DeviceValues found(std::vector<float>(3 * length, -1.0F), *stream_);
      const DrawTarget here{expected.data(), 3, length, 2};
      const DrawTarget there{found.data(), 3, length, 2};
      is_normal ? fill_normal(draws, here) : fill_uniform(draws, here);
      is_normal ? fill_normal(draws, there, *stream_) : fill_uniform(draws, there, *stream_);
      EXPECT_EQ(found.read(expected.size()), expected) << length;
    }
  }
}

}  // namespace
}  // namespace stoker::train
