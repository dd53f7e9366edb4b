// Settings of the way from text to token ids.
#pragma once

#include <string>
#include <tuple>

#include "stoker/config/choices.h"
#include "stoker/config/field.h"

namespace stoker::config {

struct TextSettings {
  static constexpr std::string_view kSection = "text";
  static constexpr std::string_view kTitle = "Text";

  std::string language = "en";
  std::string vocabulary = "characters";
  std::string vocabulary_file;
  std::string cleaner = "auto";
  UnknownCharacters unknown = UnknownCharacters::kUnk;
  bool add_blank = false;
  std::string phonemes_file = "phonemes.csv";

  static constexpr auto fields() {
    using C = TextSettings;
    constexpr Affects kText = Affects::kText;
    return std::tuple{
        field("language", &C::language, "Language of the texts where a row names none.")
            .old("data.language")
            .affects(kText),
        field("vocabulary", &C::vocabulary, "What a token is.")
            .choices("characters bytes myxtts phonemes sentencepiece")
            .affects(kText),
        field("vocabulary_file", &C::vocabulary_file, "Model file of sentencepiece.")
            .affects(kText),
        field("cleaner", &C::cleaner,
              "Normalisation before tokens; auto: the language's own rules.")
            .choices("auto none english persian unicode basic_cleaners english_cleaners "
                     "multilingual_cleaners")
            .affects(kText),
        field("unknown", &C::unknown, "Characters outside the vocabulary.").affects(kText),
        field("add_blank", &C::add_blank, "A blank token between symbols.")
            .old("data.add_blank")
            .affects(kText),
        field("phonemes_file", &C::phonemes_file,
              "Sidecar of the data set for vocabulary phonemes: id|phones a line.")
            .affects(kText),
    };
  }
};

}  // namespace stoker::config
