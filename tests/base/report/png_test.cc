#include "stoker/base/report/png.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "stoker/base/bytes.h"
#include "stoker/base/philox.h"
#include "stoker/base/report/markup.h"
#include "tests/doubles/scratch_folder.h"

namespace stoker {
namespace {

void save(const std::string& path, std::span<const std::byte> bytes) {
  std::ofstream(path, std::ios::binary) << view_text(bytes);
}

// Decodes by an independent implementation: Python's zlib.
int run_python(const std::string& script, const std::string& arguments) {
  const std::string command =
      "python3 " + std::string(STOKER_TEST_SOURCES) + "/report/" + script + " " + arguments;
  return std::system(command.c_str());
}

struct Kind {
  std::string name;
  ImageShape shape;
  std::size_t num_colours;
};

TEST(PngTest, PythonReadsBackEveryPixel) {
  const ScratchFolder scratch;
  for (const Kind& kind : {Kind{"usual", {370, 210}, 256}, Kind{"narrow", {1, 256}, 256},
                           Kind{"dot", {1, 1}, 1}, Kind{"few_colours", {37, 21}, 5}}) {
    KeyedDraws draws({.seed = 5, .stage = "png_test", .epoch = 0, .item = kind.num_colours});
    std::vector<std::uint8_t> pixels(std::size_t{kind.shape.width} * kind.shape.height);
    for (std::uint8_t& pixel : pixels)
      pixel = static_cast<std::uint8_t>(draws.next_below(kind.num_colours));
    const auto palette = std::span(heat_palette()).first(kind.num_colours);
    save(scratch / (kind.name + ".png"), png_from_palette(kind.shape, pixels, palette));
    save(scratch / (kind.name + ".pixels"), std::as_bytes(std::span(pixels)));
    save(scratch / (kind.name + ".palette"), std::as_bytes(palette));
  }
  EXPECT_EQ(run_python("check_png.py", scratch.path()), 0);
}

TEST(PngTest, WiderThanTheLibraryAllowsByItself) {
  const std::vector<std::uint8_t> pixels(1'500'000);
  EXPECT_LT(png_from_palette({1'500'000, 1}, pixels, heat_palette()).size(), 20'000U);
}

TEST(PngDeathTest, ShapeAndPixelsMustAgree) {
  const std::vector<std::uint8_t> pixels(5);
  EXPECT_DEATH(png_from_palette({2, 2}, pixels, heat_palette()), "pixels and shape");
  EXPECT_DEATH(png_from_palette({5, 1}, std::vector<std::uint8_t>{0, 1, 2, 3, 9},
                                std::span(heat_palette()).first(4)),
               "palette");
}

TEST(HeatPaletteTest, BrightnessOnlyRises) {
  double before = -1.0;
  for (const Rgb& colour : heat_palette()) {
    const double now = 0.2126 * colour.red + 0.7152 * colour.green + 0.0722 * colour.blue;
    EXPECT_GE(now, before);
    before = now - 1.0;  // rounding may cost less than one step
  }
}

TEST(MarkupTest, Base64MatchesThePublishedVectors) {
  EXPECT_EQ(base64(view_bytes("")), "");
  EXPECT_EQ(base64(view_bytes("f")), "Zg==");
  EXPECT_EQ(base64(view_bytes("fo")), "Zm8=");
  EXPECT_EQ(base64(view_bytes("foobar")), "Zm9vYmFy");
}

TEST(MarkupTest, HostileTextIsHarmless) {
  EXPECT_EQ(escape_markup("<b a='\"'>&\n"), "&lt;b a=&#39;&quot;&#39;&gt;&amp;\\x0a");
}

}  // namespace
}  // namespace stoker
