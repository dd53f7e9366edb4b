#include "stoker/text/cleaner.h"

#include <unicode/locid.h>
#include <unicode/normalizer2.h>
#include <unicode/translit.h>
#include <unicode/uchar.h>
#include <unicode/unistr.h>

#include <algorithm>
#include <array>

#include "stoker/base/invariant.h"
#include "stoker/text/characters.h"
#include "stoker/text/scan.h"

namespace stoker::text::myxtts {
namespace {

constexpr std::uint32_t kVersion = 1;

struct Pair {
  std::string_view from;
  std::string_view to;
};

// Replaced wherever the letters are, even inside a word ("disco." has "co."), one after the
// other: that is how myxtts did it.
constexpr std::array<Pair, 14> kAbbreviations{{{"mr.", "mister"},
                                               {"mrs.", "missus"},
                                               {"dr.", "doctor"},
                                               {"prof.", "professor"},
                                               {"sr.", "senior"},
                                               {"jr.", "junior"},
                                               {"ltd.", "limited"},
                                               {"inc.", "incorporated"},
                                               {"co.", "company"},
                                               {"corp.", "corporation"},
                                               {"etc.", "etcetera"},
                                               {"vs.", "versus"},
                                               {"e.g.", "for example"},
                                               {"i.e.", "that is"}}};

constexpr std::array<std::string_view, 21> kNumbers{
    "zero",     "one",     "two",     "three",     "four",     "five",     "six",
    "seven",    "eight",   "nine",    "ten",       "eleven",   "twelve",   "thirteen",
    "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty"};

// Signs for which the transliteration of myxtts differs from ICU's.
constexpr std::array<Pair, 10> kSigns{{{"—", "--"},
                                       {"―", "--"},
                                       {"£", "PS"},
                                       {"€", "EUR"},
                                       {"°", "deg"},
                                       {"«", "<<"},
                                       {"»", ">>"},
                                       {"½", "1/2"},
                                       {"¼", "1/4"},
                                       {"¾", "3/4"}}};

bool is_ascii(std::string_view text) noexcept {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return static_cast<signed char>(c) >= 0; });
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

void lower(std::string& text) {
  if (is_ascii(text)) {
    std::transform(text.begin(), text.end(), text.begin(), to_lower);
    return;
  }
  icu::UnicodeString wide = icu::UnicodeString::fromUTF8(text);
  text.clear();
  wide.toLower(icu::Locale::getRoot()).toUTF8String(text);
}

bool is_punctuation(char c) noexcept {
  return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') ||
         (c >= '{' && c <= '~');
}

// The spoken form of a word that is nothing but a number from 0 to 20 between punctuation.
std::string_view small_number(std::string_view digits) noexcept {
  if (digits.empty() || digits.size() > 2 || digits_end(digits, 0) != digits.size()) return {};
  const std::uint64_t value = digits_value(digits);
  const bool canonical = digits.size() == 1 || digits.front() != '0';
  return canonical && value < kNumbers.size() ? kNumbers[value] : std::string_view{};
}

// Reads standalone numbers; the words come out with single spaces between them.
void expand_numbers(std::string_view text, std::string& out) {
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t space = std::min(text.find(' ', at), text.size());
    std::size_t start = at;
    std::size_t end = space;
    while (start < end && is_punctuation(text[start])) ++start;
    while (end > start && is_punctuation(text[end - 1])) --end;
    const std::string_view words = small_number(text.substr(start, end - start));
    out += text.substr(at, start - at);
    out += words.empty() ? text.substr(start, end - start) : words;
    out += text.substr(end, space - end);
    if (space < text.size()) out += ' ';
    at = space + 1;
  }
}

