// Rows laid end to end on the GPU against the tensors of the same batch, padded, on the CPU.
#include "stoker/train/loop/device/step_inputs.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cstring>

#include "stoker/feed/open_feed.h"
#include "stoker/train/model/layers.h"
#include "tests/doubles/gpu_present.h"
#include "tests/feed/small_data_set.h"
#include "tests/train/doubles/made_speech.h"

namespace stoker::train {
namespace {

constexpr std::int64_t kMostReferenceFrames = 12;

class StepInputsTest : public cuda::GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (!IsSkipped() && !at::hasCUDA()) GTEST_SKIP() << "a libtorch for the CPU alone";
    if (IsSkipped()) return;
    ledger_ = at::zeros({sizeof(StepLedger)}, at::device(gpu_).dtype(at::kByte));
  }

  TensorRules rules(at::Device device, std::int64_t num_mels) const {
    return {.device = device,
            .scale = {.mean = -4.0, .deviation = 2.0},
            .num_mels = num_mels,
            .max_reference_frames = kMostReferenceFrames};
  }
  StepLedger* ledger() const { return static_cast<StepLedger*>(ledger_.mutable_data_ptr()); }
  StepLedger ledger_now() const {
    StepLedger now{};
    const at::Tensor host = ledger_.to(at::kCPU);
    std::memcpy(&now, host.data_ptr(), sizeof(now));
    return now;
  }

  at::Device gpu_{at::kCUDA, 0};
  at::Tensor ledger_;
};

void expect_row(const at::Tensor& found, const at::Tensor& expected, double tolerance) {
  EXPECT_TRUE(at::allclose(found.to(at::kDouble), expected.to(at::kDouble), tolerance, tolerance));
}

// Rows of `found`, end to end, against those of `padded`; behind the last there are zeros.
void expect_rows(const PackedBatch& found, const ModelBatch& padded, double tolerance) {
  const at::Tensor mel = found.mel.to(at::kCPU), tokens = found.tokens.to(at::kCPU);
  const at::Tensor mel_len = found.mel_len.to(at::kCPU), text_len = found.text_len.to(at::kCPU);
  std::int64_t frame = 0, token = 0;
  for (std::int64_t row = 0; row < mel_len.size(0); ++row) {
    const auto num_frames = mel_len[row].item<std::int64_t>();
    const auto num_tokens = text_len[row].item<std::int64_t>();
    const bool is_there = row < padded.mel_len.size(0) &&
                          padded.mel_len[row].item<std::int64_t>() > 0 &&
                          padded.text_len[row].item<std::int64_t>() > 0;
    ASSERT_EQ(num_frames, is_there ? padded.mel_len[row].item<std::int64_t>() : 0);
    ASSERT_EQ(num_tokens, is_there ? padded.text_len[row].item<std::int64_t>() : 0);
    if (!is_there) continue;
    expect_row(mel.narrow(0, frame, num_frames), padded.mel[row].narrow(0, 0, num_frames),
               tolerance);
    expect_row(tokens.narrow(0, token, num_tokens), padded.tokens[row].narrow(0, 0, num_tokens), 0);
    if (found.reference.defined()) {
      const auto length = padded.reference_len[row].item<std::int64_t>();
      EXPECT_EQ(found.reference_len[row].item<std::int64_t>(), length);
      expect_row(found.reference[row].narrow(0, 0, length).to(at::kCPU),
                 padded.reference[row].narrow(0, 0, length), tolerance);
    }
    frame += num_frames;
    token += num_tokens;
  }
  EXPECT_TRUE(mel.narrow(0, frame, mel.size(0) - frame).eq(0).all().item<bool>());
  EXPECT_TRUE(tokens.narrow(0, token, tokens.size(0) - token).eq(0).all().item<bool>());
}

