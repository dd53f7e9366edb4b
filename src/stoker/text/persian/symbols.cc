#include <array>

#include "stoker/text/persian/rules.h"
#include "stoker/text/scan.h"

namespace stoker::text::persian {
namespace {

struct Phrase {
  std::string_view written;
  std::string_view spoken;  // empty: silent
};

constexpr std::array<Phrase, 18> kAbbreviations{{{"ه.ش.", "هجری شمسی"},
                                                 {"ه.ش", "هجری شمسی"},
                                                 {"ه.ق.", "هجری قمری"},
                                                 {"ه.ق", "هجری قمری"},
                                                 {"ق.م.", "قبل از میلاد"},
                                                 {"ق.م", "قبل از میلاد"},
                                                 {"ق.ظ.", "قبل از ظهر"},
                                                 {"ق.ظ", "قبل از ظهر"},
                                                 {"ب.ظ.", "بعد از ظهر"},
                                                 {"ب.ظ", "بعد از ظهر"},
                                                 {"ر.ک.", "رجوع کنید به"},
                                                 {"ر.ک", "رجوع کنید به"},
                                                 {"ج.ا.ا.", "جمهوری اسلامی ایران"},
                                                 {"ج.ا.ا", "جمهوری اسلامی ایران"},
                                                 {"ج.ا.", "جمهوری اسلامی"},
                                                 {"و غ.", "و غیره"},
                                                 {"م.م.", "میلی‌متر"},
                                                 {"س.م.", "سانتی‌متر"}}};

// One letter that means a word only in front of a number.
constexpr std::array<Phrase, 6> kBeforeNumber{{{"ص.", "صفحه"},
                                               {"ص", "صفحه"},
                                               {"صص.", "صفحات"},
                                               {"ج.", "جلد"},
                                               {"ش.", "شماره"},
                                               {"ف.", "فصل"}}};

constexpr std::array<Phrase, 6> kHonorifics{{{"(ص)", "صلی الله علیه و آله"},
                                             {"(ع)", "علیه السلام"},
                                             {"(س)", "سلام الله علیها"},
                                             {"(ره)", "رحمت الله علیه"},
                                             {"(عج)", "عجل الله تعالی فرجه"},
                                             {"(رض)", "رضی الله عنه"}}};

constexpr std::array<Phrase, 26> kSymbols{{{"&", "و"},
                                           {"%", "درصد"},
                                           {"@", "ات"},
                                           {"+", "به علاوه"},
                                           {"=", "مساوی"},
                                           {"×", "ضربدر"},
                                           {"÷", "تقسیم بر"},
                                           {"±", "مثبت منفی"},
                                           {"°", "درجه"},
                                           {"$", "دلار"},
                                           {"€", "یورو"},
                                           {"£", "پوند"},
                                           {"<", "کوچکتر از"},
                                           {">", "بزرگتر از"},
                                           {"≤", "کوچکتر یا مساوی"},
                                           {"≥", "بزرگتر یا مساوی"},
                                           {"≈", "تقریبا"},
                                           {"*", ""},
                                           {"_", ""},
                                           {"|", ""},
                                           {"~", ""},
                                           {"^", ""},
                                           {"•", ""},
                                           {"\\", ""},
                                           {"`", ""},
                                           {"…", "..."}}};

std::size_t say(std::string_view text, std::size_t end, std::string_view word, std::string& out) {
  say_word(text, end, word, out);
  return end;
}

template <std::size_t N>
const Phrase* find_at(const std::array<Phrase, N>& phrases, std::string_view text,
                      std::size_t at) noexcept {
  for (const Phrase& phrase : phrases) {
    if (has_at(text, at, phrase.written)) return &phrase;
  }
  return nullptr;
}

// Latin marks between Persian words become the Persian ones.
std::string_view persian_mark(std::string_view text, std::size_t at) noexcept {
  const bool after_persian = at > 0 && static_cast<unsigned char>(text[at - 1]) >= 0x80;
  if (!after_persian) return {};
  switch (text[at]) {
    case ',':
      return "،";
    case ';':
      return "؛";
    case '?':
      return "؟";
    default:
      return {};
  }
}

}  // namespace

std::size_t read_abbreviation(std::string_view text, std::size_t at, std::string& out) {
  if (at > 0 && is_word_or_digit(text, at - 1)) return 0;
  const Phrase* phrase = find_at(kAbbreviations, text, at);
  if (phrase != nullptr && !is_word_or_digit(text, at + phrase->written.size())) {
    out += phrase->spoken;
    return phrase->written.size();
  }
  for (const Phrase& entry : kBeforeNumber) {
    const std::size_t end = at + entry.written.size();
    if (!has_at(text, at, entry.written) || !is_digit(peek(text, spaces_end(text, end)))) continue;
    out += entry.spoken;
    out += ' ';
    return end - at;
  }
  return 0;
}

std::size_t read_symbol(std::string_view text, std::size_t at, std::string& out) {
  const Phrase* honorific = find_at(kHonorifics, text, at);
  if (honorific != nullptr)
    return say(text, at + honorific->written.size(), honorific->spoken, out) - at;
  const std::string_view mark = persian_mark(text, at);
  if (!mark.empty()) {
    out += mark;
    return 1;
  }
  if (text[at] == '#')
    return say(text, at + 1, is_digit(peek(text, at + 1)) ? "شماره" : "هشتگ", out) - at;
  if (text[at] == '/' && at > 0 && is_word_byte(text, at - 1) && is_word_byte(text, at + 1)) {
    const std::string_view next = word_after(text, at + 1);
    const bool is_rate = next == "ساعت" || next == "ثانیه" || next == "دقیقه";
    out += is_rate ? " بر " : " ";
    return 1;
  }
  // example.com, user@site.ir
  if (text[at] == '.' && at > 0 && is_letter(text[at - 1]) && is_lower(peek(text, at + 1)))
    return say(text, at + 1, "دات", out) - at;
  const Phrase* symbol = find_at(kSymbols, text, at);
  return symbol == nullptr ? 0 : say(text, at + symbol->written.size(), symbol->spoken, out) - at;
}

}  // namespace stoker::text::persian
