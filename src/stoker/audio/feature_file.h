// A whole sound file as log-mel frames.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "stoker/audio/mel/log_mel.h"
#include "stoker/audio/prepared_speech.h"
#include "stoker/base/io/io.h"
#include "stoker/config/mel_recipe.h"
#include "stoker/config/sections/feature_settings.h"

namespace stoker::audio {

// What happens to samples before the recipe: rate, trimming and level.
SpeechRule speech_rule(const config::FeatureSettings& settings, const config::MelRecipe& recipe);

struct FileFeatures {
  std::size_t num_frames = 0;
  std::size_t num_mels = 0;
  double audio_s = 0;           // of the file, before trimming
  std::vector<float> values{};  // [frames, mels]
};

// Not thread-safe: keeps its memory from file to file.
class FeatureMaker {
 public:
  // Throws ConfigError for settings that make no recipe.
  explicit FeatureMaker(const config::FeatureSettings& settings);

  const config::MelRecipe& recipe() const noexcept { return mel_.recipe(); }
  std::size_t num_mels() const noexcept { return mel_.num_mels(); }
  const LogMel& mel() const noexcept { return mel_; }

  // E-SOUND-SHORT when the file gives no frame.
  Result<FileFeatures> run(Io& io, const std::string& path);
  // Of samples in memory, as of a file that holds them; E-WAV-RATE for a rate that no file has.
  Result<FileFeatures> run(const InterleavedSamples& samples, std::uint32_t rate_hz);
  // The same from samples that are prepared already.
  FileFeatures run(std::span<const std::int16_t> samples);

 private:
  Result<FileFeatures> features_of(std::span<const std::int16_t> prepared, const Place& place);

  LogMel mel_;
  PreparedSpeech speech_;
};

}  // namespace stoker::audio
