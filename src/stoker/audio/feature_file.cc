#include "stoker/audio/feature_file.h"

#include <fmt/format.h>

#include "stoker/audio/errors.h"
#include "stoker/audio/file/coded_errors.h"
#include "stoker/audio/file/wav_format.h"
#include "stoker/base/number_text.h"
#include "stoker/config/settings.h"

namespace stoker::audio {

SpeechRule speech_rule(const config::FeatureSettings& settings, const config::MelRecipe& recipe) {
  SpeechRule rule{.rate_hz = static_cast<std::uint32_t>(recipe.sample_rate_hz)};
  if (settings.trim_silence)
    rule.trim = TrimRule{.top_db = static_cast<float>(settings.trim_top_db)};
  switch (settings.loudness) {
    case config::LoudnessRule::kLufs:
      return rule.level = LevelRule::kLufs, rule.target = settings.target_loudness_lufs, rule;
    case config::LoudnessRule::kRms:
      return rule.level = LevelRule::kRms, rule.target = settings.target_rms_db, rule;
    case config::LoudnessRule::kPeak:
      return rule.level = LevelRule::kPeak, rule.target = settings.target_peak, rule;
    case config::LoudnessRule::kNone:
      break;
  }
  return rule;
}

FeatureMaker::FeatureMaker(const config::FeatureSettings& settings)
    : mel_(config::recipe_of(settings), simd_level().take_or_raise(), MelArithmetic::kExact),
      speech_(speech_rule(settings, mel_.recipe())) {}

Result<FileFeatures> FeatureMaker::run(Io& io, const std::string& path) {
  Result<File> file = open_file(io, path, OpenFor::kRead);
  if (!file) return std::move(file).error();
  Result<SoundInfo> info = read_sound_info(*file);
  if (!info) return std::move(info).error();
  Result<std::span<const std::int16_t>> samples = speech_.load(*file, *info, 0, info->num_samples);
  if (!samples) return std::move(samples).error();
  Result<FileFeatures> features = features_of(*samples, {.file = path});
  if (features) features->audio_s = static_cast<double>(info->num_samples) / info->rate_hz;
  return features;
}

Result<FileFeatures> FeatureMaker::run(const InterleavedSamples& samples, std::uint32_t rate_hz) {
  if (rate_hz < kMinWavRateHz || rate_hz > kMaxWavRateHz)
    return Error{.code = &kWavRate,
                 .promised = fmt::format("a rate of {} to {} Hz", grouped(kMinWavRateHz),
                                         grouped(kMaxWavRateHz)),
                 .found = fmt::format("{} Hz", grouped(rate_hz))};
  const Result<std::span<const std::int16_t>> prepared = speech_.prepare(samples, rate_hz);
  if (!prepared) return prepared.error();
  return features_of(*prepared, {});
}

Result<FileFeatures> FeatureMaker::features_of(std::span<const std::int16_t> prepared,
                                               const Place& place) {
  FileFeatures features = run(prepared);
  if (features.num_frames == 0)
    return Error{
        .code = &kSoundShort,
        .place = place,
        .promised = fmt::format("at least {} samples for one frame", mel_.recipe().hop_samples),
        .found = fmt::format("{} samples", grouped(prepared.size()))};
  return features;
}

FileFeatures FeatureMaker::run(std::span<const std::int16_t> samples) {
  FileFeatures features{.num_frames = mel_.num_frames(samples.size()), .num_mels = mel_.num_mels()};
  features.audio_s =
      static_cast<double>(samples.size()) / static_cast<double>(mel_.recipe().sample_rate_hz);
  features.values.resize(features.num_frames * features.num_mels);
  LogMel::Workspace workspace = mel_.make_workspace(samples.size());
  mel_.run(samples, mel_view(features.values, features.num_mels), workspace);
  return features;
}

}  // namespace stoker::audio
