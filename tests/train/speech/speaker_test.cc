#include "stoker/train/speech/speaker.h"

#include <gmock/gmock.h>

#include <cmath>
#include <fstream>

#include "stoker/audio/feature_file.h"
#include "stoker/audio/file/sound_file.h"
#include "stoker/audio/file/wav_writer.h"
#include "stoker/train/errors.h"
#include "stoker/train/speech/speech_files.h"
#include "tests/doubles/scratch_folder.h"
#include "tests/train/speech/spoken_voice.h"

namespace stoker::train {
namespace {

using testing::HasSubstr;

class SpeakerTest : public testing::Test {
 protected:
  void save(const VoiceRecord& voice) {
    Checkpoint checkpoint;
    checkpoint.step = 3;
    const auto num_weights = static_cast<std::int64_t>(count_parameters(voice.shape));
    const StoredTensor weight{
        .name = "w",
        .shape = {num_weights},
        .values = std::vector<std::byte>(sizeof(float) * count_parameters(voice.shape))};
    checkpoint.model.tensors = {weight};
    checkpoint.ema.tensors = {weight};
    put_voice(voice, checkpoint);
    RunFolder run = RunFolder::open(system_io(), folder_ / "run").take_or_raise();
    run.save(checkpoint, {}).take_or_raise();
  }
  SpeechReport say(const SpeechRequest& request) {
    return speak(system_io(), request, [this](const LearnerOptions& options) {
      seen_.options = options;
      auto learner = std::make_unique<SpeakingLearner>(seen_);
      learner->level_ = level_;
      return learner;
    });
  }
  SpeechRequest request(std::vector<std::string> texts) const {
    return {.checkpoint = folder_ / "run", .texts = std::move(texts)};
  }
  std::string refusal(const SpeechRequest& asked) {
    try {
      say(asked);
    } catch (const Failure& refused) {
      return std::string(refused.error().code->name);
    }
    return "taken";
  }

