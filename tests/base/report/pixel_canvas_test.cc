#include "stoker/base/report/pixel_canvas.h"

#include <gtest/gtest.h>

#include <span>
#include <string_view>

#include "stoker/base/report/heat_map.h"

namespace stoker {
namespace {

struct Size {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
};

std::uint32_t big_endian(std::span<const std::byte> bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i)
    value = value << 8U | std::to_integer<std::uint32_t>(bytes[at + i]);
  return value;
}

Size size_of(std::span<const std::byte> png) { return {big_endian(png, 16), big_endian(png, 20)}; }

TEST(PixelCanvasTest, TextChangesThePictureAndOtherLettersAreQuestionMarks) {
  const auto picture = [](std::string_view line) {
    PixelCanvas canvas({200, 40});
    canvas.text(4, 4, line);
    return canvas.png();
  };
  EXPECT_NE(picture("0.5 s"), picture(""));
  EXPECT_NE(picture("6"), picture("8"));
  EXPECT_EQ(picture("سلام"), picture("????"));
  EXPECT_EQ(picture("\u22120.5"), picture("-0.5"));
}

TEST(PixelCanvasTest, OnlyLettersWithATailReachBelowTheBaseline) {
  const auto picture = [](std::string_view line, bool is_cut) {
    PixelCanvas canvas({200, 40});
    canvas.text(4, 4, line);
    if (is_cut) canvas.fill({0, 4 + PixelCanvas::kLetterHeight, 200, 20}, Ink::kGround);
    return canvas.png();
  };
  for (const char* letter : {"g", "j", "p", "q", "y"})
    EXPECT_NE(picture(letter, true), picture(letter, false)) << letter;
  EXPECT_EQ(picture("abcdefhiklmnorstuvwxz0123456789", true),
            picture("abcdefhiklmnorstuvwxz0123456789", false));
}

TEST(PixelCanvasTest, WhatIsOutsideIsCutOff) {
  PixelCanvas canvas({20, 20});
  canvas.text(2, 15, "a long line", TextAlign::kRight);
  canvas.text_upwards(15, 2, "a long line");
  canvas.fill({18, 18, 40, 40}, Ink::kGrid);
  EXPECT_EQ(size_of(canvas.png()).width, 20U);
}

TEST(PixelCanvasTest, AlignmentMovesTextByItsWidth) {
  const auto picture = [](std::size_t x, TextAlign align) {
    PixelCanvas canvas({100, 20});
    canvas.text(x, 2, "12", align);
    return canvas.png();
  };
  EXPECT_EQ(text_width("12"), 22U);
  EXPECT_EQ(picture(40, TextAlign::kRight), picture(18, TextAlign::kLeft));
  EXPECT_EQ(picture(40, TextAlign::kMiddle), picture(29, TextAlign::kLeft));
}

struct PlotCase {
  std::size_t num_columns;
  std::size_t num_rows;
  std::uint32_t plot_width;
  std::uint32_t plot_height;
};

TEST(HeatMapPngTest, HasAUsefulSizeForShortAndLongSounds) {
  for (const PlotCase& row :
       {PlotCase{1, 80, 800, 400}, PlotCase{100, 80, 800, 400}, PlotCase{566, 80, 1132, 400},
        PlotCase{1200, 128, 1200, 512}, PlotCase{50'000, 80, 2000, 400}}) {
    const std::vector<float> values(row.num_columns * row.num_rows, 1.0F);
    const Size size = size_of(
        heat_map_png({.title = "t"},
                     {.num_columns = row.num_columns, .num_rows = row.num_rows, .values = values}));
    EXPECT_EQ(size.width, row.plot_width + 240);
    EXPECT_EQ(size.height, row.plot_height + 128);
  }
}

TEST(HeatMapPngTest, AxesAndScaleAreDrawn) {
  const std::vector<float> values{-3.0F, 0.0F, 1.0F, 2.0F};
  const HeatMap map{.num_columns = 2, .num_rows = 2, .values = values, .value_label = "dB"};
  const ChartFrame frame{.title = "a.wav", .x = {.label = "time (s)"}, .y = {.label = "mel band"}};
  const auto without = [&](auto&& leave_out) {
    ChartFrame less = frame;
    HeatMap less_map = map;
    leave_out(less, less_map);
    return heat_map_png(less, less_map);
  };
  const std::vector<std::byte> whole = heat_map_png(frame, map);
  EXPECT_NE(whole, without([](ChartFrame& f, HeatMap&) { f.title.clear(); }));
  EXPECT_NE(whole, without([](ChartFrame& f, HeatMap&) { f.x.label.clear(); }));
  EXPECT_NE(whole, without([](ChartFrame& f, HeatMap&) { f.y.label.clear(); }));
  EXPECT_NE(whole, without([](ChartFrame&, HeatMap& m) { m.value_label.clear(); }));
  EXPECT_NE(whole, without([](ChartFrame& f, HeatMap&) { f.x.high = 9.0; }));
}

}  // namespace
}  // namespace stoker
