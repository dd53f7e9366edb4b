// What a terminal of any size shows of planted figures: every row fits, and what matters is there.
#include "stoker/observe/live/live_screen.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/observe/live/planted_figures.h"

namespace stoker::observe {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr ScreenStyle kPlain{.shows_unicode = true, .shows_colour = false};

std::string joined(const std::vector<std::string>& rows) {
  std::string all;
  for (const std::string& row : rows) all += row + "\n";
  return all;
}

std::vector<std::string> screen_of(const LiveFigures& figures, const ScreenSize& size,
                                   const ScreenStyle& style = kPlain, int num_samples = 1) {
  LiveScreen screen(style);
  for (int i = 0; i < num_samples; ++i) screen.add(shared(figures));
  return screen.rows(size);
}

TEST(LiveScreenTest, EveryRowFitsEveryWindow) {
  for (const unsigned num_gpus : {0U, 1U, 2U, 8U, 40U}) {
    for (const ScreenSize size : {ScreenSize{80, 24}, {200, 50}, {40, 8}, {120, 20}, {20, 3}}) {
      const auto rows = screen_of(planted_figures(num_gpus), size, kPlain, 300);
      EXPECT_LE(rows.size(), size.num_rows);
      for (const std::string& row : rows) EXPECT_LE(columns_of(row), size.num_columns) << row;
    }
  }
}

TEST(LiveScreenTest, AnOrdinaryTerminalShowsAllOfTheFeed) {
  const std::string all = joined(screen_of(planted_figures(), {80, 24}));
  for (const char* part : {"GPU 0",
                           "97 %",
                           "41.0/139.0 GiB",
                           "512/700 W",
                           "1980 MHz",
                           "61 C",
                           "power cap",
                           "13.5 of 16 cores",
                           "16.0 of 64.0 GiB",
                           "nvme0n1 (ext4)",
                           "12.1 MB/s",
                           "process 123",
                           "epoch 2, batch 1,234",
                           "12.3 batches/s",
                           "196 clips/s",
                           "81,000 frames/s",
                           "7.0 % now",
                           "1.2 % since it began",
                           "80.1 ms",
                           "CV 0.04",
                           "6 batches of 8",
                           "4 workers busy 61 %",
                           "mel 70 %",
                           "decode 30 %",
                           "12 s ago  350 ms  decode  wavs/slow.wav",
                           "consumer: checkpoint",
                           "The consumer waits for the feed 7 %"})
    EXPECT_THAT(all, HasSubstr(part));
}

// Stages become rows of their own, and curves show the last minutes.
TEST(LiveScreenTest, AWideTerminalShowsMore) {
  const auto narrow = screen_of(planted_figures(), {80, 24}, kPlain, 60);
  const auto wide = screen_of(planted_figures(), {200, 50}, kPlain, 60);
  EXPECT_GT(wide.size(), narrow.size());
  EXPECT_THAT(joined(wide), HasSubstr("H200"));
  EXPECT_THAT(joined(wide), HasSubstr("▇▇▇▇▇▇▇▇▇▇"));
  EXPECT_THAT(joined(narrow), Not(HasSubstr("▇▇▇▇▇▇▇▇▇▇")));
}

TEST(LiveScreenTest, ALongVerdictGoesOnInTheNextRow) {
  LiveFigures figures = planted_figures();
  figures.feed.verdict_sentence =
      "The consumer waits for the feed 96 % of its time: the mel is "
      "computed on too few cores.";
  const std::string all = joined(screen_of(figures, {80, 24}));
  EXPECT_THAT(all, HasSubstr("        too few cores.\n"));
  figures.feed.verdict_sentence = std::string(300, 'x');
  EXPECT_LE(screen_of(figures, {80, 24}).size(), 24U);
}

TEST(LiveScreenTest, MoreCardsThanRowsLeaveRoomForTheFeed) {
  const std::string all = joined(screen_of(planted_figures(40), {80, 24}));
  EXPECT_THAT(all, HasSubstr("more"));
  EXPECT_THAT(all, HasSubstr("12.3 batches/s"));
  EXPECT_THAT(all, HasSubstr("The consumer waits"));
}

TEST(LiveScreenTest, WithoutAGpuTheRestIsThereAndTheReason) {
  const std::string all = joined(screen_of(planted_figures(0), {80, 24}));
  EXPECT_THAT(all, HasSubstr("no GPU: libnvidia-ml.so.1 is not here: no NVIDIA driver"));
  EXPECT_THAT(all, HasSubstr("12.3 batches/s"));
}

TEST(LiveScreenTest, WithoutUnicodeEveryByteIsAscii) {
  LiveFigures figures = planted_figures();
  figures.feed.gaps[0].file = "wavs/سلام.wav";
  for (const std::string& row :
       screen_of(figures, {200, 50}, {.shows_unicode = false, .shows_colour = false}, 30))
    for (const char byte : row) EXPECT_TRUE(byte >= 0x20 && byte < 0x7F) << row;
}

TEST(LiveScreenTest, ColoursAreThereOnlyWhereTheyAreWanted) {
  const std::string plain = joined(screen_of(planted_figures(), {80, 24}));
  const std::string coloured =
      joined(screen_of(planted_figures(), {80, 24}, {.shows_unicode = true, .shows_colour = true}));
  EXPECT_EQ(plain.find('\x1b'), std::string::npos);
  EXPECT_THAT(coloured, HasSubstr("\x1b[31m"));
}

// A file may have any name; a terminal must not obey it.
TEST(LiveScreenTest, NamesCannotSteerTheTerminal) {
  LiveFigures figures = planted_figures();
  figures.feed.gaps[0].file = "a\x1b]0;owned\x07\r\n\xff\u202e.wav";
  figures.feed.sentence = "run \x1b[2J";
  figures.gpus[0].name = "card\x1b[31m";
  for (const std::string& row : screen_of(figures, {200, 50})) {
    EXPECT_EQ(row.find_first_of("\x1b\x07\r\n\xff"), std::string::npos) << row;
    EXPECT_EQ(row.find("\u202e"), std::string::npos) << row;
  }
}

TEST(LiveScreenTest, AnEndedFeedAndOneThatNeverBeganAreSaid) {
  LiveFigures figures = planted_figures();
  figures.feed = {.state = FeedState::kNotBegun, .sentence = "run x: no records yet"};
  const std::string all = joined(screen_of(figures, {80, 24}));
  EXPECT_THAT(all, HasSubstr("run x: no records yet"));
  EXPECT_THAT(all, Not(HasSubstr("batches/s")));
}

TEST(ScreenLineTest, WideCharactersAndMarksAreCounted) {
  EXPECT_EQ(columns_of("abc"), 3U);
  EXPECT_EQ(columns_of("漢字"), 4U);
  EXPECT_EQ(columns_of("e\u0301"), 1U);
  EXPECT_EQ(columns_of("سَلام"), 4U);
  ScreenLine line(kPlain, 5);
  line.add("漢字漢");
  EXPECT_EQ(line.text(), "漢字");
  EXPECT_EQ(line.column(), 4U);
}

TEST(ScreenLineTest, BarsFillByEighths) {
  const auto bar = [](double share, const ScreenStyle& style) {
    ScreenLine line(style, 80);
    return line.bar(share, 4).text();
  };
  EXPECT_EQ(bar(0, kPlain), "····");
  EXPECT_EQ(bar(1, kPlain), "████");
  EXPECT_EQ(bar(0.625, kPlain), "██▌·");
  EXPECT_EQ(bar(7, kPlain), "████");
  EXPECT_EQ(bar(0.5, {.shows_unicode = false, .shows_colour = false}), "##..");
}

TEST(ScreenLineTest, LongPathsKeepTheirEnd) {
  EXPECT_EQ(last_columns("a/b/c.wav", 9, true), "a/b/c.wav");
  EXPECT_EQ(last_columns("long/a/b/c.wav", 8, true), "…b/c.wav");
  EXPECT_EQ(last_columns("long/a/b/c.wav", 8, false), "~b/c.wav");
}

TEST(LiveLineTest, OneLineHasMachineCardsAndFeed) {
  const std::string line = live_line(planted_figures(2));
  for (const char* part : {"cpu 13.5/16", "gpu0 97 % 41.0 GiB 512 W", "gpu1 97 %",
                           "feed 12.3 batches/s 196 clips/s stall 7.0 % ready 6/8"})
    EXPECT_THAT(line, HasSubstr(part));
  EXPECT_EQ(line.find('\n'), std::string::npos);
}

}  // namespace
}  // namespace stoker::observe
