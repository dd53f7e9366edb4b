#include "stoker/feed/dlpack.h"

#include <gtest/gtest.h>

#include "tests/feed/device/simulated_device.h"

namespace stoker::feed {
namespace {

Feed make_feed(SimulatedGpu* gpu) {
  FeedSetup setup = synthetic_setup(std::make_shared<SyntheticSource>(speech_like_rows(40)));
  if (gpu != nullptr) setup.device = simulated_device(*gpu, {.buffer_size = 2});
  return Feed(std::move(setup));
}

TEST(DlpackTest, HostTensorsAreTheBatchItself) {
  Feed feed = make_feed(nullptr);
  auto batch = std::make_shared<Batch>(*feed.next());
  DlManagedTensor* const mel = export_dlpack(batch, BatchPart::kMel);
  EXPECT_EQ(mel->tensor.data, batch->mel().data);
  EXPECT_EQ(mel->tensor.device.type, 1);
  ASSERT_EQ(mel->tensor.num_axes, 3);
  EXPECT_EQ(mel->tensor.shape[1], batch->shape().num_frames);
  EXPECT_EQ(mel->tensor.type.code, 2);
  EXPECT_EQ(mel->tensor.type.bits, 16);
  DlManagedTensor* const lengths = export_dlpack(batch, BatchPart::kMelLen);
  ASSERT_EQ(lengths->tensor.num_axes, 1);
  EXPECT_EQ(static_cast<const std::int32_t*>(lengths->tensor.data)[0], batch->mel_len()[0]);
  mel->deleter(mel);
  lengths->deleter(lengths);
  EXPECT_EQ(batch.use_count(), 1);
}

TEST(DlpackTest, WhatIsOptionalIsOnTheBatchsDevice) {
  SimulatedGpu gpu;
  for (SimulatedGpu* const place : {static_cast<SimulatedGpu*>(nullptr), &gpu}) {
    auto store = std::make_shared<SyntheticSource>(speech_like_rows(40));
    store->kinds = {{"f0", cache::ElementType::kF32, 6, 1},
                    {"two", cache::ElementType::kI16, 3, 2}};
    FeedSetup setup = synthetic_setup(std::move(store));
    setup.extras = {.with_audio = true,
                    .reference = ReferenceFrom::kSameUtterance,
                    .reference_frames = 9,
                    .segment_frames = 8};
    if (place != nullptr) setup.device = simulated_device(gpu, {});
    Feed feed(std::move(setup));
    const Batch batch = *feed.next();
    using enum BatchPart;
    for (const BatchPart part :
         {kAudio, kAudioLen, kReferenceMel, kReferenceLen, kWavSegment, kMelSegment}) {
      const DlArray array = batch_array(batch, part);
      EXPECT_EQ(array.device.type, place == nullptr ? 1 : 2);
      EXPECT_NE(array.data, nullptr);
      EXPECT_GE(array.num_values(), static_cast<std::int64_t>(batch.num_rows()));
    }
    EXPECT_EQ(batch_array(batch, kReferenceMel).data, batch.reference_mel().data);
    EXPECT_EQ(batch_array(batch, kReferenceMel).shape[1], 9);
    const DlNamedArray one = named_array(batch, "f0");
    EXPECT_EQ(one.values.num_axes, 2);
    EXPECT_EQ(one.values.device.type, place == nullptr ? 1 : 2);
    EXPECT_EQ(one.lengths.shape[0], static_cast<std::int64_t>(batch.num_rows()));
    EXPECT_EQ(named_array(batch, "two").values.num_axes, 3);
  }
  Feed plain = make_feed(nullptr);
  EXPECT_EQ(batch_array(*plain.next(), BatchPart::kReferenceMel).data, nullptr);
}

TEST(DlpackTest, AVersionedTensorKeepsItsOwner) {
  auto owner = std::make_shared<std::vector<float>>(6, 1.5F);
  DlArray array{.data = owner->data(), .device = dl_device(Device::cpu()), .type = kDlFloat32};
  array.shape = {2, 3, 0};
  array.num_axes = 2;
  EXPECT_EQ(array.num_values(), 6);
  EXPECT_EQ(array.size_bytes(), 24U);
  DlManagedTensorVersioned* const out = export_versioned(array, owner, 2);
  EXPECT_EQ(out->major, 1U);
  EXPECT_EQ(out->flags, 2U);
  EXPECT_EQ(out->tensor.shape[1], 3);
  EXPECT_EQ(owner.use_count(), 2);
  out->deleter(out);
  EXPECT_EQ(owner.use_count(), 1);
}

TEST(DlpackTest, EveryElementTypeHasACode) {
  using cache::ElementType;
  const auto is = [](ElementType element, int code, int bits) {
    const DlDataType type = dl_type(element);
    return type.code == code && type.bits == bits && type.lanes == 1;
  };
  EXPECT_TRUE(is(ElementType::kBf16, 4, 16));
  EXPECT_TRUE(is(ElementType::kF64, 2, 64));
  EXPECT_TRUE(is(ElementType::kU8, 1, 8));
  EXPECT_TRUE(is(ElementType::kU64, 1, 64));
  EXPECT_TRUE(is(ElementType::kI8, 0, 8));
  EXPECT_TRUE(is(ElementType::kI64, 0, 64));
}

TEST(DlpackTest, AReaderThatWaitsByItselfIsWaitedFor) {
  SimulatedGpu gpu;
  Feed feed = make_feed(&gpu);
  const cuda::Stream stream(0, cuda::StreamPriority::kNormal, gpu);
  for (int i = 0; i < 6; ++i) {
    Batch batch = *feed.next();
    batch.wait_briefly(stream);
    batch.add_reader(stream);
  }
  EXPECT_EQ(feed.stats().ring->num_leased, 0U);
}

TEST(DlpackTest, TheLastTensorGivesTheDeviceSlotBack) {
  SimulatedGpu gpu;
  Feed feed = make_feed(&gpu);
  const cuda::Stream stream(0, cuda::StreamPriority::kNormal, gpu);
  for (int i = 0; i < 6; ++i) {  // more batches than slots: each must have come back
    auto batch = std::make_shared<Batch>(*feed.next());
    DlManagedTensor* const mel = export_dlpack(batch, BatchPart::kMel, stream.view());
    DlManagedTensor* const tokens = export_dlpack(batch, BatchPart::kTokens, stream.view());
    EXPECT_EQ(mel->tensor.device.type, 2);
    EXPECT_EQ(tokens->tensor.type.code, 0);
    batch.reset();
    mel->deleter(mel);
    EXPECT_GE(feed.stats().ring->num_leased, 1U);
    tokens->deleter(tokens);
    EXPECT_EQ(feed.stats().ring->num_leased, 0U);
  }
}

}  // namespace
}  // namespace stoker::feed
