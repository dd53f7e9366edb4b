#include "stoker/base/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/base/thread/sync.h"
#include "tests/doubles/fake_clock.h"

namespace stoker {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class TextSurface final : public ProgressSurface {
 public:
  enum class Kind { kTerminal, kFile };
  explicit TextSurface(Kind kind, std::size_t num_columns = 120)
      : kind_(kind), num_columns_(num_columns) {}

  bool is_terminal() const override { return kind_ == Kind::kTerminal; }
  std::size_t num_columns() const override { return num_columns_; }
  bool shows_unicode() const override { return false; }
  void write(std::string_view text) override { text_ += text; }
  const std::string& text() const { return text_; }

 private:
  Kind kind_;
  std::size_t num_columns_;
  std::string text_;
};

ProgressBar::Options build_of(std::uint64_t num_total) {
  return {.task = "build cache", .unit = "clips", .num_total = num_total};
}

TEST(ProgressTest, ShortWorkShowsNothing) {
  FakeClock clock;
  TextSurface surface(TextSurface::Kind::kTerminal);
  {
    ProgressBar bar(build_of(100), surface, clock);
    clock.advance(milliseconds(1900));
    bar.advance(100);
  }
  EXPECT_EQ(surface.text(), "");
}

TEST(ProgressTest, TerminalShowsBarRateTimeLeftAndRejects) {
  FakeClock clock;
  TextSurface surface(TextSurface::Kind::kTerminal);
  ProgressBar bar(build_of(13'100), surface, clock);
  bar.reject(3);
  clock.advance(seconds(10));
  bar.advance(3275);
  EXPECT_EQ(surface.text(),
            "\r\x1b[Kbuild cache  ######..................  25 %  3,275/13,100 clips  327/s  "
            "30.0 s left  3 rejected");
}

TEST(ProgressTest, TerminalIsRedrawnTenTimesASecondAtMost) {
  FakeClock clock;
  TextSurface surface(TextSurface::Kind::kTerminal);
  ProgressBar bar(build_of(100'000), surface, clock);
  clock.advance(seconds(2));
  for (int i = 0; i < 1000; ++i) {
    bar.advance(1);
    clock.advance(milliseconds(1));
  }
  const auto redraws = std::count(surface.text().begin(), surface.text().end(), '\r');
  EXPECT_EQ(redraws, 10);
}

TEST(ProgressTest, ElsewhereOneLineEveryTenSeconds) {
  FakeClock clock;
  TextSurface surface(TextSurface::Kind::kFile);
  {
    ProgressBar bar(build_of(400), surface, clock);
    for (int i = 0; i < 25; ++i) {
      clock.advance(seconds(1));
      bar.advance(10);
    }
  }
  EXPECT_EQ(surface.text(),
            "build cache: 25 %, 100/400 clips  10/s  30.0 s left\n"
            "build cache: 50 %, 200/400 clips  10/s  20.0 s left\n"
            "build cache: 62 %, 250/400 clips  10/s  15.0 s left\n");
}

TEST(ProgressTest, UnknownTotalShowsCountAndRate) {
  FakeClock clock;
  TextSurface surface(TextSurface::Kind::kFile);
  ProgressBar bar(build_of(0), surface, clock);
  clock.advance(seconds(10));
  bar.advance(55);
  EXPECT_EQ(surface.text(), "build cache  55 clips  5.5/s\n");
}

struct WidthCase {
  std::size_t num_columns;
  const char* line;
};

TEST(ProgressTest, LineLeavesOutWhatItsTerminalHasNoRoomFor) {
  for (const WidthCase& row : {
           WidthCase{
               80,
               "build cache  ##......  25 %  3,275/13,100 clips  327/s  30.0 s left  3 rejected"},
           WidthCase{60, "build cache  ###............  25 %  30.0 s left  3 rejected"},
           WidthCase{40, "build cache  #......  25 %  30.0 s left"},
           WidthCase{34, "build cache   25 %  30.0 s left"},
           WidthCase{20, "build cache   25 %"},
           WidthCase{10, "build cac"},
       }) {
    FakeClock clock;
    TextSurface surface(TextSurface::Kind::kTerminal, row.num_columns);
    ProgressBar bar(build_of(13'100), surface, clock);
    bar.reject(3);
    clock.advance(seconds(10));
    bar.advance(3275);
    EXPECT_EQ(surface.text(), std::string("\r\x1b[K") + row.line);
    EXPECT_LT(std::string_view(row.line).size(), row.num_columns);
  }
}

TEST(ProgressTest, WorkersMayReportAtOnce) {
  FakeClock clock;
  TextSurface surface(TextSurface::Kind::kTerminal);
  ProgressBar bar(build_of(2000), surface, clock);
  const auto work = [&](const std::stop_token&) {
    for (int i = 0; i < 1000; ++i) {
      clock.advance(milliseconds(5));
      bar.advance(1);
    }
  };
  {
    Thread first("first", work);
    Thread second("second", work);
    first.join();
    second.join();
  }
  clock.advance(seconds(1));
  bar.tick();
  EXPECT_THAT(surface.text(), testing::HasSubstr("2,000/2,000 clips"));
}

}  // namespace
}  // namespace stoker
