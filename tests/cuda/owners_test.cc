// Owners on a real GPU; the same suite is run under compute-sanitizer.
#include <gtest/gtest.h>

#include <numeric>
#include <type_traits>
#include <vector>

#include "stoker/cuda/check.h"
#include "stoker/cuda/device_buffer.h"
#include "stoker/cuda/errors.h"
#include "stoker/cuda/event.h"
#include "stoker/cuda/pinned_buffer.h"
#include "stoker/cuda/stream.h"
#include "tests/doubles/gpu_present.h"

namespace stoker::cuda {
namespace {

static_assert(!std::is_copy_constructible_v<Stream> && !std::is_copy_constructible_v<Event>);
static_assert(!std::is_copy_constructible_v<DeviceBuffer>);
static_assert(std::is_nothrow_move_constructible_v<DeviceBuffer>);

class OwnersTest : public GpuTest {
 protected:
  void TearDown() override { plant_call_fault(std::nullopt); }
};

TEST_F(OwnersTest, BytesGoToTheDeviceAndBackInStreamOrder) {
  constexpr std::size_t kCount = 1U << 18U;
  DeviceApi& api = system_device_api();
  PinnedBuffer out(kCount * sizeof(int)), back(kCount * sizeof(int));
  DeviceBuffer memory(0, kCount * sizeof(int));
  const Stream first(0, StreamPriority::kLow);
  const Stream second(0, StreamPriority::kHigh);
  Event copied(0);
  std::iota(out.as<int>(), out.as<int>() + kCount, 7);
  api.copy({memory.data(), out.data(), memory.size_bytes(), CopyKind::kToDevice},
           first.view().handle());
  copied.record(first);
  copied.hold_back(second);
  api.copy({back.data(), memory.data(), memory.size_bytes(), CopyKind::kToHost},
           second.view().handle());
  second.synchronize();
  EXPECT_TRUE(std::equal(out.as<int>(), out.as<int>() + kCount, back.as<int>()));
}

TEST_F(OwnersTest, TimingEventsMeasureWhatLiesBetween) {
  constexpr std::size_t kBytes = 64U << 20U;
  DeviceBuffer memory(0, kBytes);
  const Stream stream(0);
  Event begin(0, EventUse::kTiming), end(0, EventUse::kTiming);
  begin.record(stream);
  system_device_api().fill_bytes(memory.data(), 1, kBytes, stream.view().handle());
  end.record(stream);
  end.synchronize();
  EXPECT_TRUE(end.is_done());
  EXPECT_GT(end.ms_since(begin), 0.0);
}

// Every call of an everyday use fails once: each time an exception, never a leak or a crash.
TEST_F(OwnersTest, AnyFailingCallEndsInAnException) {
  const auto use = [] {
    DeviceBuffer memory(0, 4096);
    PinnedBuffer pinned(4096);
    const Stream stream(0);
    Event event(0);
    system_device_api().copy({memory.data(), pinned.data(), 4096, CopyKind::kToDevice},
                             stream.view().handle());
    event.record(stream);
    event.synchronize();
  };
  plant_call_fault(std::nullopt);
  use();
  const std::uint64_t count = num_calls();
  ASSERT_GT(count, 6U);
  for (std::uint64_t at = 0; at < count; ++at) {
    plant_call_fault(CallFault{.at = at, .status = kStatusMemory});
    EXPECT_THROW(use(), GpuError) << "call " << at;
  }
}

}  // namespace
}  // namespace stoker::cuda
