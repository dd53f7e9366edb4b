#include "stoker/audio/wav_writer.h"

#include <gtest/gtest.h>

#include <array>

#include "stoker/base/bytes.h"

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

}  // namespace
}  // namespace stoker::audio
