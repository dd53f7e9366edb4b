#include "stoker/train/loop/run_pictures.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <fstream>

#include "stoker/base/bytes.h"
#include "tests/doubles/scratch_folder.h"

namespace stoker::train {
namespace {

// Four tokens over eight frames; each frame is loud in one of three bands.
PictureRow small_row() {
  PictureRow row{.id = "LJ001-0001",
                 .num_frames = 8,
                 .mel = {},
                 .predicted = std::vector<float>(24, -3.0F),
                 .token_of_frame = {0, 0, 1, 1, 2, 2, 3, 3},
                 .num_tokens = 4};
  for (int frame = 0; frame < 8; ++frame)
    for (int band = 0; band < 3; ++band) row.mel.push_back(band == frame % 3 ? 0.0F : -6.0F);
  return row;
}

class RunPicturesTest : public testing::Test {
 protected:
  // Brightness of the cell of each row and frame, read back by Python: see read_cells.py.
  void expect_cells(const std::string& name, std::span<const std::byte> png,
                    const std::string& cells) {
    std::ofstream(scratch_ / name, std::ios::binary) << view_text(png);
    const std::string command = std::string(STOKER_TEST_PYTHON " " STOKER_TRAIN_TESTS) +
                                "/loop/read_cells.py " + (scratch_ / name) + " " + cells;
    EXPECT_EQ(std::system(command.c_str()), 0) << name;
  }

  ScratchFolder scratch_;
};

// Cells are listed from the top; `#` is the brightest shade, `.` the darkest, `-` between.
TEST_F(RunPicturesTest, AlignmentRisesFromTokenToToken) {
  expect_cells("alignment.png", alignment_picture(small_row()),
               "......##,....##..,..##....,##......");
}

TEST_F(RunPicturesTest, PredictionIsBelowTheRecordingOnItsScale) {
  expect_cells("mel.png", mel_picture(small_row()),
               "..#..#..,.#..#..#,#..#..#./--------,--------,--------");
}

TEST_F(RunPicturesTest, TokensOutsideTheTextHaveNoCell) {
  PictureRow row = small_row();
  row.token_of_frame = {0, -1, 1, 9, 2, 2, 3, 3};
  expect_cells("outside.png", alignment_picture(row), "......##,....##..,..#.....,#.......");
}

TEST_F(RunPicturesTest, NothingIsDrawnOfNoFrame) {
  EXPECT_THAT(mel_picture({}), testing::IsEmpty());
  EXPECT_THAT(alignment_picture({}), testing::IsEmpty());
}

}  // namespace
}  // namespace stoker::train
