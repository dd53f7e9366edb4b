#include "stoker/cuda/check.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "stoker/cuda/errors.h"

namespace stoker::cuda {
namespace {

class CheckTest : public testing::Test {
 protected:
  ~CheckTest() override { plant_call_fault(std::nullopt); }
};

TEST_F(CheckTest, StatusBecomesAGpuErrorThatNamesTheCall) {
  try {
    check(kStatusMemory, "cudaMalloc", "6.1 MiB of memory on GPU 0");
    FAIL() << "no exception";
  } catch (const GpuError& failure) {
    EXPECT_EQ(failure.exit_code(), ExitCode::kGpu);
    EXPECT_EQ(failure.error().code, &kCudaMemory);
    EXPECT_NE(failure.error().found.find("cudaMalloc (6.1 MiB of memory on GPU 0): "),
              std::string::npos);
  }
}

TEST_F(CheckTest, MemoryOfTheHostHasItsOwnHelp) {
  const Error error =
      error_of(kStatusMemory, "cudaHostAlloc", "2.0 GiB of page-locked host memory");
  EXPECT_EQ(error.code, &kCudaPinned);
  EXPECT_NE(help_line(error).find("gpu.pin_memory=false"), std::string::npos);
}

TEST_F(CheckTest, EachKindOfStatusHasItsCode) {
  EXPECT_EQ(code_of(kStatusMemory), &kCudaMemory);
  EXPECT_EQ(code_of(kStatusNoDevice), &kCudaNone);
  EXPECT_EQ(code_of(35), &kCudaDriver);
  EXPECT_EQ(code_of(209), &kCudaArch);
  EXPECT_EQ(code_of(kStatusIllegalAddress), &kCudaSticky);
  EXPECT_EQ(code_of(1), &kCudaCall);
}

TEST_F(CheckTest, APlantedFaultTakesThePlaceOfItsCallOnly) {
  plant_call_fault(CallFault{.at = 1, .status = kStatusMemory});
  int num_made = 0;
  const auto make = [&] { return ++num_made, 0; };
  call("first", make);
  EXPECT_THROW(call("second", make), GpuError);
  call("third", make);
  EXPECT_EQ(num_made, 2);
  EXPECT_EQ(num_calls(), 3U);
}

TEST_F(CheckTest, AFaultThatStaysFailsEveryLaterCall) {
  plant_call_fault(CallFault{.at = 0, .status = kStatusIllegalAddress, .stays = true});
  for (int i = 0; i < 3; ++i) EXPECT_THROW(call("any", [] { return 0; }), GpuError);
}

TEST_F(CheckTest, DestructorsNeverThrow) {
  check_quietly(kStatusIllegalAddress, "cudaFree");
  check_quietly(0, "cudaFree");
}

}  // namespace
}  // namespace stoker::cuda
