// What the settings ask to be made of each utterance: mel recipe, tokenizers and speech rule, with
// the digests that name them. A cache is built from it; a feed without a cache computes with it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stoker/audio/mel/log_mel.h"
#include "stoker/audio/prepared_speech.h"
#include "stoker/base/digest/digest.h"
#include "stoker/base/result.h"
#include "stoker/base/simd_level.h"
#include "stoker/config/settings.h"
#include "stoker/data/index.h"
#include "stoker/data/vocabulary_fit.h"
#include "stoker/text/phoneme_sidecar.h"
#include "stoker/text/tokenizer.h"

namespace stoker::data {

// Raised whenever the same settings would give other mels or other tokens than before.
inline constexpr int kMelCodeVersion = 4;
inline constexpr int kTextCodeVersion = 1;

// Every setting that features or tokens depend on, code versions and vocabulary among them, as
// names and values with their digests. Needs no index: a language that is auto counts as en, where
// FeatureSpec has the recorded one. Throws for a vocabulary that cannot be read.
struct FeatureIdentity {
  using Values = std::vector<std::pair<std::string, std::string>>;

  explicit FeatureIdentity(const config::Settings& settings);

  Values feature_values;
  Values text_values;
  Digest128 features;
  Digest128 samples;  // PCM16 depends on what happens before the mel, not on the mel
  Digest128 text;
};

// The index must outlive it. Immutable; const access is thread-safe.
class FeatureSpec {
 public:
  // Mels are computed at `level`. Throws ConfigError for settings that cannot be, StorageError for
  // pronunciations or vocabularies that are not there, DataError for texts that do not fit the
  // vocabulary (E-TEXT-MISFIT).
  FeatureSpec(const config::Settings& settings, const Index& index, SimdLevel level);

  const Index& index() const noexcept { return index_; }
  const FeatureIdentity& identity() const noexcept { return identity_; }
  const audio::LogMel& mel() const noexcept { return mel_; }
  // The number format that mels are rounded to, stored or not.
  config::MelDtype mel_dtype() const noexcept { return mel_dtype_; }
  const audio::SpeechRule& speech_rule() const noexcept { return speech_rule_; }
  const audio::SoundPolicy& sound_policy() const noexcept { return sound_policy_; }

  // The pronunciations beside the data set; null for other vocabularies.
  const text::PhonemeSidecar* phonemes() const noexcept { return phonemes_.get(); }
  // What is tokenized: the utterance's text, or its pronunciation where the vocabulary has phones.
  std::string_view spoken_text(const Utterance& utterance) const;
  // Names text and language of an utterance.
  Digest128 text_digest(const Utterance& utterance) const;
  // One tokenizer a language of the index.
  const text::Tokenizer& tokenizer(const Utterance& utterance) const {
    return *tokenizers_[utterance.language];
  }
  // Names everything that tokens depend on besides the text.
  Digest128 tokenizer_digest() const;

 private:
  void set_tokenizers(const config::TextSettings& settings);

  const Index& index_;
  audio::LogMel mel_;
  FeatureIdentity identity_;
  config::MelDtype mel_dtype_;
  audio::SpeechRule speech_rule_;
  audio::SoundPolicy sound_policy_;
  std::unique_ptr<text::PhonemeSidecar> phonemes_;
  LanguageTokenizers tokenizers_;
};

// Makes tokens; one a worker, because it keeps its memory. The spec must outlive it.
class UtteranceTokenizer {
 public:
  explicit UtteranceTokenizer(const FeatureSpec& spec) : spec_(spec) {}

  // The tokens live until the next call. An Error says why the text gives none.
  Result<std::span<const std::int32_t>> tokenize(const Utterance& utterance);

 private:
  const FeatureSpec& spec_;
  text::TokenizeScratch scratch_;
  std::vector<std::int32_t> tokens_;
};

}  // namespace stoker::data
