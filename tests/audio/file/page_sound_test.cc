// Sounds of a page: smaller, and every sample as it was.
#include "stoker/audio/file/page_sound.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "stoker/audio/file/sound_file.h"
#include "stoker/audio/file/wav_writer.h"
#include "stoker/base/bytes.h"
#include "tests/doubles/scratch_folder.h"

namespace stoker::audio {
namespace {

constexpr std::uint32_t kRateHz = 22050;

// Tones that come and go, with breath; the loudest possible samples among them.
std::vector<std::int16_t> made_speech(std::size_t num_samples) {
  std::mt19937 random(7);
  std::uniform_int_distribution<int> breath(-40, 40);
  std::vector<std::int16_t> samples(num_samples);
  for (std::size_t i = 0; i < num_samples; ++i) {
    const double at_s = static_cast<double>(i) / kRateHz;
    const double tone = std::sin(900 * at_s) + 0.4 * std::sin(2700 * at_s + std::sin(9 * at_s));
    samples[i] = static_cast<std::int16_t>(6000 * tone * std::sin(3 * at_s) + breath(random));
  }
  samples[num_samples / 3] = 32767;
  samples[num_samples / 2] = -32768;
  return samples;
}

TEST(PageSoundTest, IsSmallerAndLosesNoSample) {
  const std::vector<std::int16_t> spoken = made_speech(2 * kRateHz + 17);
  const std::vector<std::byte> packed = page_sound(spoken, kRateHz);
  EXPECT_TRUE(view_text(packed).starts_with("fLaC"));
  EXPECT_LT(packed.size(), spoken.size() * 2 * 2 / 3);
  const ScratchFolder scratch;
  scratch.put("a.flac", view_text(packed));
  const File file = open_file(system_io(), scratch / "a.flac", OpenFor::kRead).take_or_raise();
  const SoundInfo info = read_sound_info(file).take_or_raise();
  EXPECT_EQ(info.rate_hz, kRateHz);
  std::vector<std::int16_t> heard(info.num_samples);
  SoundReader().read_pcm16(file, info, 0, heard).take_or_raise();
  EXPECT_EQ(heard, spoken);
}

TEST(PageSoundTest, OfAWavFileIsThatOfItsSamples) {
  const std::vector<std::int16_t> spoken = made_speech(3000);
  EXPECT_EQ(page_sound(wav_pcm16_bytes(spoken, kRateHz)), page_sound(spoken, kRateHz));
}

TEST(PageSoundTest, WhatIsNoWavOfOneChannelStaysAsItIs) {
  const std::vector<std::byte> wav = wav_pcm16_bytes(made_speech(3000), kRateHz);
  std::vector<std::byte> stereo = wav;
  stereo[22] = std::byte{2};  // channels
  stereo[32] = std::byte{4};  // bytes of a sample frame
  const std::vector<std::byte> cut(wav.begin(), wav.end() - 100);
  const std::vector<std::byte> silent = wav_pcm16_bytes({}, kRateHz);
  for (const std::vector<std::byte>& file : {stereo, cut, silent, std::vector<std::byte>(5)})
    EXPECT_EQ(page_sound(file), file);
}

}  // namespace
}  // namespace stoker::audio
