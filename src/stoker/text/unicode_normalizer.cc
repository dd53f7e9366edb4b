#include "stoker/text/normalizer.h"

#include <unicode/dcfmtsym.h>
#include <unicode/rbnf.h>
#include <unicode/uchar.h>
#include <unicode/unistr.h>

#include "stoker/base/utf8.h"
#include "stoker/text/characters.h"
#include "stoker/text/scan.h"

namespace stoker::text {
namespace {

constexpr std::uint32_t kVersion = 1;
constexpr std::uint32_t kSoftHyphen = 0xAD;  // ICU marks syllables of long number words with it

// Digits of every script become 0–9; quotes, dashes and spaces as for Latin scripts.
bool map_default(std::uint32_t code_point, std::string& out) {
  if (code_point >= 0x80 &&
      u_charType(static_cast<UChar32>(code_point)) == U_DECIMAL_DIGIT_NUMBER) {
    out += static_cast<char>('0' + u_charDigitValue(static_cast<UChar32>(code_point)));
    return true;
  }
  return map_latin(code_point, out);
}

char ascii_separator(const icu::DecimalFormatSymbols& symbols,
                     icu::DecimalFormatSymbols::ENumberFormatSymbol which) {
  const icu::UnicodeString& mark = symbols.getConstSymbol(which);
  return mark.length() == 1 && mark[0] < 0x80 ? static_cast<char>(mark[0]) : ' ';
}

// ICU answers with the root rules or with those of the process locale when it has none.
bool speaks(const icu::RuleBasedNumberFormat& words, const icu::Locale& locale) {
  UErrorCode status = U_ZERO_ERROR;
  const icu::Locale actual = words.getLocale(ULOC_ACTUAL_LOCALE, status);
  return U_SUCCESS(status) != 0 &&
         std::string_view(actual.getLanguage()) == std::string_view(locale.getLanguage());
}

class UnicodeNormalizer final : public Normalizer {
 public:
  explicit UnicodeNormalizer(const std::string& language) {
    const icu::Locale locale = icu::Locale::createFromName(language.c_str());
    UErrorCode status = U_ZERO_ERROR;
    const icu::DecimalFormatSymbols symbols(locale, status);
    if (U_SUCCESS(status) != 0) {
      decimal_ = ascii_separator(symbols, icu::DecimalFormatSymbols::kDecimalSeparatorSymbol);
      group_ = ascii_separator(symbols, icu::DecimalFormatSymbols::kGroupingSeparatorSymbol);
    }
    status = U_ZERO_ERROR;
    words_ = std::make_unique<icu::RuleBasedNumberFormat>(icu::URBNF_SPELLOUT, locale, status);
    if (U_FAILURE(status) != 0 || !speaks(*words_, locale)) words_.reset();
  }

  std::string_view name() const noexcept override { return "unicode"; }
  std::uint32_t version() const noexcept override { return kVersion; }

 private:
  void run(std::string_view text, NormalizeScratch& scratch, std::string& out,
           std::vector<NormalizeStep>* steps) const override {
    const std::string_view cleaned = clean_characters(text, map_default, scratch);
    if (steps != nullptr && cleaned != text) {
      steps->push_back({"characters", std::string(text), std::string(cleaned)});
    }
    for (std::size_t at = 0; at < cleaned.size();) {
      const std::size_t taken = words_ ? read_number_at(cleaned, at, out, steps) : 0;
      if (taken == 0) out += cleaned[at];
      at += taken == 0 ? 1 : taken;
    }
    squeeze_spaces(out);
  }

  // 1.234.567,89 with the marks of the language.
  std::size_t read_number_at(std::string_view text, std::size_t at, std::string& out,
                             std::vector<NormalizeStep>* steps) const {
    if (!is_digit(text[at])) return 0;
    std::size_t end = digits_end(text, at);
    while (group_ != ' ' && peek(text, end) == group_ && digits_end(text, end + 1) == end + 4) {
      end += 4;
    }
    std::string plain;
    for (const char c : text.substr(at, end - at)) {
      if (is_digit(c)) plain += c;
    }
    if (peek(text, end) == decimal_ && is_digit(peek(text, end + 1))) {
      const std::size_t fraction_end = digits_end(text, end + 1);
      plain += '.';
      plain += text.substr(end + 1, fraction_end - end - 1);
      end = fraction_end;
    }
    if (plain.size() > 18) return 0;
    const std::size_t start = out.size();
    append_words(plain, out);
    close_gap(text, end, out);
    if (steps != nullptr) {
      steps->push_back({"number", std::string(text.substr(at, end - at)), out.substr(start)});
    }
    return end - at;
  }

  void append_words(const std::string& plain, std::string& out) const {
    UErrorCode status = U_ZERO_ERROR;
    icu::UnicodeString words;
    words_->format(icu::Formattable(icu::StringPiece(plain), status), words, status);
    words.findAndReplace(icu::UnicodeString(static_cast<UChar32>(kSoftHyphen)),
                         icu::UnicodeString());
    words.toUTF8String(out);
  }

  std::unique_ptr<icu::RuleBasedNumberFormat> words_;
  char decimal_ = '.';
  char group_ = ',';
};

}  // namespace

std::shared_ptr<const Normalizer> make_unicode_normalizer(const std::string& language) {
  return std::make_shared<const UnicodeNormalizer>(language);
}

}  // namespace stoker::text
