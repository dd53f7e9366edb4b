#include "stoker/audio/file/wav_writer.h"

#include <gtest/gtest.h>

#include <array>

#include "stoker/base/bytes.h"
#include "tests/doubles/scratch_folder.h"

namespace stoker::audio {
namespace {

TEST(WavWriterTest, HeaderPromisesExactlyTheSamplesThatFollow) {
  const std::array<std::int16_t, 3> samples{0, -32768, 32767};
  const auto file = wav_pcm16_bytes(samples, 22050);
  ASSERT_EQ(file.size(), kWavHeaderBytes + 6);
  EXPECT_EQ(view_text(file).substr(0, 4), "RIFF");
  EXPECT_EQ(load_le<std::uint32_t>(file.data() + 4), file.size() - 8);
  EXPECT_EQ(view_text(file).substr(8, 8), "WAVEfmt ");
  EXPECT_EQ(load_le<std::uint32_t>(file.data() + 24), 22050U);
  EXPECT_EQ(load_le<std::uint32_t>(file.data() + 28), 44100U);
  EXPECT_EQ(load_le<std::uint32_t>(file.data() + 40), 6U);
  EXPECT_EQ(load_le<std::int16_t>(file.data() + 46), -32768);
  EXPECT_EQ(load_le<std::int16_t>(file.data() + 48), 32767);
}

TEST(WavWriterTest, NoSamplesGiveAHeaderAlone) {
  EXPECT_EQ(wav_pcm16_bytes({}, 16000).size(), kWavHeaderBytes);
}

TEST(WavWriterTest, NeverReplacesAFileThatIsThere) {
  const ScratchFolder scratch;
  const File folder = open_file(system_io(), scratch.path(), OpenFor::kFolder).take_or_raise();
  const std::array<std::int16_t, 2> samples{1, -1};
  ASSERT_TRUE(write_wav_pcm16(folder, "a.wav", samples, 22050).ok());
  const auto again = write_wav_pcm16(folder, "a.wav", samples, 22050);
  ASSERT_FALSE(again.ok());
  EXPECT_NE(error_line(again.error()).find("a.wav"), std::string::npos);
  const File file = open_beneath(folder, "a.wav", OpenFor::kRead).take_or_raise();
  EXPECT_EQ(read_whole(file, 1000).take_or_raise(), wav_pcm16_bytes(samples, 22050));
}

}  // namespace
}  // namespace stoker::audio
