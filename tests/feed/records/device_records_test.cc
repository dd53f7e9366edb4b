// What a feed into GPU memory records beyond one in host memory: slots, copies and kernels.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "tests/feed/device/simulated_device.h"

namespace stoker::feed {
namespace {

constexpr std::uint64_t kEpochs = 2;

// A consumer whose steps are longer than the time between two timed batches.
std::vector<BatchRecord> records_of(SlotPayload payload, DeviceAhead ahead, bool has_two_gpus) {
  SimulatedGpu gpu({.num_devices = 2, .seed = 7});
  FeedSetup setup = synthetic_setup(std::make_shared<SyntheticSource>(speech_like_rows(60)));
  setup.num_epochs = kEpochs;
  DeviceCase wanted{.payload = payload, .buffer_size = 3};
  wanted.ahead = ahead;
  if (has_two_gpus) wanted.model_device = 1;
  setup.device = simulated_device(gpu, wanted);
  Feed feed(std::move(setup));
  while (!feed.has_ended()) {
    const std::optional<Batch> batch = feed.next();
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  std::vector<BatchRecord> records;
  EXPECT_EQ(feed.records()->read_since(0, records)->num_lost, 0U);
  EXPECT_EQ(records.size(), feed.stats().num_batches);
  EXPECT_EQ(feed.stats().upload->num_moved, records.size());
  return records;
}

const StageSpan& span_of(const BatchRecord& record, RecordStage stage) {
  return record.stages[static_cast<std::size_t>(stage)];
}

void expect_ordered(const BatchRecord& record) {
  const StageSpan& slot = span_of(record, RecordStage::kWaitSlot);
  const StageSpan& ready = span_of(record, RecordStage::kWaitConsumer);
  const StageSpan& last = span_of(record, RecordStage::kAssemble);
  EXPECT_GT(slot.begin_ns, 0);
  EXPECT_LE(last.end_ns, slot.begin_ns);
  EXPECT_EQ(slot.busy_ns, slot.end_ns - slot.begin_ns);
  EXPECT_LE(slot.end_ns, ready.begin_ns);
  EXPECT_LE(ready.begin_ns, ready.end_ns);
  EXPECT_LE(record.asked_ns, record.handed_ns);
  EXPECT_GE(record.released_ns, record.handed_ns + 1'000'000);
}

TEST(DeviceRecordsTest, SlotsCopiesAndKernelsAreTold) {
  for (const SlotPayload payload :
       {SlotPayload::kPaddedMel, SlotPayload::kRaggedMel, SlotPayload::kRaggedPcm}) {
    const bool has_kernels = payload != SlotPayload::kPaddedMel;
    int num_copies = 0, num_kernels = 0;
    for (const BatchRecord& record : records_of(payload, DeviceAhead::kFilled, false)) {
      expect_ordered(record);
      const StageSpan& copy = span_of(record, RecordStage::kCopy);
      const StageSpan& kernel = span_of(record, RecordStage::kKernel);
      EXPECT_LE(copy.busy_ns, copy.end_ns - copy.begin_ns);
      num_copies += copy.busy_ns == 1'000'000 ? 1 : 0;  // what the simulated GPU always says
      num_kernels += kernel.busy_ns == 1'000'000 ? 1 : 0;
    }
    EXPECT_GE(num_copies, 3);
    EXPECT_EQ(num_kernels > 0, has_kernels);
  }
}

TEST(DeviceRecordsTest, AndOfBatchesOnDemandAndOnASecondGpu) {
  for (const BatchRecord& record :
       records_of(SlotPayload::kRaggedMel, DeviceAhead::kOnDemand, false))
    expect_ordered(record);
  for (const BatchRecord& record : records_of(SlotPayload::kRaggedMel, DeviceAhead::kFilled, true))
    expect_ordered(record);
}

// A consumer whose stream has work for each batch; one of the two waits for it before it goes on.
int looks_that_found_it_idle(bool waits_for_its_stream, int& num_looks) {
  SimulatedGpu gpu({.seed = 11});
  FeedSetup setup = synthetic_setup(std::make_shared<SyntheticSource>(speech_like_rows(60)));
  setup.num_epochs = kEpochs;
  setup.device = simulated_device(gpu, {.payload = SlotPayload::kPaddedMel, .buffer_size = 2});
  Feed feed(std::move(setup));
  const cuda::Stream stream(0, cuda::StreamPriority::kNormal, gpu);
  while (!feed.has_ended()) {
    std::optional<Batch> batch = feed.next();
    if (!batch) break;
    batch->wait(stream);
    for (int i = 0; i < 64; ++i) gpu.launch(stream, [] {});
    if (waits_for_its_stream) stream.synchronize();
    batch->release(stream);
    std::this_thread::sleep_for(std::chrono::milliseconds(12));  // longer than from look to look
  }
  stream.synchronize();
  std::vector<BatchRecord> records;
  EXPECT_EQ(feed.records()->read_since(0, records)->num_lost, 0U);
  int num_idle = 0;
  num_looks = 0;
  for (const BatchRecord& record : records) {
    EXPECT_TRUE(record.gpu_was_busy >= -1 && record.gpu_was_busy <= 1);
    num_looks += record.gpu_was_busy >= 0 ? 1 : 0;
    num_idle += record.gpu_was_busy == 0 ? 1 : 0;
  }
  return num_idle;
}

TEST(DeviceRecordsTest, WhetherTheConsumersStreamHadWorkLeftIsTold) {
  int num_looks = 0;
  EXPECT_EQ(looks_that_found_it_idle(true, num_looks), num_looks);
  EXPECT_GE(num_looks, 3);
  // The simulated GPU gets on only when somebody waits for it, and a little by chance.
  EXPECT_LT(looks_that_found_it_idle(false, num_looks), num_looks);
  EXPECT_GE(num_looks, 3);
}

}  // namespace
}  // namespace stoker::feed
