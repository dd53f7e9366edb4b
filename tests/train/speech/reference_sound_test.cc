#include "stoker/train/speech/reference_sound.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "stoker/audio/file/wav_writer.h"
#include "stoker/base/io/output_file.h"
#include "tests/doubles/scratch_folder.h"
#include "tests/train/speech/spoken_voice.h"

namespace stoker::train {
namespace {

constexpr std::uint32_t kRateHz = 22050;

std::vector<std::int16_t> tone(double seconds, double amplitude) {
  std::vector<std::int16_t> samples(static_cast<std::size_t>(seconds * kRateHz));
  for (std::size_t i = 0; i < samples.size(); ++i)
    samples[i] = static_cast<std::int16_t>(
        amplitude * std::sin(2 * std::numbers::pi * 440 * static_cast<double>(i) / kRateHz));
  return samples;
}

class ReferenceSoundTest : public testing::Test {
 protected:
  ReferenceMel load(const std::vector<std::int16_t>& samples) {
    const std::string path = folder_ / "a.wav";
    publish_output(system_io(), path, audio::wav_pcm16_bytes(samples, kRateHz)).take_or_raise();
    return load_reference(system_io(), path, character_voice());
  }
  std::string refusal(const std::vector<std::int16_t>& samples) {
    try {
      load(samples);
    } catch (const Failure& refused) {
      EXPECT_EQ(refused.error().code->name, "E-SPEAK-REFERENCE");
      return refused.error().found;
    }
    return "taken";
  }
  ScratchFolder folder_;
};

TEST_F(ReferenceSoundTest, TooShortOrSilentIsRefused) {
  EXPECT_EQ(refusal(tone(0.2, 8000)), "0.20 s");
  EXPECT_EQ(refusal(tone(0.49, 8000)), "0.49 s");
  EXPECT_THAT(refusal(tone(2, 0)), testing::HasSubstr("silence"));
  EXPECT_THAT(refusal(tone(2, 20)), testing::HasSubstr("silence"));
  EXPECT_EQ(refusal(tone(0.51, 8000)), "taken");
}

TEST_F(ReferenceSoundTest, ShortSoundIsUsedWhole) {
  const ReferenceMel mel = load(tone(1, 8000));
  EXPECT_EQ(mel.num_frames, kRateHz / 256);
  EXPECT_EQ(mel.num_mels, 80);
  EXPECT_EQ(mel.values.size(), static_cast<std::size_t>(mel.num_frames * mel.num_mels));
}

TEST_F(ReferenceSoundTest, OfALongSoundTheLoudestPartIsUsed) {
  std::vector<std::int16_t> samples = tone(4, 300);
  const std::vector<std::int16_t> loud = tone(3, 9000);
  samples.insert(samples.end(), loud.begin(), loud.end());
  const std::vector<std::int16_t> after = tone(4, 300);
  samples.insert(samples.end(), after.begin(), after.end());
  const ReferenceMel mel = load(samples);
  EXPECT_EQ(mel.num_frames, character_voice().shape.reference_frames);
  float quietest_peak = 0;
  for (std::int64_t frame = 2; frame + 2 < mel.num_frames; ++frame) {
    const auto first = mel.values.begin() + frame * mel.num_mels;
    quietest_peak = std::min(quietest_peak, *std::max_element(first, first + mel.num_mels));
  }
  const ReferenceMel quiet = load(tone(1, 300));
  EXPECT_GT(quietest_peak, *std::max_element(quiet.values.begin(), quiet.values.end()));
}

TEST_F(ReferenceSoundTest, FileThatIsNoSoundKeepsItsOwnError) {
  folder_.put("a.txt", "a text that is longer than the header of a WAV file would have to be");
  EXPECT_THROW(load_reference(system_io(), folder_ / "a.txt", character_voice()), DataError);
}

}  // namespace
}  // namespace stoker::train
