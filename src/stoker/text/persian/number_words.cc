#include "stoker/text/number_words.h"

#include <array>

#include "stoker/text/scan.h"

namespace stoker::text::persian {
namespace {

constexpr std::array<std::string_view, 20> kSmall{
    "صفر", "یک",    "دو",     "سه",    "چهار",   "پنج",    "شش",     "هفت",  "هشت",  "نه",
    "ده",  "یازده", "دوازده", "سیزده", "چهارده", "پانزده", "شانزده", "هفده", "هجده", "نوزده"};
constexpr std::array<std::string_view, 10> kTens{"",      "",    "بیست",  "سی",    "چهل",
                                                 "پنجاه", "شصت", "هفتاد", "هشتاد", "نود"};
constexpr std::array<std::string_view, 10> kHundreds{"",      "صد",   "دویست", "سیصد",  "چهارصد",
                                                     "پانصد", "ششصد", "هفتصد", "هشتصد", "نهصد"};

struct Scale {
  std::uint64_t value;
  std::string_view word;
};
constexpr std::array<Scale, 6> kScales{{{1'000'000'000'000'000'000U, "کوینتیلیون"},
                                        {1'000'000'000'000'000U, "کوادریلیون"},
                                        {1'000'000'000'000U, "تریلیون"},
                                        {1'000'000'000U, "میلیارد"},
                                        {1'000'000U, "میلیون"},
                                        {1'000U, "هزار"}}};
constexpr std::string_view kAnd = " و ";
constexpr std::string_view kThree = "سه";
constexpr std::string_view kThirty = "سی";

// Joins the parts of a number.
class Parts {
 public:
  explicit Parts(std::string& out) : out_(out) {}
  void add(std::string_view word) {
    if (!first_) out_ += kAnd;
    out_ += word;
    first_ = false;
  }
  bool empty() const noexcept { return first_; }
  std::string& text() noexcept { return out_; }

 private:
  std::string& out_;
  bool first_ = true;
};

void add_below_thousand(Parts& parts, std::uint64_t value) {
  if (value >= 100) parts.add(kHundreds[value / 100]);
  value %= 100;
  if (value >= kSmall.size()) {
    parts.add(kTens[value / 10]);
    value %= 10;
  }
  if (value != 0) parts.add(kSmall[value]);
}

}  // namespace

void append_cardinal(std::string& out, std::uint64_t value) {
  if (value == 0) {
    out += kSmall[0];
    return;
  }
  Parts parts(out);
  for (const Scale& scale : kScales) {
    const std::uint64_t count = value / scale.value;
    if (count == 0) continue;
    value %= scale.value;
    if (count == 1 && scale.value == 1'000) {
      parts.add(scale.word);
      continue;
    }
    add_below_thousand(parts, count);
    out += ' ';
    out += scale.word;
  }
  add_below_thousand(parts, value);
}

void append_ordinal(std::string& out, std::uint64_t value) {
  append_cardinal(out, value);
  const std::string_view spoken = out;
  if (spoken.ends_with(kThree)) {
    out.resize(out.size() - kThree.size());
    out += "سوم";
  } else if (spoken.ends_with(kThirty)) {
    out += "‌ام";
  } else {
    out += "م";
  }
}

void append_digits(std::string& out, std::string_view digits) {
  bool first = true;
  for (const char digit : digits) {
    if (!is_digit(digit)) continue;
    if (!first) out += ' ';
    out += kSmall[static_cast<std::size_t>(digit - '0')];
    first = false;
  }
}

void append_decimals(std::string& out, std::string_view digits) {
  constexpr std::size_t kMostAsNumber = 3;
  if (digits.size() > kMostAsNumber || digits_value(digits) == 0) {
    append_digits(out, digits);
    return;
  }
  while (digits.front() == '0') {
    out += kSmall[0];
    out += ' ';
    digits.remove_prefix(1);
  }
  append_cardinal(out, digits_value(digits));
}

}  // namespace stoker::text::persian
