#include "stoker/cli/run_line.h"

#include <gmock/gmock.h>

#include "tests/doubles/fake_clock.h"

namespace stoker::cli {
namespace {

class WrittenSurface final : public ProgressSurface {
 public:
  bool is_terminal() const override { return is_terminal_; }
  std::size_t num_columns() const override { return num_columns_; }
  bool shows_unicode() const override { return true; }
  void write(std::string_view text) override { text_ += text; }

  bool is_terminal_ = true;
  std::size_t num_columns_ = 80;
  std::string text_;
};

constexpr std::string_view kLine = "step 12 | loss 0.83 (dur 0.11) | 985 clips/s | data 0.1 ms";

TEST(RunLineTest, TerminalIsRedrawnInPlaceAndClearedForOtherLines) {
  WrittenSurface surface;
  RunLine line(surface);
  line.show("step 1");
  line.show("step 2");
  line.clear();
  line.clear();
  EXPECT_EQ(surface.text_, "\r\x1b[Kstep 1\r\x1b[Kstep 2\r\x1b[K");
}

TEST(RunLineTest, NarrowTerminalGetsTheFirstParts) {
  EXPECT_EQ(fitted_parts(kLine, 100), kLine);
  EXPECT_EQ(fitted_parts(kLine, 44), "step 12 | loss 0.83 (dur 0.11) | 985 clips/s");
  EXPECT_EQ(fitted_parts(kLine, 43), "step 12 | loss 0.83 (dur 0.11)");
  EXPECT_EQ(fitted_parts(kLine, 29), "step 12");
  EXPECT_EQ(fitted_parts(kLine, 4), "step");
  EXPECT_EQ(fitted_parts("µµµ | b", 3), "µµµ");
  WrittenSurface surface;
  surface.num_columns_ = 31;
  RunLine(surface).show(kLine);
  EXPECT_THAT(surface.text_, testing::StartsWith("\r\x1b[Kstep 12 | loss 0.83 (dur 0.11)\r"));
}

TEST(RunLineTest, ElsewhereThereIsALineEveryTenSeconds) {
  WrittenSurface surface;
  surface.is_terminal_ = false;
  FakeClock clock;
  RunLine line(surface, clock);
  for (int i = 0; i <= 25; ++i) {
    line.show("step " + std::to_string(i));
    clock.advance(std::chrono::seconds(1));
  }
  EXPECT_EQ(surface.text_, "step 10\nstep 20\n");
}

}  // namespace
}  // namespace stoker::cli
