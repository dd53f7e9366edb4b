#include <gmock/gmock.h>

#include <cstdint>
#include <string>

#include "tests/cli/program_run.h"

namespace stoker::cli {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

class FeaturesPlotTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(run_program("data make --out " + folder_ + "/voice --clips 2 --lengths uniform:2-2")
                  .exit_code,
              0);
  }
  std::string wav(int i) const {
    return folder_ + "/voice/wavs/spk00_0000" + std::to_string(i) + ".wav";
  }
  ProgramRun plot(const std::string& path, const std::string& more = "") const {
    return run_program("features " + wav(0) + " --plot " + path + " " + more);
  }

  std::string folder_ = fresh_folder();
};

std::uint32_t png_number(const std::string& png, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i)
    value = value << 8U | static_cast<std::uint8_t>(png.at(at + i));
  return value;
}

TEST_F(FeaturesPlotTest, PngIsLargeEnoughToReadAndItsPathIsPrinted) {
  const std::string path = folder_ + "/mel.png";
  const ProgramRun run = plot(path);
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("picture   " + path + "\n"));
  const std::string png = read_text(path);
  EXPECT_THAT(png, StartsWith("\x89PNG"));
  EXPECT_GE(png_number(png, 16), 1000U);
  EXPECT_GE(png_number(png, 20), 500U);
}

TEST_F(FeaturesPlotTest, SvgHasAxesAndAColourScaleWithItsUnit) {
  const std::string path = folder_ + "/mel.svg";
  ASSERT_EQ(plot(path).exit_code, 0);
  const std::string svg = read_text(path);
  EXPECT_THAT(svg, StartsWith("<svg"));
  EXPECT_THAT(svg, EndsWith("</svg>"));
  for (const char* text :
       {">spk00_00000.wav (hifigan)<", ">time (s)<", ">mel band<", ">ln magnitude<", ">1.0<"})
    EXPECT_THAT(svg, HasSubstr(text));
}

TEST_F(FeaturesPlotTest, UnitFollowsThePreset) {
  struct Row {
    const char* preset;
    const char* unit;
  };
  for (const Row& row : {Row{"hifigan", ">ln magnitude<"}, Row{"kaldi", ">ln power<"},
                         Row{"whisper", ">normalised log<"}}) {
    const std::string path = folder_ + "/" + row.preset + ".svg";
    ASSERT_EQ(plot(path, std::string("--preset ") + row.preset).exit_code, 0);
    EXPECT_THAT(read_text(path), HasSubstr(row.unit)) << row.preset;
  }
}

TEST_F(FeaturesPlotTest, SeveralFilesGetAFolderOfPngs) {
  const ProgramRun run =
      run_program("features " + wav(0) + " " + wav(1) + " --plot " + folder_ + "/p");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("picture   " + folder_ + "/p/spk00_00001.png\n"));
  EXPECT_THAT(read_text(folder_ + "/p/spk00_00000.png"), StartsWith("\x89PNG"));
}

TEST_F(FeaturesPlotTest, OtherKindsOfPicturesAreRefusedWithTheNameToType) {
  const ProgramRun run = plot(folder_ + "/mel.jpg");
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("type --plot mel.png"));
}

}  // namespace
}  // namespace stoker::cli
