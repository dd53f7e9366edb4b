#include "stoker/train/speech/reference_sound.h"

#include <fmt/format.h>

#include <cmath>
#include <span>
#include <vector>

#include "stoker/audio/feature_file.h"
#include "stoker/audio/file/sound_file.h"
#include "stoker/train/errors.h"

namespace stoker::train {
namespace {

constexpr double kShortestS = 0.5;
constexpr double kSilenceDb = -60.0;  // below full scale, over the part that is used

[[noreturn]] void refuse(const std::string& path, std::string promised, std::string found) {
  raise({.code = &kSpeakReference,
         .place = {.file = path},
         .promised = std::move(promised),
         .found = std::move(found)});
}

double level_db(std::span<const std::int16_t> samples) {
  double sum = 0;
  for (const std::int16_t sample : samples) sum += static_cast<double>(sample) * sample;
  const double mean = sum / static_cast<double>(samples.size()) / (32768.0 * 32768.0);
  return 10.0 * std::log10(mean + 1e-12);
}

// Where that many samples hold the most energy.
std::span<const std::int16_t> loudest_part(std::span<const std::int16_t> samples,
                                           std::size_t num_samples) {
  if (samples.size() <= num_samples) return samples;
  const auto energy = [&](std::size_t i) {
    return static_cast<std::int64_t>(samples[i]) * samples[i];
  };
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < num_samples; ++i) sum += energy(i);
  std::int64_t most = sum;
  std::size_t first = 0;
  for (std::size_t i = num_samples; i < samples.size(); ++i) {
    sum += energy(i) - energy(i - num_samples);
    if (sum > most) {
      most = sum;
      first = i - num_samples + 1;
    }
  }
  return samples.subspan(first, num_samples);
}

}  // namespace

ReferenceMel load_reference(Io& io, const std::string& path, const VoiceRecord& voice) {
  audio::FeatureMaker maker(voice.settings.features);
  audio::PreparedSpeech speech(audio::speech_rule(voice.settings.features, maker.recipe()));
  const File file = open_file(io, path, OpenFor::kRead).take_or_raise();
  const audio::SoundInfo info = audio::read_sound_info(file).take_or_raise();
  const std::span<const std::int16_t> all =
      speech.load(file, info, 0, info.num_samples).take_or_raise();
  const auto rate_hz = static_cast<double>(maker.recipe().sample_rate_hz);
  const double audio_s = static_cast<double>(all.size()) / rate_hz;
  if (audio_s < kShortestS)
    refuse(path, fmt::format("at least {} s of speech", kShortestS),
           fmt::format("{:.2f} s", audio_s));
  const auto most_samples =
      static_cast<std::size_t>(voice.shape.reference_frames * maker.recipe().hop_samples);
  const std::span<const std::int16_t> used = loudest_part(all, most_samples);
  if (level_db(used) < kSilenceDb)
    refuse(path, "speech", fmt::format("silence ({:.0f} dB below full scale)", -level_db(used)));
  audio::FileFeatures mel = maker.run(used);
  const auto most_frames = static_cast<std::size_t>(voice.shape.reference_frames);
  mel.num_frames = std::min(mel.num_frames, most_frames);
  mel.values.resize(mel.num_frames * mel.num_mels);
  return {.num_frames = static_cast<std::int64_t>(mel.num_frames),
          .num_mels = static_cast<std::int64_t>(mel.num_mels),
          .values = std::move(mel.values)};
}

}  // namespace stoker::train
