#include "stoker/data/from_settings.h"

#include <string>
#include <utility>

#include "stoker/audio/loudness.h"
#include "stoker/base/number_text.h"
#include "stoker/config/errors.h"
#include "stoker/config/sections/data_settings.h"

namespace stoker::data {
namespace {

std::string columns_text(const config::StringMap& columns) {
  std::string text;
  for (const auto& [field, column] : columns) {
    if (!text.empty()) text += ',';
    text.append(field).append("=").append(column);
  }
  return text;
}

SourceOptions single_source(const config::Settings& settings) {
  const config::DataSettings& data = settings.data;
  SourceOptions source;
  source.path = data.path;
  source.metadata_train = data.metadata_train_file;
  source.metadata_eval = data.metadata_eval_file;
  source.wavs_train = data.wavs_train_dir;
  source.wavs_eval = data.wavs_eval_dir;
  source.columns = columns_text(data.columns);
  source.audio_root = data.audio_root;
  source.language = settings.text.language.value_or(std::string());
  return source;
}

std::vector<SourceOptions> sources_of(const config::Settings& settings) {
  if (settings.data.sources.empty()) return {single_source(settings)};
  std::vector<SourceOptions> sources;
  for (const config::MixedSource& mixed : settings.data.sources) {
    SourceOptions source = single_source(settings);
    source.path = mixed.data;
    source.name = mixed.name;
    source.weight = mixed.weight;
    if (!mixed.language.empty()) source.language = mixed.language;
    sources.push_back(std::move(source));
  }
  return sources;
}

SplitOptions splits_of(const config::Settings& settings) {
  const config::DataSettings& data = settings.data;
  SplitOptions splits;
  splits.split = data.split;
  splits.train_split = data.train_split;
  splits.val_split = data.val_split;
  splits.train_subset_fraction = data.train_subset_fraction;
  splits.eval_subset_fraction = data.eval_subset_fraction;
  splits.subset_seed = static_cast<std::uint64_t>(data.subset_seed);
  splits.seed = static_cast<std::uint64_t>(settings.run.seed);
  return splits;
}

void check_loudness_rate(std::uint32_t rate_hz) {
  if (rate_hz >= audio::kMinLoudnessRateHz) return;
  raise({.code = &config::kConfigConflict,
         .promised = "features.loudness lufs with a sample_rate of at least " +
                     grouped(audio::kMinLoudnessRateHz) + " Hz",
         .found = grouped(rate_hz) + " Hz"});
}

UserLimits limits_of(const config::RowSettings& rows) {
  UserLimits limits;
  limits.min_duration_s = rows.min_audio_s;
  if (rows.max_audio_s) limits.max_duration_s = *rows.max_audio_s;
  limits.min_text_length = static_cast<std::uint64_t>(rows.min_text_length);
  if (rows.max_text_length)
    limits.max_text_length = static_cast<std::uint64_t>(*rows.max_text_length);
  if (rows.max_mel_frames) limits.max_mel_frames = static_cast<std::uint64_t>(*rows.max_mel_frames);
  return limits;
}

SpeakerOptions speakers_of(const config::RowSettings& rows) {
  SpeakerOptions speakers;
  if (!rows.enable_multispeaker.is_auto())
    speakers.from = *rows.enable_multispeaker ? SpeakerSource::kIds : SpeakerSource::kOne;
  speakers.id_pattern = rows.speaker_id_pattern;
  speakers.max_speakers = static_cast<std::uint32_t>(rows.max_speakers);
  return speakers;
}

audio::SoundPolicy sound_policy_of(const config::DataSettings& data) {
  audio::SoundPolicy policy;
  policy.allow_streamed = data.allow_streamed;
  policy.allow_odd_data = data.allow_odd_data;
  policy.allow_mix = data.allow_mix;
  return policy;
}

}  // namespace

IndexOptions index_options_of(const config::Settings& settings) {
  const config::DataSettings& data = settings.data;
  const config::MelRecipe recipe = config::recipe_of(settings.features);
  IndexOptions options;
  options.sources = sources_of(settings);
  options.splits = splits_of(settings);
  options.limits = limits_of(settings.rows);
  options.speakers = speakers_of(settings.rows);
  options.sound = sound_policy_of(data);
  options.bad_inputs = data.bad_inputs;
  options.max_bad_fraction = data.max_bad_fraction;
  options.max_bad_rows = static_cast<std::uint64_t>(data.max_bad_rows);
  options.extra_pipes = data.extra_pipes;
  options.invisible = data.invisible;
  options.links = data.links;
  options.other_rates = data.other_rates;
  options.rate_hz = static_cast<std::uint32_t>(recipe.sample_rate_hz);
  options.hop_samples = static_cast<std::uint32_t>(recipe.hop_samples);
  options.pace_factor = settings.rows.text_rate_factor;
  options.max_unknown_fraction = settings.text.max_unknown_fraction;
  if (settings.loader.num_workers)
    options.num_workers = static_cast<unsigned>(*settings.loader.num_workers);
  return options;
}

audio::SpeechRule speech_rule_of(const config::Settings& settings) {
  const config::FeatureSettings& features = settings.features;
  audio::SpeechRule rule;
  rule.rate_hz = static_cast<std::uint32_t>(config::recipe_of(features).sample_rate_hz);
  if (features.trim_silence) {
    audio::TrimRule trim;
    trim.top_db = static_cast<float>(features.trim_top_db);
    rule.trim = trim;
  }
  switch (features.loudness) {
    case config::LoudnessRule::kNone:
      break;
    case config::LoudnessRule::kLufs:
      check_loudness_rate(rule.rate_hz);
      rule.level = audio::LevelRule::kLufs;
      rule.target = features.target_loudness_lufs;
      break;
    case config::LoudnessRule::kRms:
      rule.level = audio::LevelRule::kRms;
      rule.target = features.target_rms_db;
      break;
    case config::LoudnessRule::kPeak:
      rule.level = audio::LevelRule::kPeak;
      rule.target = features.target_peak;
      break;
  }
  return rule;
}

text::TokenizerOptions tokenizer_options_of(const config::TextSettings& settings) {
  text::TokenizerOptions options;
  if (!settings.language.value_or("").empty()) options.language = *settings.language;
  options.vocabulary = settings.vocabulary;
  options.add_blank = settings.add_blank;
  options.cleaner = settings.cleaner;
  options.model_file = settings.vocabulary_file;
  const bool has_unknown_id = settings.vocabulary != "myxtts" && settings.vocabulary != "bytes";
  if (settings.unknown == config::UnknownCharacters::kReject)
    options.unknown = text::UnknownPolicy::kReject;
  else if (settings.unknown == config::UnknownCharacters::kUnk && has_unknown_id)
    options.unknown = text::UnknownPolicy::kUnknownId;
  return options;
}

}  // namespace stoker::data