// NFD without its combining marks.
icu::UnicodeString without_marks(std::string_view text) {
  UErrorCode status = U_ZERO_ERROR;
  const icu::Normalizer2* nfd = icu::Normalizer2::getNFDInstance(status);
  check_invariant(U_SUCCESS(status) != 0, "ICU has no NFD data");
  const icu::UnicodeString decomposed =
      nfd->normalize(icu::UnicodeString::fromUTF8(
                         icu::StringPiece(text.data(), static_cast<std::int32_t>(text.size()))),
                     status);
  icu::UnicodeString kept;
  for (std::int32_t i = 0; i < decomposed.length(); i = decomposed.moveIndex32(i, 1)) {
    const UChar32 c = decomposed.char32At(i);
    if (u_charType(c) != U_NON_SPACING_MARK) kept.append(c);
  }
  return kept;
}

class Cleaner final : public Normalizer {
 public:
  explicit Cleaner(CleanerKind kind) : kind_(kind) {
    UErrorCode status = U_ZERO_ERROR;
    if (kind != CleanerKind::kEnglish) return;
    to_ascii_.reset(
        icu::Transliterator::createInstance("Any-Latin; Latin-ASCII", UTRANS_FORWARD, status));
    check_invariant(U_SUCCESS(status) != 0 && to_ascii_ != nullptr,
                    "ICU cannot transliterate to ASCII");
  }

  std::string_view name() const noexcept override {
    switch (kind_) {
      case CleanerKind::kBasic:
        return "basic_cleaners";
      case CleanerKind::kEnglish:
        return "english_cleaners";
      case CleanerKind::kMultilingual:
        break;
    }
    return "multilingual_cleaners";
  }
  std::uint32_t version() const noexcept override { return kVersion; }

 private:
  void run(std::string_view text, NormalizeScratch& scratch, std::string& out,
           std::vector<NormalizeStep>* steps) const override {
    scratch.num_removed = 0;
    std::string& working = scratch.utf8;
    fold_spaces(text, working);
    step("lower", working, steps, [&] { lower(working); });
    if (kind_ != CleanerKind::kBasic) {
      step("abbreviations", working, steps, [&] {
        for (const Pair& pair : kAbbreviations) replace_all(working, pair.from, pair.to);
      });
    }
    if (kind_ == CleanerKind::kEnglish) {
      step("numbers", working, steps, [&] {
        scratch.cleaned.clear();
        expand_numbers(working, scratch.cleaned);
        working.swap(scratch.cleaned);
      });
    }
    if (kind_ != CleanerKind::kBasic && !is_ascii(working)) {
      step("marks", working, steps, [&] { drop_marks(working); });
    }
    squeeze_spaces(working);
    out += working;
  }

  // Whitespace of every kind as one ' ', as a split on whitespace sees it.
  static void fold_spaces(std::string_view text, std::string& out) {
    out.clear();
    for (const char c : text)
      out += is_space(static_cast<unsigned char>(c)) && c != '\x85' && c != '\xA0' ? ' ' : c;
  }

  void drop_marks(std::string& text) const {
    if (kind_ == CleanerKind::kEnglish) {
      for (const Pair& sign : kSigns) replace_all(text, sign.from, sign.to);
    }
    icu::UnicodeString wide = without_marks(text);
    if (to_ascii_ != nullptr) to_ascii_->transliterate(wide);
    text.clear();
    wide.toUTF8String(text);
    if (to_ascii_ != nullptr)
      std::erase_if(text, [](char c) { return static_cast<signed char>(c) < 0; });
  }

  template <class Change>
  static void step(std::string_view rule, std::string& text, std::vector<NormalizeStep>* steps,
                   Change change) {
    if (steps == nullptr) {
      change();
      return;
    }
    std::string from = text;
    change();
    if (from != text) steps->push_back({rule, std::move(from), text});
  }

  CleanerKind kind_;
  std::unique_ptr<icu::Transliterator> to_ascii_;
};

}  // namespace

std::shared_ptr<const Normalizer> make_cleaner(CleanerKind kind) {
  return std::make_shared<const Cleaner>(kind);
}

}  // namespace stoker::text::myxtts
