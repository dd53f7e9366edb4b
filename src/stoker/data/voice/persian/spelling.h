// Persian by its script: a reading of words that no lexicon lists, short vowels guessed.
#pragma once

#include <string>
#include <string_view>

namespace stoker::data::voice {

// Phones with stress digits for `word` (UTF-8). Written vowel signs are obeyed; where the script
// leaves a short vowel out, "a" is put between consonants that cannot stand together. Characters
// outside the alphabet are silent.
std::string spell_out_persian(std::string_view word);

// The kasra that marks ezafe in texts with vowel signs, and every other sign above or below
// letters. Sentences are planned with them and written without.
inline constexpr std::string_view kKasra = "\xD9\x90";
std::string drop_vowel_signs(std::string_view text);

}  // namespace stoker::data::voice
