// A voice to test speech with: its record, its checkpoint on disk, and a learner in the place of
// the model that says each token for a fixed number of frames.
#pragma once

#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "stoker/text/tokenizer.h"
#include "stoker/train/loop/voice_record.h"
#include "stoker/train/speech/speaker.h"

namespace stoker::train {

inline constexpr std::int64_t kFramesOfToken = 6;

// Of the vocabulary characters in English; a short reference, so that files are small.
inline VoiceRecord character_voice() {
  VoiceRecord voice;
  voice.shape = {.num_tokens = 0,
                 .text_width = 8,
                 .text_layers = 1,
                 .text_heads = 2,
                 .decoder_width = 8,
                 .decoder_layers = 1,
                 .decoder_heads = 2,
                 .num_latents = 2};
  text::TokenizerOptions options;
  voice.shape.num_tokens = static_cast<std::int64_t>(text::Tokenizer(options).vocabulary().size());
  voice.scale = {.mean = -5, .deviation = 2};
  voice.reference =
      ReferenceMel{.num_frames = 4, .num_mels = 80, .values = std::vector<float>(320, -3.0F)};
  return voice;
}

// The same of phones, which have an id each after the five of the vocabulary itself.
inline VoiceRecord phone_voice(std::vector<std::string> phones, const std::string& language) {
  VoiceRecord voice = character_voice();
  voice.settings.text.vocabulary = "phonemes";
  voice.language = language;
  voice.shape.num_tokens = static_cast<std::int64_t>(phones.size()) + text::kFirstNativeSymbol;
  voice.phones = std::move(phones);
  return voice;
}

class SpeakingLearner final : public Learner {
 public:
  struct Seen {
    LearnerOptions options;
    std::size_t num_ema = 0;
    SpeakRequest request;
  };
  explicit SpeakingLearner(Seen& seen) : seen_(seen) {}

  std::uint64_t num_parameters() const override { return 0; }

  void prepare(std::span<const StepShape>) override {}
  GraphFigures graph_figures() const override { return {}; }
  std::uint64_t probe_bytes(const StepShape&) override { return 0; }
  void forget_prepared() override {}
  std::uint64_t held_bytes() const override { return 0; }
  void bound_bytes(std::uint64_t) override {}
  std::uint64_t probe_evaluation_bytes(const StepShape&) override { return 0; }
  void add_batch(feed::Batch, std::uint64_t) override {}
  void update(double) override {}
  std::vector<UpdateFigures> take_figures(Wait) override { return {}; }
  Evaluation evaluate(feed::Batch, std::uint64_t) override { return {}; }
  std::vector<RowAlignment> align(feed::Batch) override { return {}; }
  PictureRow picture(feed::Batch) override { return {}; }
  LearnerState state() override { return {}; }
  void restore(const LearnerState& state) override { seen_.num_ema = state.ema.tensors.size(); }

  std::vector<SpokenMel> speak(const SpeakRequest& request) override {
    seen_.request = request;
    std::vector<SpokenMel> all;
    for (const std::vector<std::int32_t>& tokens : request.tokens) {
      SpokenMel spoken;
      const auto num_tokens = static_cast<std::int32_t>(tokens.size()) + 2;
      for (std::int32_t token = 0; token < num_tokens; ++token)
        for (std::int64_t frame = 0; frame < kFramesOfToken; ++frame) {
          spoken.token_of_frame.push_back(token);
          for (int band = 0; band < 80; ++band)
            spoken.mel.push_back(band / 8 == token % 10 ? level_ : -11.5F);
        }
      spoken.num_frames = num_tokens * kFramesOfToken;
      all.push_back(std::move(spoken));
    }
    return all;
  }

  float level_ = -2.0F;  // of the bands that sound

 private:
  Seen& seen_;
};

}  // namespace stoker::train
