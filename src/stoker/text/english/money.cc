#include <array>

#include "stoker/text/english/rules.h"
#include "stoker/text/number_words.h"

namespace stoker::text::english {
namespace {

struct Currency {
  std::string_view sign;
  std::string_view one;
  std::string_view many;
  std::string_view cent;  // empty where there is no smaller coin
  std::string_view cents;
};

// Longer signs first.
constexpr std::array<Currency, 18> kCurrencies{{
    {"Rs.", "rupee", "rupees", "paisa", "paise"},
    {"Rs ", "rupee", "rupees", "paisa", "paise"},
    {"US$", "U S dollar", "U S dollars", "cent", "cents"},
    {"CA$", "Canadian dollar", "Canadian dollars", "cent", "cents"},
    {"C$", "Canadian dollar", "Canadian dollars", "cent", "cents"},
    {"A$", "Australian dollar", "Australian dollars", "cent", "cents"},
    {"HK$", "Hong Kong dollar", "Hong Kong dollars", "cent", "cents"},
    {"$", "dollar", "dollars", "cent", "cents"},
    {"£", "pound", "pounds", "penny", "pence"},
    {"€", "euro", "euros", "cent", "cents"},
    {"¥", "yen", "yen", "", ""},
    {"₹", "rupee", "rupees", "paisa", "paise"},
    {"₩", "won", "won", "", ""},
    {"₽", "ruble", "rubles", "kopeck", "kopecks"},
    {"₺", "lira", "lira", "kurush", "kurush"},
    {"₿", "bitcoin", "bitcoins", "", ""},
    {"₪", "shekel", "shekels", "agora", "agorot"},
    {"₫", "dong", "dong", "", ""},
}};

// Codes written after the amount.
constexpr std::array<Currency, 8> kCodes{{
    {"USD", "U S dollar", "U S dollars", "cent", "cents"},
    {"EUR", "euro", "euros", "cent", "cents"},
    {"GBP", "pound", "pounds", "penny", "pence"},
    {"JPY", "yen", "yen", "", ""},
    {"CAD", "Canadian dollar", "Canadian dollars", "cent", "cents"},
    {"AUD", "Australian dollar", "Australian dollars", "cent", "cents"},
    {"INR", "rupee", "rupees", "paisa", "paise"},
    {"CHF", "Swiss franc", "Swiss francs", "centime", "centimes"},
}};

// After these a price is an adjective: a twenty dollar bill.
constexpr std::array<std::string_view, 16> kPriced{
    "bill", "note", "coin",  "fine",    "ticket", "deal",     "prize",  "loan",
    "fee",  "tax",  "check", "project", "budget", "contract", "reward", "investment"};

const Currency* currency_at(std::string_view text, std::size_t at) noexcept {
  for (const Currency& currency : kCurrencies) {
    if (has_at(text, at, currency.sign)) return &currency;
  }
  return nullptr;
}

std::string_view short_scale(std::string_view text, std::size_t at, std::size_t& end) noexcept {
  const std::size_t stop = word_end(text, at);
  const std::string_view word = text.substr(at, stop - at);
  std::string_view scale;
  if (word == "k" || word == "K") scale = "thousand";
  if (word == "m" || word == "M" || word == "mn" || word == "mm" || word == "MM") scale = "million";
  if (word == "b" || word == "B" || word == "bn") scale = "billion";
  if (word == "t" || word == "T" || word == "tn") scale = "trillion";
  if (!scale.empty()) end = stop;
  return scale;
}

bool is_adjective(std::string_view text, std::size_t end) noexcept {
  const std::string_view noun = word_after(text, end);
  for (const std::string_view word : kPriced) {
    if (same_word(noun, word)) return peek(text, end) == ' ' || peek(text, end) == '-';
  }
  return peek(text, end) == '-' && is_word_byte(text, end + 1);
}

// "two point five million dollars", "three dollars and fifty cents", "fifty cents"
void append_amount(std::string& out, const WrittenNumber& number, const Currency& currency) {
  const bool has_cents = number.fraction.size() == 2 && !currency.cent.empty() && number.fits;
  const std::uint64_t cents = has_cents ? digits_value(number.fraction) : 0;
  if (!has_cents) {
    append_number(out, number);
    out += ' ';
    out += number.value == 1 && number.fraction.empty() ? currency.one : currency.many;
    return;
  }
  if (number.value != 0 || cents == 0) {
    append_cardinal(out, number.value);
    out += ' ';
    out += number.value == 1 ? currency.one : currency.many;
    if (cents != 0) out += " and ";
  }
  if (cents == 0) return;
  append_cardinal(out, cents);
  out += ' ';
  out += cents == 1 ? currency.cent : currency.cents;
}

// "$10-20", "$10-$20": the offset of the second number, or 0.
std::size_t second_amount(std::string_view text, std::size_t dash,
                          const Currency& currency) noexcept {
  if (peek(text, dash) != '-') return 0;
  std::size_t start = dash + 1;
  if (has_at(text, start, currency.sign)) start += currency.sign.size();
  return is_digit(peek(text, start)) ? start : 0;
}

std::size_t append_priced(std::string_view text, std::size_t at, const WrittenNumber& number,
                          std::string& out) {
  const Currency& currency = *currency_at(text, at);
  std::size_t end = number.end;
  std::string_view scale = scale_word(text, end, end);
  if (scale.empty()) scale = short_scale(text, end, end);
  const bool adjective = is_adjective(text, end) || is_attribute(text, at, end);
  if (!scale.empty()) {
    append_number(out, number);
    out += ' ';
    out += scale;
    out += ' ';
    out += adjective ? currency.one : currency.many;
  } else if (adjective) {
    append_number(out, number);
    out += ' ';
    out += currency.one;
  } else {
    append_amount(out, number, currency);
  }
  close_gap(text, end, out);
  return end;
}

}  // namespace

// A sign before its amount: $3.50, £20, €1.5 million, $10-20.
std::size_t read_money(std::string_view text, std::size_t at, std::string& out) {
  const Currency* currency = currency_at(text, at);
  if (currency == nullptr) return 0;
  std::size_t start = at + currency->sign.size();
  const bool negative = peek(text, start) == '-' && is_digit(peek(text, start + 1));
  if (negative) ++start;
  if (peek(text, start) == ' ') ++start;
  auto number = read_number(text, start);
  if (!number) return 0;
  open_gap(out);
  if (negative) out += "minus ";
  const std::size_t second = second_amount(text, number->end, *currency);
  if (second != 0) {
    append_number(out, *number);
    out += " to ";
    number = read_number(text, second);
  }
  return append_priced(text, at, *number, out) - at;
}

// A sign or code after its amount: 5€, 20 USD, 50¢.
std::size_t read_money_after(std::string_view text, std::size_t at, std::string& out) {
  const auto number = read_number(text, at);
  if (!number) return 0;
  constexpr Currency kCents{"¢", "cent", "cents", "", ""};
  const std::size_t sign = spaces_end(text, number->end);
  const Currency* found = has_at(text, sign, kCents.sign) ? &kCents : nullptr;
  for (const Currency& code : kCodes) {
    if (has_at(text, sign, code.sign) && !is_word_or_digit(text, sign + 3)) found = &code;
  }
  const Currency* signed_currency = currency_at(text, sign);
  if (signed_currency != nullptr && !is_digit(peek(text, sign + signed_currency->sign.size())))
    found = signed_currency;
  if (found == nullptr) return 0;
  open_gap(out);
  append_amount(out, *number, *found);
  const std::size_t end = sign + found->sign.size();
  close_gap(text, end, out);
  return end - at;
}

}  // namespace stoker::text::english
