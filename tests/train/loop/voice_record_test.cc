#include "stoker/train/loop/voice_record.h"

#include <gmock/gmock.h>

#include "stoker/config/settings_text.h"

namespace stoker::train {
namespace {

VoiceRecord some_voice() {
  VoiceRecord voice;
  voice.shape = {
      .num_tokens = 77, .num_mels = 3, .text_width = 16, .decoder_heads = 4, .decoder_frames = 3};
  voice.scale = {.mean = -4.123456789012345, .deviation = 2.5};
  voice.settings.text.vocabulary = "phonemes";
  voice.language = "fa";
  voice.phones = {"AA1", "B"};
  voice.reference = ReferenceMel{.num_frames = 2, .num_mels = 3, .values = {1, 2, 3, 4, 5, 6}};
  return voice;
}

Checkpoint saved(const VoiceRecord& voice) {
  Checkpoint checkpoint;
  checkpoint.ema.tensors = {{.name = "w", .shape = {}, .values = std::vector<std::byte>(4)}};
  put_voice(voice, checkpoint);
  checkpoint.state = Json::parse(checkpoint.state.dump()).value();
  return checkpoint;
}

TEST(VoiceRecordTest, ComesBackAsItWas) {
  Checkpoint checkpoint = saved(some_voice());
  ASSERT_EQ(checkpoint.ema.tensors.size(), 2U);
  const VoiceRecord voice = take_voice(checkpoint, "run");
  EXPECT_EQ(voice.shape, some_voice().shape);
  EXPECT_EQ(voice.scale, some_voice().scale);
  EXPECT_EQ(voice.language, "fa");
  EXPECT_EQ(voice.phones, some_voice().phones);
  EXPECT_EQ(voice.reference, some_voice().reference);
  EXPECT_EQ(config::settings_json(voice.settings).dump(),
            config::settings_json(some_voice().settings).dump());
  ASSERT_EQ(checkpoint.ema.tensors.size(), 1U) << "only weights are left";
}

std::string refusal(Checkpoint checkpoint) {
  try {
    take_voice(checkpoint, "run");
  } catch (const Failure& refused) {
    EXPECT_EQ(refused.error().place.file, "run/state.json");
    return std::string(refused.error().code->name);
  }
  return "taken";
}

TEST(VoiceRecordTest, WhatIsAbsentOrOfAnotherKindIsRefused) {
  for (const char* key : {"shape", "mel_scale", "settings", "language", "phones"}) {
    Checkpoint checkpoint = saved(some_voice());
    checkpoint.state[key] = 3;
    EXPECT_THAT(refusal(checkpoint),
                testing::AnyOf("E-CHECKPOINT-BAD", "E-CONFIG-VALUE", "E-CONFIG-YAML"))
        << key;
  }
  EXPECT_EQ(refusal(Checkpoint{}), "E-CHECKPOINT-BAD");
}

TEST(VoiceRecordTest, ShapeOfADamagedFileAsksForNoMemory) {
  for (const Json& width : {Json(1e12), Json(-1), Json(2.5)}) {
    Checkpoint checkpoint = saved(some_voice());
    checkpoint.state["shape"]["decoder_width"] = width;
    EXPECT_EQ(refusal(checkpoint), "E-CHECKPOINT-BAD") << width.dump();
  }
  Checkpoint flat = saved(some_voice());
  flat.state["mel_scale"]["deviation"] = 0;
  EXPECT_EQ(refusal(flat), "E-CHECKPOINT-BAD");
  Checkpoint other = saved(some_voice());
  other.ema.tensors.back().shape = {6};
  EXPECT_EQ(refusal(other), "E-CHECKPOINT-BAD");
}

}  // namespace
}  // namespace stoker::train
