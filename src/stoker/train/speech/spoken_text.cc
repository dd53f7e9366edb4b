#include "stoker/train/speech/spoken_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "stoker/base/utf8.h"
#include "stoker/data/from_settings.h"
#include "stoker/data/voice/timing.h"
#include "stoker/text/normalizer.h"
#include "stoker/train/errors.h"

namespace stoker::train {
namespace {

constexpr std::string_view kPhonemes = "phonemes";

// The first characters of a long one, whole ones.
std::string shown_text(std::string_view text) {
  constexpr std::size_t kShownBytes = 60;
  if (text.size() <= kShownBytes) return fmt::format("\"{}\"", text);
  return fmt::format("\"{}…\"", text.substr(0, find_invalid_utf8(text.substr(0, kShownBytes))));
}

[[noreturn]] void refuse_text(const std::string& text, std::string promised, std::string found) {
  raise({.code = &kSpeakText,
         .place = {.file = shown_text(text)},
         .promised = std::move(promised),
         .found = std::move(found)});
}

[[noreturn]] void refuse_vocabulary(std::string promised, std::string found) {
  raise({.code = &kSpeakVocabulary, .promised = std::move(promised), .found = std::move(found)});
}

text::TokenizerOptions options_of(const VoiceRecord& voice, const std::string& language) {
  text::TokenizerOptions options = data::tokenizer_options_of(voice.settings.text);
  options.language = language;
  options.phones = voice.phones;
  return options;
}

// The tokeniser for the user's language, where it has the checkpoint's symbols.
text::Tokenizer tokenizer_of(const VoiceRecord& voice, const ReadingRules& rules) {
  const std::string& trained = voice.settings.text.vocabulary;
  if (rules.vocabulary && *rules.vocabulary != trained)
    refuse_vocabulary(fmt::format("vocabulary {} of the checkpoint", trained), *rules.vocabulary);
  text::Tokenizer own(options_of(voice, voice.language));
  const auto num_symbols = static_cast<std::int64_t>(own.vocabulary().size());
  if (num_symbols != voice.shape.num_tokens)
    refuse_vocabulary(
        fmt::format("{} symbols, as the model has", voice.shape.num_tokens),
        fmt::format("{} in vocabulary {} for language {}", num_symbols, trained, voice.language));
  if (!rules.language || *rules.language == voice.language) return own;
  text::Tokenizer asked(options_of(voice, *rules.language));
  const bool same_symbols = trained != kPhonemes && vocabulary_digest(asked.vocabulary()) ==
                                                        vocabulary_digest(own.vocabulary());
  if (!same_symbols)
    refuse_vocabulary(fmt::format("language {} of the checkpoint", voice.language),
                      fmt::format("{}, whose symbols are others", *rules.language));
  return asked;
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

std::optional<data::voice::Language> voice_language(std::string_view tag) {
  const std::string_view base = tag.substr(0, tag.find('-'));
  if (base == "en") return data::voice::Language::kEnglish;
  if (base == "fa") return data::voice::Language::kPersian;
  return std::nullopt;
}

// As phonemes.csv of a made data set has them: pauses among the phones, silent ends left out.
std::vector<std::string> pronounced(data::voice::Language language, const std::string& words) {
  const data::voice::SpokenText spoken = data::voice::pronounce(language, words);
  if (spoken.empty()) return {};
  const data::voice::Phone& pause = data::voice::phones_of(language)[0];
  const auto segments = data::voice::plan_timing(spoken, pause, 1.0, {});
  std::vector<std::string> labels;
  for (std::size_t i = 1; i + 1 < segments.size(); ++i) {
    const data::voice::Segment& segment = segments[i];
    labels.push_back(segment.word_index == data::voice::Segment::kNoWord
                         ? std::string(segment.phone->symbol)
                         : spoken[segment.word_index].phones[segment.phone_index].label);
  }
  return labels;
}

std::string_view without_stress(std::string_view label) {
  const bool has_stress = !label.empty() && label.back() >= '0' && label.back() <= '9';
  return has_stress ? label.substr(0, label.size() - 1) : label;
}

bool is_special(const text::SpecialIds& specials, std::int32_t id) {
  return id == specials.pad || id == specials.unknown || id == specials.blank ||
         id == specials.begin || id == specials.end;
}

}  // namespace

TextReader::TextReader(const VoiceRecord& voice, const ReadingRules& rules)
    : language_(rules.language.value_or(voice.language)),
      phones_(voice.phones),
      tokenizer_(tokenizer_of(voice, rules)) {}

std::string TextReader::in_inventory(const std::string& label, const std::string& text) const {
  if (std::find(phones_.begin(), phones_.end(), label) != phones_.end()) return label;
  for (const std::string& phone : phones_)
    if (without_stress(phone) == without_stress(label)) return phone;
  refuse_text(text, fmt::format("one of the {} phones that the model has heard", phones_.size()),
              label);
}

std::string TextReader::as_phones(const std::string& text) const {
  const std::vector<std::string> words = words_of(text);
  const auto is_phone = [this](const std::string& word) {
    return std::find(phones_.begin(), phones_.end(), word) != phones_.end();
  };
  if (!words.empty() && std::all_of(words.begin(), words.end(), is_phone)) return text;
  const std::optional<data::voice::Language> language = voice_language(language_);
  if (!language)
    refuse_text(text, "phones of the checkpoint: only English and Persian words are pronounced",
                fmt::format("words of language {}", language_));
  std::string phones;
  for (const std::string& label :
       pronounced(*language, text::normalizer_for(language_)->normalize(text)))
    phones += (phones.empty() ? "" : " ") + in_inventory(label, text);
  if (phones.empty()) refuse_text(text, "words", "nothing that can be pronounced");
  return phones;
}

SpokenTokens TextReader::read(const std::string& text) const {
  if (find_invalid_utf8(text) != text.size())
    refuse_text(escape_control(text), "UTF-8", "other bytes");
  if (words_of(text).empty()) refuse_text(text, "a text", "nothing but blanks");
  const bool is_phonetic = tokenizer_.vocabulary().name() == kPhonemes;
  text::TokenizeScratch scratch;
  SpokenTokens tokens;
  const text::TokenizeOutcome outcome =
      tokenizer_.tokenize(is_phonetic ? as_phones(text) : text, scratch, tokens.ids);
  if (outcome != text::TokenizeOutcome::kDone) {
    const Error why = text::tokenize_error(outcome, scratch, {});
    refuse_text(text, why.promised.empty() ? "a text that can be spoken" : why.promised, why.found);
  }
  const text::Vocabulary& vocabulary = tokenizer_.vocabulary();
  bool is_heard = false;
  tokens.symbols.emplace_back("<begin>");
  for (const std::int32_t id : tokens.ids) {
    tokens.symbols.push_back(vocabulary.symbol(id));
    is_heard |= !is_special(vocabulary.specials(), id) && tokens.symbols.back() != " ";
  }
  tokens.symbols.emplace_back("<end>");
  if (!is_heard)
    refuse_text(text, fmt::format("a symbol of vocabulary {} ({})", vocabulary.name(), language_),
                "none");
  return tokens;
}

}  // namespace stoker::train
