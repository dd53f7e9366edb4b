#include "stoker/base/error_reference.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "stoker/base/errors.h"

namespace stoker {
namespace {

constexpr ErrorCode kLate{"E-Z", ExitCode::kData, "Last | in line.", "wait"};
constexpr ErrorCode kEarly{"E-A", ExitCode::kUsage, "First.", ""};

TEST(ErrorReferenceTest, RowsAreSortedAndCellsEscaped) {
  const std::array codes{&kLate, &kEarly};
  EXPECT_EQ(error_reference_rows(codes),
            "| `E-A` | 2 | First. |  |\n"
            "| `E-Z` | 3 | Last \\| in line. | wait |\n");
}

TEST(ErrorReferenceTest, PageHoldsEveryCodeOfBase) {
  const std::string page = error_reference_page(kErrorCodes);
  for (const ErrorCode* code : kErrorCodes) {
    EXPECT_THAT(page, testing::HasSubstr("| `" + std::string(code->name) + "` |"));
    EXPECT_TRUE(code->meaning.ends_with('.')) << code->name;
  }
}

TEST(ErrorReferenceDeathTest, TwoCodesOfOneNameAreABug) {
  const std::array codes{&kLate, &kEarly, &kLate};
  EXPECT_DEATH(error_reference_rows(codes), "declared twice");
}

}  // namespace
}  // namespace stoker
