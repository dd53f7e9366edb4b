// From a checkpoint and texts to sound: what `stoker synthesize` does.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stoker/base/io/io.h"
#include "stoker/base/json.h"
#include "stoker/cuda/device.h"
#include "stoker/train/loop/learner.h"
#include "stoker/train/loop/voice_record.h"

namespace stoker::train {

struct SpeechRequest {
  std::string checkpoint;  // what load_checkpoint() takes
  std::vector<std::string> texts;
  // Sound files: one for all texts, or one each; none: the one kept in the checkpoint.
  std::vector<std::string> references{};
  std::optional<std::string> language{};    // empty: the checkpoint's
  std::optional<std::string> vocabulary{};  // only to be compared with the checkpoint's
  int num_steps = 16;                       // 4 to 32
  double speed = 1.0;
  std::uint64_t seed = 42;
  std::optional<Device> device{};  // nothing: the CPU
};

struct Speech {
  std::string text;
  std::uint32_t rate_hz = 0;
  std::vector<float> samples;
  std::vector<float> mel;  // [frames, mels]
  std::int64_t num_frames = 0;
  std::int64_t num_mels = 0;
  std::vector<std::int32_t> token_of_frame;
  std::vector<std::string> symbols;  // of the tokens, edges included
};

struct SpeechReport {
  std::vector<Speech> speeches;
  double audio_s = 0;
  double compute_s = 0;                  // from tokens to samples, without loading the model
  double first_use_s = 0;                // a GPU's: its kernels are loaded by a short trial before
  std::vector<std::string> passed_over;  // error lines of newer checkpoints that are not whole
  double rtf() const { return audio_s > 0 ? compute_s / audio_s : 0; }
};

// Tests bring a stand-in.
using MakeLearner = std::function<std::unique_ptr<Learner>(const LearnerOptions&)>;

// Throws Failure: E-SPEAK-…, E-CHECKPOINT-….
SpeechReport speak(Io& io, const SpeechRequest& request, const MakeLearner& make = make_learner);

// The same with a learner that is there already, as at a run's evaluation, and the voice's own
// reference.
SpeechReport speak_with(Learner& learner, const VoiceRecord& voice,
                        const std::vector<std::string>& texts);

}  // namespace stoker::train
