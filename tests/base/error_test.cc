#include "stoker/base/error.h"

#include <gtest/gtest.h>

#include "stoker/base/result.h"

namespace stoker {
namespace {

constexpr ErrorCode kCode{"E-WAV-TRUNC", ExitCode::kData, "The file ends early.", "copy it again"};

Error truncated() {
  return {&kCode,
          {"wavs/a.wav", {}, {}, 44},
          "213,000 bytes of samples",
          "106,400 bytes",
          "row rejected",
          ""};
}

TEST(ErrorTest, LineHasCodePlacePromiseFindingAndAction) {
  EXPECT_EQ(error_line(truncated()),
            "error[E-WAV-TRUNC] wavs/a.wav @44: expected 213,000 bytes of samples, found 106,400 "
            "bytes; row rejected");
  EXPECT_EQ(help_line(truncated()), "help: copy it again");
}

TEST(ErrorTest, WithoutAnExpectationTheFindingIsTheSentence) {
  Error error = truncated();
  error.promised.clear();
  error.found = "cannot read: the disk fails";
  EXPECT_EQ(error_line(error),
            "error[E-WAV-TRUNC] wavs/a.wav @44: cannot read: the disk fails; row rejected");
}

TEST(ErrorTest, ControlCharactersInNamesAreEscaped) {
  Error error = truncated();
  error.place.file = "a\x1b[31m\n.wav";
  EXPECT_EQ(error_line(error).find('\n'), std::string::npos);
  EXPECT_NE(error_line(error).find("a\\x1b[31m\\x0a.wav"), std::string::npos);
}

TEST(ErrorTest, RaiseThrowsTheKindThatFitsTheExitCode) {
  EXPECT_THROW(raise(truncated()), DataError);
}

TEST(ResultTest, TakeOrRaiseGivesTheValueOrThrows) {
  EXPECT_EQ(Result<int>(7).take_or_raise(), 7);
  EXPECT_THROW(Result<int>(truncated()).take_or_raise(), DataError);
}

TEST(ResultDeathTest, ReadingTheAbsentSideAborts) {
  Result<int> failed(truncated());
  EXPECT_DEATH(failed.value(), "bug: value");
}

}  // namespace
}  // namespace stoker
