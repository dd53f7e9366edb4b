// Letter-to-sound rules: how words sound that no lexicon lists.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace stoker::data::voice {

// ARPAbet phones with stress digits for `word` (lower case a-z and apostrophes; other bytes are
// silent). Every word gets an answer; it is the likely one, not always the right one.
std::string spell_out_english(std::string_view word);

// The phones of an inflected form built on the phones of its stem: walk + ed, box + es, run + ing.
// `suffix` is "s", "ed", "ing" or "ly".
std::string inflect_english(std::string_view stem_phones, std::string_view suffix);

// `letters` between `before` and `after` sound as `phones`. In contexts: '#' one or more vowel
// letters, '^' one consonant, ':' any number of consonants, '+' one of e i y, '_' the word's edge,
// any other character itself. The first rule that fits wins.
struct SpellingRule {
  std::string_view before;
  std::string_view letters;
  std::string_view after;
  std::string_view phones;
};

// In the manner of Elovitz et al. (1976).
std::span<const SpellingRule> english_spelling_rules();

// Phones with stress digits for `word` (UTF-8). Written vowel signs are obeyed; where the script
// leaves a short vowel out, "a" is put between consonants that cannot be neighbours. Characters
// outside the alphabet are silent.
std::string spell_out_persian(std::string_view word);

// The kasra that marks ezafe in texts with vowel signs, and every other sign above or below
// letters. Sentences are planned with them and written without.
inline constexpr std::string_view kKasra = "\xD9\x90";
std::string drop_vowel_signs(std::string_view text);

}  // namespace stoker::data::voice
