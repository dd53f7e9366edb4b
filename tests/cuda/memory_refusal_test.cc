// Apart from the other tests of owners: the refusal is an API error, which compute-sanitizer
// reports.
#include <gtest/gtest.h>

#include <string>

#include "stoker/cuda/device_buffer.h"
#include "stoker/cuda/errors.h"
#include "tests/doubles/gpu_present.h"

namespace stoker::cuda {
namespace {

using MemoryRefusalTest = GpuTest;

TEST_F(MemoryRefusalTest, TooMuchMemoryIsRefusedWithTheSize) {
  try {
    const DeviceBuffer huge(0, std::size_t{1} << 50U);
    FAIL() << "a petabyte was given";
  } catch (const GpuError& failure) {
    EXPECT_EQ(failure.error().code, &kCudaMemory);
    EXPECT_NE(failure.error().found.find("GPU 0"), std::string::npos);
  }
  const DeviceBuffer small(0, 64);  // the refusal left nothing behind
  EXPECT_NE(small.data(), nullptr);
}

}  // namespace
}  // namespace stoker::cuda
