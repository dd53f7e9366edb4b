// Speech with the model itself: weights as they are drawn, because what is said does not matter
// here.
#include <gmock/gmock.h>

#include <algorithm>

#include "stoker/train/speech/speaker.h"
#include "tests/doubles/scratch_folder.h"
#include "tests/train/speech/spoken_voice.h"

namespace stoker::train {
namespace {

class TorchSpeakerTest : public testing::Test {
 protected:
  TorchSpeakerTest() {
    VoiceRecord voice = character_voice();
    voice.shape = shape_of(config::ModelSize::kTiny, voice.shape.num_tokens, 80);
    const std::unique_ptr<Learner> learner =
        make_learner({.shape = voice.shape, .scale = voice.scale, .seed = 3});
    LearnerState state = learner->state();
    Checkpoint checkpoint;
    checkpoint.step = 1;
    checkpoint.model = std::move(state.model);
    checkpoint.ema = std::move(state.ema);
    put_voice(voice, checkpoint);
    RunFolder::open(system_io(), folder_.path())
        .take_or_raise()
        .save(checkpoint, {})
        .take_or_raise();
  }
  SpeechReport say(std::uint64_t seed, double speed = 1.0) const {
    return speak(system_io(), {.checkpoint = folder_.path(),
                               .texts = {"A sentence of some length is spoken.", "Yes."},
                               .num_steps = 4,
                               .speed = speed,
                               .seed = seed});
  }
  ScratchFolder folder_;
};

TEST_F(TorchSpeakerTest, SeedDecidesWhatIsHeard) {
  const SpeechReport first = say(1);
  ASSERT_EQ(first.speeches.size(), 2U);
  for (const Speech& speech : first.speeches) {
    ASSERT_GT(speech.samples.size(), 0U);
    ASSERT_EQ(speech.token_of_frame.size(), static_cast<std::size_t>(speech.num_frames));
    EXPECT_TRUE(std::is_sorted(speech.token_of_frame.begin(), speech.token_of_frame.end()));
    EXPECT_LT(static_cast<std::size_t>(speech.token_of_frame.back()), speech.symbols.size());
  }
  EXPECT_EQ(say(1).speeches[0].samples, first.speeches[0].samples);
  EXPECT_NE(say(2).speeches[0].samples, first.speeches[0].samples);
}

TEST_F(TorchSpeakerTest, SpeedShortensWhatIsSaid) {
  EXPECT_LT(say(1, 2.0).audio_s, 0.8 * say(1, 0.5).audio_s);
}

}  // namespace
}  // namespace stoker::train
