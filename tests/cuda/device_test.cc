#include "stoker/cuda/device.h"

#include <gtest/gtest.h>

#include <vector>

#include "stoker/cuda/errors.h"

namespace stoker::cuda {
namespace {

TEST(DeviceTest, NamesRoundTrip) {
  for (const Device device : {Device::cpu(), Device::cuda(0), Device::cuda(7)}) {
    const auto parsed = parse_device(device.text());
    ASSERT_TRUE(parsed) << device.text();
    EXPECT_EQ(**parsed, device);
  }
}

TEST(DeviceTest, PlainCudaIsTheFirstGpuAndAutoIsNone) {
  EXPECT_EQ(**parse_device("cuda"), Device::cuda(0));
  EXPECT_FALSE((*parse_device("auto")).has_value());
}

TEST(DeviceTest, AnythingElseIsRefusedWithTheWordsItKnows) {
  for (const char* text :
       {"", "gpu", "cuda:", "cuda:-1", "cuda:1x", "cuda:99999999999", "CUDA", "cuda 0"}) {
    const auto parsed = parse_device(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().code, &kCudaName);
    EXPECT_EQ(parsed.error().promised, "auto, cpu, cuda or cuda:N");
  }
}

}  // namespace
}  // namespace stoker::cuda
