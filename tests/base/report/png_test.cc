#include "stoker/base/report/png.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "stoker/base/bytes.h"
#include "stoker/base/philox.h"
#include "stoker/base/report/deflate.h"
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

std::vector<std::byte> repetitive_bytes(std::size_t num_bytes) {
  KeyedDraws draws({.seed = 5, .stage = "png_test", .epoch = 0, .item = num_bytes});
  std::vector<std::byte> bytes;
  while (bytes.size() < num_bytes) {
    const bool repeats = !bytes.empty() && draws.next_below(2) == 0;
    const std::size_t back = repeats ? 1 + draws.next_below(bytes.size()) : 0;
    for (std::uint64_t left = 1 + draws.next_below(400); left > 0; --left)
      bytes.push_back(repeats ? bytes[bytes.size() - back]
                              : static_cast<std::byte>(draws.next_u32()));
  }
  bytes.resize(num_bytes);
  return bytes;
}

TEST(DeflateTest, PythonReadsBackEveryLength) {
  const ScratchFolder scratch;
  for (const std::size_t size : {0U, 1U, 2U, 3U, 4U, 257U, 258U, 259U, 1000U, 70'000U, 200'000U}) {
    const std::vector<std::byte> bytes = repetitive_bytes(size);
    const std::string name = std::to_string(size);
    save(scratch / (name + ".raw"), bytes);
    save(scratch / (name + ".zlib"), zlib_compress(bytes));
  }
  save(scratch / "zeros.raw", std::vector<std::byte>(300'000));
  save(scratch / "zeros.zlib", zlib_compress(std::vector<std::byte>(300'000)));
  EXPECT_EQ(run_python("check_zlib.py", scratch.path()), 0);
}

TEST(DeflateTest, RepeatsShrink) {
  EXPECT_LT(zlib_compress(std::vector<std::byte>(100'000)).size(), 2000U);
}

TEST(PngTest, PythonReadsBackEveryKind) {
  const ScratchFolder scratch;
  const ImageShape shape{37, 21};
  std::vector<std::uint8_t> grey;
  std::vector<Rgb> colour;
  for (std::uint32_t i = 0; i < shape.width * shape.height; ++i) {
    grey.push_back(static_cast<std::uint8_t>(i * 7));
    colour.push_back({static_cast<std::uint8_t>(i), static_cast<std::uint8_t>(i * 3),
                      static_cast<std::uint8_t>(i / 5)});
  }
  save(scratch / "grey.png", png_from_grey(shape, grey));
  save(scratch / "grey.pixels", std::as_bytes(std::span(grey)));
  save(scratch / "colour.png", png_from_rgb(shape, colour));
  save(scratch / "colour.pixels", std::as_bytes(std::span(colour)));
  save(scratch / "palette.png", png_from_palette(shape, grey, heat_palette()));
  save(scratch / "palette.pixels", std::as_bytes(std::span(grey)));
  EXPECT_EQ(run_python("check_png.py", scratch.path()), 0);
}

TEST(PngDeathTest, ShapeAndPixelsMustAgree) {
  const std::vector<std::uint8_t> pixels(5);
  EXPECT_DEATH(png_from_grey({2, 2}, pixels), "pixels and shape");
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