  ScratchFolder folder_;
  SpeakingLearner::Seen seen_;
  float level_ = -2.0F;
};

TEST_F(SpeakerTest, SpeaksEveryTextWithTheCheckpointsOwnVoice) {
  save(character_voice());
  const SpeechReport report = say(request({"one", "three"}));
  ASSERT_EQ(report.speeches.size(), 2U);
  EXPECT_EQ(report.speeches[1].num_frames, 7 * kFramesOfToken);
  EXPECT_EQ(report.speeches[1].symbols.size(), 7U);
  EXPECT_EQ(seen_.num_ema, 1U) << "the reference is no weight of the model";
  EXPECT_EQ(seen_.request.references.at(0), character_voice().reference->values);
  EXPECT_EQ(seen_.options.shape, character_voice().shape);
  EXPECT_EQ(seen_.options.scale, character_voice().scale);
  EXPECT_NEAR(report.audio_s, (5 + 7) * kFramesOfToken * 256.0 / 22050, 0.02);
  EXPECT_GT(report.rtf(), 0);
}

TEST_F(SpeakerTest, SoundHasTheFramesThatWereSpoken) {
  save(character_voice());
  const Speech speech = say(request({"Tones go up."})).speeches.at(0);
  std::vector<std::int16_t> pcm(speech.samples.size());
  for (std::size_t i = 0; i < pcm.size(); ++i)
    pcm[i] = static_cast<std::int16_t>(speech.samples[i] * 32767);
  const audio::FileFeatures heard = audio::FeatureMaker(config::FeatureSettings{}).run(pcm);
  double difference = 0;
  std::size_t num_cells = 0;
  for (std::size_t i = 0; i < std::min(heard.values.size(), speech.mel.size()); ++i) {
    if (speech.mel[i] < -10) continue;
    difference += std::abs(heard.values[i] - speech.mel[i]);
    ++num_cells;
  }
  EXPECT_LT(difference / static_cast<double>(num_cells), 0.5);
}

TEST_F(SpeakerTest, LoudSpeechIsNotCutOff) {
  save(character_voice());
  level_ = 3.0F;
  const Speech speech = say(request({"loud"})).speeches.at(0);
  const auto is_cut = [](float sample) { return std::abs(sample) >= 1.0F; };
  EXPECT_EQ(std::count_if(speech.samples.begin(), speech.samples.end(), is_cut), 0);
}

TEST_F(SpeakerTest, AsksAreHandedOn) {
  save(character_voice());
  SpeechRequest asked = request({"a"});
  asked.num_steps = 7;
  asked.speed = 1.5;
  asked.seed = 9;
  say(asked);
  EXPECT_EQ(seen_.request.num_steps, 7);
  EXPECT_EQ(seen_.request.speed, 1.5);
  EXPECT_EQ(seen_.request.seed, 9U);
  EXPECT_TRUE(seen_.options.device.is_cpu());
}

TEST_F(SpeakerTest, EachTextMayHaveAReferenceOfItsOwn) {
  save(character_voice());
  const auto record = [this](const char* name, float pitch_hz) {
    std::vector<std::int16_t> pcm(22050);
    for (std::size_t i = 0; i < pcm.size(); ++i)
      pcm[i] = static_cast<std::int16_t>(
          8000 * std::sin(6.2832F * pitch_hz * static_cast<float>(i) / 22050));
    const File folder = open_file(system_io(), folder_ / "", OpenFor::kFolder).take_or_raise();
    audio::write_wav_pcm16(folder, name, pcm, 22050).take_or_raise();
    return std::string(folder_ / name);
  };
  SpeechRequest asked = request({"a", "b"});
  asked.references = {record("low.wav", 110), record("high.wav", 880)};
  say(asked);
  ASSERT_EQ(seen_.request.references.size(), 2U);
  EXPECT_NE(seen_.request.references[0], seen_.request.references[1]);
  asked.texts.emplace_back("c");
  EXPECT_EQ(refusal(asked), "E-SPEAK-REFERENCE");
  asked.references.resize(1);
  say(asked);
  EXPECT_EQ(seen_.request.references.size(), 1U);
}

TEST_F(SpeakerTest, RefusesWhatItCannotSpeak) {
  EXPECT_EQ(refusal(request({"a"})), "E-CHECKPOINT-MISSING");
  save(character_voice());
  EXPECT_EQ(refusal(request({})), "E-SPEAK-TEXT");
  EXPECT_EQ(refusal(request({"fine", ""})), "E-SPEAK-TEXT");
  SpeechRequest other = request({"a"});
  other.vocabulary = "phonemes";
  EXPECT_EQ(refusal(other), "E-SPEAK-VOCABULARY");
  SpeechRequest absent = request({"a"});
  absent.references = {folder_ / "nothing.wav"};
  EXPECT_EQ(refusal(absent), "E-IO-MISSING");
}

TEST_F(SpeakerTest, CheckpointWithoutAVoiceOfItsOwnNeedsAReference) {
  VoiceRecord voice = character_voice();
  voice.reference.reset();
  save(voice);
  EXPECT_EQ(refusal(request({"a"})), "E-SPEAK-REFERENCE");
}

TEST_F(SpeakerTest, ShapeThatTheWeightsDoNotHaveIsRefusedBeforeAModelIsMade) {
  const VoiceRecord voice = character_voice();
  save(voice);
  VoiceRecord other = voice;
  other.shape.decoder_layers = 900;
  Checkpoint checkpoint = load_checkpoint(system_io(), folder_ / "run").take_or_raise().checkpoint;
  take_voice(checkpoint, "run");
  put_voice(other, checkpoint);
  checkpoint.step = 4;
  RunFolder::open(system_io(), folder_ / "run")
      .take_or_raise()
      .save(checkpoint, {})
      .take_or_raise();
  EXPECT_EQ(refusal(request({"a"})), "E-CHECKPOINT-BAD");
  EXPECT_EQ(seen_.options.shape, ModelShape{});
}

TEST_F(SpeakerTest, NewerCheckpointThatIsNotWholeIsPassedOverAndNamed) {
  save(character_voice());
  folder_.put("run/checkpoints/step-00000009/state.json", "{");
  const SpeechReport report = say(request({"a"}));
  ASSERT_EQ(report.passed_over.size(), 1U);
  EXPECT_THAT(report.passed_over[0], HasSubstr("step-00000009"));
}

TEST_F(SpeakerTest, WeightsThatGiveNoNumbersAreSaid) {
  save(character_voice());
  level_ = NAN;
  EXPECT_EQ(refusal(request({"a"})), "E-CHECKPOINT-BAD");
}

TEST_F(SpeakerTest, FilesAreWrittenForEveryText) {
  save(character_voice());
  const SpeechReport report = say(request({"one", "two"}));
  const SpeechFiles files{.out = {folder_ / "1.wav", folder_ / "2.wav"},
                          .save_mel = {folder_ / "1.npy", folder_ / "2.npy"},
                          .pictures = {folder_ / "1.png", folder_ / "2.svg"}};
  const Json result = write_speech(system_io(), report, files);
  EXPECT_EQ(result.at("files").elements().size(), 6U);
  const File wav = open_file(system_io(), folder_ / "2.wav", OpenFor::kRead).take_or_raise();
  const audio::SoundInfo info = audio::read_sound_info(wav).take_or_raise();
  EXPECT_EQ(info.num_samples, report.speeches[1].samples.size());
  EXPECT_EQ(info.rate_hz, 22050U);
  std::string first(4, ' ');
  std::ifstream(folder_ / "1.png").read(first.data(), 4);
  EXPECT_EQ(first, "\x89PNG");
  std::ifstream(folder_ / "2.svg").read(first.data(), 4);
  EXPECT_EQ(first, "<svg");
  std::ifstream(folder_ / "1.npy").read(first.data(), 4);
  EXPECT_EQ(first, "\x93NUM");
}

}  // namespace
}  // namespace stoker::train
