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

}  // namespace
}  // namespace stoker::feed
