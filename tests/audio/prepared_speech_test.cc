#include "stoker/audio/prepared_speech.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "stoker/audio/file/wav_writer.h"
#include "tests/audio/file/coded_files.h"
#include "tests/doubles/scratch_folder.h"

namespace stoker::audio {
namespace {

struct Loaded {
  File file;
  SoundInfo info;
};

Loaded wav_of(const ScratchFolder& folder, std::span<const std::int16_t> samples,
              std::uint32_t rate_hz) {
  const File root = open_file(system_io(), folder.path(), OpenFor::kFolder).take_or_raise();
  write_wav_pcm16(root, "a.wav", samples, rate_hz).take_or_raise();
  Loaded loaded{open_beneath(root, "a.wav", OpenFor::kRead).take_or_raise(), {}};
  loaded.info = read_sound_info(loaded.file).take_or_raise();
  return loaded;
}

std::vector<std::int16_t> tone(std::size_t num_samples, int rate_hz, double amplitude) {
  std::vector<std::int16_t> out(num_samples);
  for (std::size_t i = 0; i < num_samples; ++i)
    out[i] = static_cast<std::int16_t>(32767 * amplitude *
                                       std::sin(2 * M_PI * 997 * static_cast<double>(i) / rate_hz));
  return out;
}

TEST(PreparedSpeechTest, MatchingPcmPassesUntouched) {
  ScratchFolder folder;
  const std::vector<std::int16_t> samples = tone(5000, 22050, 0.7);
  const Loaded wav = wav_of(folder, samples, 22050);
  PreparedSpeech speech({});
  const auto got = speech.load(wav.file, wav.info, 1000, 3000).take_or_raise();
  EXPECT_TRUE(std::equal(got.begin(), got.end(), samples.begin() + 1000, samples.begin() + 4000));
}

TEST(PreparedSpeechTest, OtherRatesAreResampledToThePromisedLength) {
  ScratchFolder folder;
  const Loaded wav = wav_of(folder, tone(16001, 16000, 0.5), 16000);
  const SpeechRule rule{};
  PreparedSpeech speech(rule);
  const auto got = speech.load(wav.file, wav.info, 0, 16001).take_or_raise();
  EXPECT_EQ(got.size(), PreparedSpeech::num_prepared(rule, 16000, 16001).value());
  EXPECT_EQ(got.size(), 22051U);
}

TEST(PreparedSpeechTest, SilenceIsCutAndTheLevelReached) {
  ScratchFolder folder;
  std::vector<std::int16_t> samples(10000, 0);
  const std::vector<std::int16_t> loud = tone(40000, 22050, 0.05);
  samples.insert(samples.end(), loud.begin(), loud.end());
  const Loaded wav = wav_of(folder, samples, 22050);
  PreparedSpeech speech({.trim = TrimRule{}, .level = LevelRule::kLufs, .target = -23});
  const auto got = speech.load(wav.file, wav.info, 0, samples.size()).take_or_raise();
  EXPECT_LT(got.size(), 41000U);
  std::vector<float> heard(got.begin(), got.end());
  for (float& value : heard) value /= 32768.0F;
  EXPECT_NEAR(LoudnessMeter(22050).integrated_lufs(heard), -23, 0.1);
}

}  // namespace
}  // namespace stoker::audio
