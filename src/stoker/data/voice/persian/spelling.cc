#include "stoker/data/voice/spelling.h"

#include <array>
#include <vector>

namespace stoker::data::voice {
namespace {

struct Letter {
  std::string_view sign;
  std::string_view phone;
};

// Several letters share one sound; Arabic kept them apart, Persian does not.
constexpr std::array kConsonants{
    Letter{"ب", "b"}, Letter{"پ", "p"}, Letter{"ت", "t"}, Letter{"ط", "t"}, Letter{"ث", "s"},
    Letter{"س", "s"}, Letter{"ص", "s"}, Letter{"ج", "J"}, Letter{"چ", "C"}, Letter{"ح", "h"},
    Letter{"ه", "h"}, Letter{"خ", "x"}, Letter{"د", "d"}, Letter{"ذ", "z"}, Letter{"ز", "z"},
    Letter{"ض", "z"}, Letter{"ظ", "z"}, Letter{"ر", "r"}, Letter{"ژ", "Z"}, Letter{"ش", "S"},
    Letter{"ع", "Q"}, Letter{"ء", "Q"}, Letter{"ئ", "Q"}, Letter{"غ", "q"}, Letter{"ق", "q"},
    Letter{"ف", "f"}, Letter{"ک", "k"}, Letter{"ك", "k"}, Letter{"گ", "g"}, Letter{"ل", "l"},
    Letter{"م", "m"}, Letter{"ن", "n"}};
constexpr std::array kVowelSigns{Letter{"َ", "a"}, Letter{"ِ", "e"}, Letter{"ُ", "o"},
                                 Letter{"آ", "A"}};
constexpr std::string_view kAlef = "ا";
constexpr std::string_view kVav = "و";
constexpr std::string_view kYeh = "ی";
constexpr std::string_view kArabicYeh = "ي";
constexpr std::string_view kHeh = "ه";

std::vector<std::string_view> letters_of(std::string_view word) {
  std::vector<std::string_view> letters;
  for (std::size_t i = 0; i < word.size();) {
    std::size_t end = i + 1;
    while (end < word.size() && (static_cast<unsigned char>(word[end]) & 0xC0U) == 0x80U) ++end;
    letters.push_back(word.substr(i, end - i));
    i = end;
  }
  return letters;
}

template <std::size_t N>
std::string_view phone_of(const std::array<Letter, N>& table, std::string_view sign) {
  for (const Letter& letter : table) {
    if (letter.sign == sign) return letter.phone;
  }
  return {};
}

bool is_vowel(std::string_view phone) {
  for (const std::string_view vowel : {"i", "e", "a", "A", "o", "u", "ey", "ow"}) {
    if (phone == vowel) return true;
  }
  return false;
}

// Alef, vav, yeh and a final heh are vowels or consonants by their place.
std::string_view weak_letter(const std::vector<std::string_view>& letters, std::size_t i,
                             bool after_consonant) {
  const bool first = i == 0;
  const bool last = i + 1 == letters.size();
  const bool before_alef = !last && letters[i + 1] == kAlef;
  if (letters[i] == kAlef) return first ? "a" : "A";
  if (letters[i] == kVav) return after_consonant && !before_alef ? "u" : "v";
  if (letters[i] == kYeh || letters[i] == kArabicYeh) {
    return after_consonant && !before_alef ? "i" : "y";
  }
  if (letters[i] == kHeh && last && after_consonant && !first) return "e";
  return {};
}

std::vector<std::string_view> read_letters(std::string_view word) {
  const auto letters = letters_of(word);
  std::vector<std::string_view> phones;
  for (std::size_t i = 0; i < letters.size(); ++i) {
    const bool after_consonant = !phones.empty() && !is_vowel(phones.back());
    std::string_view phone = weak_letter(letters, i, after_consonant);
    if (phone.empty()) phone = phone_of(kVowelSigns, letters[i]);
    if (phone.empty()) phone = phone_of(kConsonants, letters[i]);
    if (!phone.empty()) phones.push_back(phone);
  }
  return phones;
}

// No Persian syllable begins with two consonants, and at most two close the word.
std::vector<std::string_view> put_in_short_vowels(const std::vector<std::string_view>& phones) {
  std::vector<std::string_view> out;
  for (std::size_t i = 0; i < phones.size(); ++i) {
    out.push_back(phones[i]);
    if (is_vowel(phones[i])) continue;
    const bool opens_syllable = i == 0 || !is_vowel(phones[i - 1]);
    const bool next_is_consonant = i + 1 < phones.size() && !is_vowel(phones[i + 1]);
    const bool closed = out.size() >= 2 && is_vowel(out[out.size() - 2]);
    if (opens_syllable && next_is_consonant && !closed) out.push_back("a");
  }
  return out;
}

}  // namespace

std::string spell_out_persian(std::string_view word) {
  const auto phones = put_in_short_vowels(read_letters(word));
  std::size_t last_vowel = phones.size();
  for (std::size_t i = 0; i < phones.size(); ++i) {
    if (is_vowel(phones[i])) last_vowel = i;
  }
  std::string out;
  if (!phones.empty() && is_vowel(phones.front())) out = "Q";
  for (std::size_t i = 0; i < phones.size(); ++i) {
    if (!out.empty()) out += ' ';
    out += phones[i];
    if (is_vowel(phones[i])) out += i == last_vowel ? '1' : '0';
  }
  return out;
}

std::string drop_vowel_signs(std::string_view text) {
  std::string out;
  for (const std::string_view letter : letters_of(text)) {
    const bool is_sign = letter.size() == 2 && letter[0] == '\xD9' &&
                         static_cast<unsigned char>(letter[1]) >= 0x8B &&
                         static_cast<unsigned char>(letter[1]) <= 0x92;
    if (!is_sign) out += letter;
  }
  return out;
}

}  // namespace stoker::data::voice
