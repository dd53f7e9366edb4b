// What a checkpoint says about its voice besides the weights, so that it speaks without the data
// set that it was trained on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stoker/base/json.h"
#include "stoker/config/settings.h"
#include "stoker/train/checkpoint/run_folder.h"
#include "stoker/train/loop/learner.h"

namespace stoker::train {

// A log-mel as the recipe makes it: the voice that is spoken with where nobody names another.
struct ReferenceMel {
  std::int64_t num_frames = 0;
  std::int64_t num_mels = 0;
  std::vector<float> values;  // [frames, mels]

  bool operator==(const ReferenceMel&) const = default;
};

struct VoiceRecord {
  ModelShape shape{};
  MelScale scale{};
  config::Settings settings{};        // the recipe and the text front end are read from it
  std::string language = "en";        // of the data set, where text.language is auto
  std::vector<std::string> phones{};  // the inventory, for text.vocabulary phonemes
  std::optional<ReferenceMel> reference{};
};

// Adds the keys shape, mel_scale, settings, language and phones to checkpoint.state, and the
// reference to checkpoint.ema as the tensor kReferenceName.
inline constexpr std::string_view kReferenceName = "reference.mel";
void put_voice(const VoiceRecord& voice, Checkpoint& checkpoint);

// The same from a checkpoint of `folder`; takes the reference out of checkpoint.ema, whose other
// tensors are those of the model. E-CHECKPOINT-BAD where something is absent or not of its kind.
VoiceRecord take_voice(Checkpoint& checkpoint, const std::string& folder);

}  // namespace stoker::train
