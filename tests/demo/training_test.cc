#include "stoker/demo/training.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <optional>

#include "stoker/audio/file/wav_writer.h"
#include "stoker/base/bytes.h"
#include "tests/doubles/scratch_folder.h"

namespace stoker::demo {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::Not;

// A trainer that learns nothing: tells of two steps and speaks a hundred samples of silence.
class FakeTrainer final : public DemoTrainer {
 public:
  Json train(const config::Settings& settings,
             const std::function<void(const Json&)>& on_event) override {
    settings_ = settings;
    if (stop_ != nullptr) stop_->request_stop();
    found_an_old_run_ = fs::exists(settings.training.checkpoint_dir + "/checkpoints");
    on_event({{"kind", "line"}, {"text", "tiny model"}});
    for (const double step : {1.0, 1.0, 2.0})
      on_event({{"kind", "progress"},
                {"text", "…"},
                {"step", step},
                {"duration", 4 / step},
                {"prior", 2 / step},
                {"flow", 1 / step}});
    on_event({{"kind", "progress"}, {"text", "…"}, {"step", 3}, {"flow", nullptr}});
    on_event({{"kind", "saved"}, {"step", 2}, {"folder", "somewhere"}});
    fs::create_directories(settings.training.checkpoint_dir + "/checkpoints/step-00000002");
    return {{"steps", 2},          {"parameters", 3'000'000}, {"loss_first", 7.0},
            {"loss_last", 3.5},    {"clips_per_s", 80.0},     {"data_ms", 1.5},
            {"compute_ms", 148.5}, {"stall_share", 0.01}};
  }

  Json speak(const DemoSpeech& speech) override {
    speech_ = speech;
    const std::vector<std::int16_t> silence(100);
    std::ofstream(speech.wav, std::ios::binary)
        << view_text(audio::wav_pcm16_bytes(silence, 22'050));
    std::ofstream(speech.picture) << "<svg>picture of it</svg>";
    return {{"audio_s", 1.0}, {"rtf", 0.25}};
  }

  std::stop_source* stop_ = nullptr;  // asked to stop while it trains
  config::Settings settings_;
  bool found_an_old_run_ = false;
  DemoSpeech speech_;
};

class TrainingTest : public testing::Test {
 protected:
  DemoTraining run() {
    return train_demo(system_io(), {.out = scratch_.path(), .seconds = 7, .num_utterances = 6},
                      trainer_, {});
  }

  ScratchFolder scratch_;
  FakeTrainer trainer_;
};

TEST_F(TrainingTest, TrainsTheSmallestModelOnPhonesForTheTimeGiven) {
  const DemoTraining training = run();
  EXPECT_EQ(trainer_.settings_.training.model_size, config::ModelSize::kTiny);
  EXPECT_EQ(trainer_.settings_.training.seconds, std::optional(7.0));
  EXPECT_EQ(trainer_.settings_.text.vocabulary, "phonemes");
  EXPECT_EQ(training.num_steps, 2U);
  EXPECT_EQ(training.loss_last, 3.5);
  EXPECT_THAT(training.losses,
              ElementsAre(Field(&DemoLoss::flow, 1.0), Field(&DemoLoss::flow, 0.5)));
}

TEST_F(TrainingTest, SpeaksASentenceThatWasNotTrainedOn) {
  const DemoTraining training = run();
  EXPECT_EQ(trainer_.speech_.checkpoint, trainer_.settings_.training.checkpoint_dir);
  EXPECT_EQ(trainer_.speech_.text, training.text);
  EXPECT_TRUE(fs::exists(trainer_.speech_.reference)) << trainer_.speech_.reference;
  std::ifstream metadata(scratch_ / "demo-voice/metadata.csv");
  for (std::string line; std::getline(metadata, line);)
    EXPECT_THAT(line, Not(HasSubstr(training.text)));
  std::ifstream file(trainer_.speech_.reference, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), {});
  EXPECT_EQ(bytes, view_text(training.reference)) << "another sound than the player's";
}

TEST_F(TrainingTest, AStopEndsItBeforeSpeaking) {
  std::stop_source stop;
  trainer_.stop_ = &stop;
  const DemoTraining training = train_demo(
      system_io(), {.out = scratch_.path(), .num_utterances = 2}, trainer_, stop.get_token());
  EXPECT_EQ(training.num_steps, 2U);
  EXPECT_EQ(training.text, "");
  EXPECT_EQ(trainer_.speech_.text, "");
}

TEST_F(TrainingTest, RunOfAnEarlierDemoIsReplaced) {
  run();
  EXPECT_TRUE(fs::exists(scratch_ / "demo-run/checkpoints/step-00000002"));
  scratch_.put("untouched", "1");
  fs::create_symlink(scratch_ / "untouched", scratch_ / "demo-run/link");
  run();
  EXPECT_FALSE(trainer_.found_an_old_run_);
  EXPECT_TRUE(fs::exists(scratch_ / "untouched"));
}

TEST_F(TrainingTest, PageShowsCurveTimesSoundsAndAlignment) {
  HtmlReport page("t", "s");
  add_training(page, run());
  const std::string html = page.finish();
  for (const char* wanted :
       {"3,000,000 parameters", "7.00 \u2192 3.50", "1.00 %", "Where the time of a step goes",
        "waiting for data", "<svg>picture of it</svg>", "spoken by the built-in voice"})
    EXPECT_THAT(html, HasSubstr(wanted));
  std::size_t num_players = 0;
  for (std::size_t at = html.find("<audio"); at != std::string::npos;
       at = html.find("<audio", at + 1))
    ++num_players;
  EXPECT_EQ(num_players, 3U);
}

TEST_F(TrainingTest, PageSaysWhyThereWasNone) {
  HtmlReport page("t", "s");
  add_training_left_out(page, "training is left out: no libtorch");
  EXPECT_THAT(page.finish(), HasSubstr("training is left out: no libtorch"));
}

}  // namespace
}  // namespace stoker::demo
