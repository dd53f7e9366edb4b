#include "stoker/data/features/feature_spec.h"

#include "stoker/base/bytes.h"
#include "stoker/base/io/io.h"
#include "stoker/config/settings_text.h"
#include "stoker/data/data_set_record.h"
#include "stoker/data/from_settings.h"
#include "stoker/text/errors.h"
#include "stoker/text/sentencepiece/vocabulary.h"

namespace stoker::data {
namespace {

constexpr std::uint64_t kMaxSidecarBytes = std::uint64_t{1} << 30U;

using Values = FeatureIdentity::Values;

Digest128 digest_of_values(const Values& values) {
  DigestStream stream;
  for (const auto& [name, value] : values) {
    stream.add_text(name);
    stream.add_text(value);
  }
  return stream.finish();
}

Values feature_values_of(const config::Settings& settings) {
  Values values = config::group_values(settings, config::Affects::kFeatures);
  values.emplace_back("code.mel", std::to_string(kMelCodeVersion));
  return values;
}

Values text_values_of(config::Settings settings) {
  if (settings.text.language.is_auto()) settings.text.language = kUsualLanguage;
  Values values = config::group_values(settings, config::Affects::kText);
  values.emplace_back("code.text", std::to_string(kTextCodeVersion));
  if (settings.text.vocabulary == "sentencepiece")
    values.emplace_back("text.vocabulary_content",
                        text::sentencepiece::model_digest(settings.text.vocabulary_file));
  return values;
}

// A recorded language and the same one given by hand are one setting.
config::Settings with_language(config::Settings settings, const Index& index) {
  if (!settings.text.language.is_auto() || index.sources().empty()) return settings;
  const std::string& recorded = index.sources().front().recorded_language;
  if (!recorded.empty()) settings.text.language = recorded;
  return settings;
}

Digest128 samples_digest(Values values) {
  std::erase_if(values, [](const auto& value) {
    return (value.first.starts_with("mel.") && value.first != "mel.sample_rate_hz") ||
           value.first == "cache.dtype" || value.first == "code.mel";
  });
  return digest_of_values(values);
}

std::unique_ptr<text::PhonemeSidecar> load_phonemes(const config::TextSettings& settings,
                                                    const Index& index) {
  const File& root = index.sources().front().root;
  Result<File> file = open_beneath(root, settings.phonemes_file, OpenFor::kRead);
  if (!file) raise(std::move(file).error());
  const std::vector<std::byte> bytes = read_whole(*file, kMaxSidecarBytes).take_or_raise();
  return std::make_unique<text::PhonemeSidecar>(
      text::PhonemeSidecar::parse(view_text(bytes), file->path()).take_or_raise());
}

}  // namespace

FeatureIdentity::FeatureIdentity(const config::Settings& settings)
    : feature_values(feature_values_of(settings)),
      text_values(text_values_of(settings)),
      features(digest_of_values(feature_values)),
      samples(samples_digest(feature_values)),
      text(digest_of_values(text_values)) {}

FeatureSpec::FeatureSpec(const config::Settings& settings, const Index& index, SimdLevel level)
    : index_(index),
      mel_(config::recipe_of(settings.features), level),
      identity_(with_language(settings, index)),
      mel_dtype_(settings.cache.dtype),
      speech_rule_(speech_rule_of(settings)),
      sound_policy_(index_options_of(settings).sound) {
  set_tokenizers(settings.text);
}

void FeatureSpec::set_tokenizers(const config::TextSettings& settings) {
  text::TokenizerOptions options = tokenizer_options_of(settings);
  if (settings.vocabulary == "phonemes") {
    phonemes_ = load_phonemes(settings, index_);
    options.phones = phonemes_->symbols();
  }
  tokenizers_ = make_tokenizers(std::move(options), index_.languages());
  if (phonemes_ != nullptr) return;  // the inventory is made of the texts
  if (auto misfit = vocabulary_misfit(index_, tokenizers_, settings.max_unknown_fraction))
    raise(std::move(*misfit));
}

std::string_view FeatureSpec::spoken_text(const Utterance& utterance) const {
  if (phonemes_ == nullptr) return utterance.text;
  const std::string* phones = phonemes_->find(utterance.id);
  return phones == nullptr ? std::string_view() : std::string_view(*phones);
}

Digest128 FeatureSpec::text_digest(const Utterance& utterance) const {
  DigestStream stream;
  stream.add_text(spoken_text(utterance));
  stream.add_text(index_.languages()[utterance.language]);
  return stream.finish();
}

Digest128 FeatureSpec::tokenizer_digest() const {
  DigestStream digest;
  digest.add_text(identity_.text.hex());
  for (const auto& tokenizer : tokenizers_) digest.add_text(tokenizer->identity());
  return digest.finish();
}

Result<std::span<const std::int32_t>> UtteranceTokenizer::tokenize(const Utterance& utterance) {
  const text::TokenizeOutcome outcome =
      spec_.tokenizer(utterance).tokenize(spec_.spoken_text(utterance), scratch_, tokens_);
  if (outcome == text::TokenizeOutcome::kDone) return std::span<const std::int32_t>(tokens_);
  Place place;
  place.file = std::string(utterance.id);
  place.line = utterance.line;
  return text::tokenize_error(outcome, scratch_, place);
}

}  // namespace stoker::data