TEST_F(StepInputsTest, HostBatchesOfEveryLayoutAndType) {
  for (const feed::BatchLayout layout : {feed::BatchLayout::kPadded, feed::BatchLayout::kPacked}) {
    for (const config::MelDtype dtype :
         {config::MelDtype::kF32, config::MelDtype::kF16, config::MelDtype::kBf16}) {
      for (const auto reference :
           {feed::ReferenceFrom::kNone, feed::ReferenceFrom::kSameUtterance}) {
        const MadeFeed made{.faults = {.bad = {1, 5}},
                            .layout = layout,
                            .dtype = dtype,
                            .reference = reference,
                            .reference_frames = reference == feed::ReferenceFrom::kNone ? 0U : 16U};
        feed::Feed here = made.open();
        feed::Feed there = made.open();
        StepInputs inputs(rules(gpu_, MadeSpeech::kMels), ledger());
        for (std::uint64_t step = 0; step < 9; ++step) {
          feed::Batch batch = next_batch(there);
          const StepShape shape =
              step_shape_of(batch.shape(), batch.format(), kMostReferenceFrames);
          inputs.take(std::move(batch), shape, step);
          expect_rows(inputs.of(shape),
                      take_tensors(next_batch(here), rules(at::kCPU, MadeSpeech::kMels)), 1e-6);
          EXPECT_EQ(ledger_now().step, step);
        }
        EXPECT_GE(ledger_now().span_ns, ledger_now().began_ns);
        EXPECT_GT(ledger_now().began_ns, 0U);
        ledger_.zero_();
      }
    }
  }
}

TEST_F(StepInputsTest, VoicesAreStretchedAsOnTheCpu) {
  config::MelRecipe recipe;
  recipe.num_mels = MadeSpeech::kMels;
  for (const feed::BatchLayout layout : {feed::BatchLayout::kPadded, feed::BatchLayout::kPacked}) {
    const MadeFeed made{.faults = {.bad = {1, 5}},
                        .layout = layout,
                        .reference = feed::ReferenceFrom::kSameUtterance,
                        .reference_frames = 16};
    feed::Feed here = made.open();
    feed::Feed there = made.open();
    TensorRules of_gpu = rules(gpu_, MadeSpeech::kMels);
    TensorRules of_cpu = rules(at::kCPU, MadeSpeech::kMels);
    of_gpu.warps = of_cpu.warps = VoiceWarps(recipe, 0.1, 5);
    StepInputs inputs(of_gpu, ledger());
    for (std::uint64_t step = 0; step < 9; ++step) {
      feed::Batch batch = next_batch(there);
      const StepShape shape = step_shape_of(batch.shape(), batch.format(), kMostReferenceFrames);
      inputs.take(std::move(batch), shape, step);
      expect_rows(inputs.of(shape), take_tensors(next_batch(here), of_cpu, step), 1e-5);
    }
  }
}

TEST_F(StepInputsTest, BatchesInGpuMemory) {
  feed::SmallDataSet set(24);
  set.settings().loader.preprocessing_mode = config::PreprocessingMode::kRuntime;
  set.settings().batch.reference = config::ReferencePart::kSame;
  set.settings().batch.reference_audio_s = 0.2;
  for (const config::BatchLayout layout :
       {config::BatchLayout::kPadded, config::BatchLayout::kPacked}) {
    set.settings().batch.batch_layout = layout;
    config::Settings on_gpu = set.settings();
    on_gpu.run.device = "cuda";
    feed::OpenedFeed there = feed::open_feed(on_gpu);
    config::Settings on_cpu = set.settings();
    on_cpu.run.device = "cpu";
    feed::OpenedFeed here = feed::open_feed(on_cpu);
    StepInputs inputs(rules(gpu_, 80), ledger());
    for (std::uint64_t step = 0; step < 6; ++step) {
      feed::Batch batch = next_batch(there.feed);
      ASSERT_TRUE(batch.device().is_cuda());
      const StepShape shape = step_shape_of(batch.shape(), batch.format(), kMostReferenceFrames);
      batch.wait(current_stream(gpu_));
      inputs.take(std::move(batch), shape, step);
      const ModelBatch padded = take_tensors(next_batch(here.feed), rules(at::kCPU, 80));
      const PackedBatch& found = inputs.of(shape);
      EXPECT_EQ(found.mel_len.sum().item<std::int64_t>(),
                padded.mel_len.sum().item<std::int64_t>());
      expect_rows(found, padded, 1e-2);  // mels of the GPU are not those of the CPU
    }
  }
}

}  // namespace
}  // namespace stoker::train
