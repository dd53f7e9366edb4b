#include <algorithm>
#include <array>

#include "stoker/text/english/rules.h"
#include "stoker/text/number_words.h"

namespace stoker::text::english {
namespace {

// Endings of host names; those marked are read as words.
struct Domain {
  std::string_view name;
  bool is_word;
};
constexpr std::array<Domain, 22> kDomains{
    {{"com", true}, {"org", true}, {"net", true}, {"edu", true}, {"gov", true}, {"info", true},
     {"biz", true}, {"dev", true}, {"app", true}, {"mil", true}, {"io", false}, {"ai", false},
     {"co", false}, {"uk", false}, {"us", false}, {"de", false}, {"fr", false}, {"ir", false},
     {"tv", false}, {"ca", false}, {"eu", false}, {"me", true}}};

const Domain* domain_of(std::string_view word) noexcept {
  for (const Domain& domain : kDomains) {
    if (same_word(word, domain.name)) return &domain;
  }
  return nullptr;
}

bool is_address_byte(char c) noexcept {
  return is_letter(c) || is_digit(c) ||
         std::string_view("._-+@/:?=&%#~").find(c) != std::string_view::npos;
}

// The run of address characters at `at`, without punctuation that ends the sentence.
std::string_view address_at(std::string_view text, std::size_t at) noexcept {
  std::size_t end = at;
  while (end < text.size() && is_address_byte(text[end])) ++end;
  while (end > at && !is_letter(text[end - 1]) && !is_digit(text[end - 1]) && text[end - 1] != '/')
    --end;
  return text.substr(at, end - at);
}

bool is_email(std::string_view address) noexcept {
  const std::size_t sign = address.find('@');
  if (sign == std::string_view::npos || sign == 0 || address.find('/') < sign) return false;
  const std::size_t dot = address.find('.', sign);
  return dot != std::string_view::npos && dot > sign + 1 && is_letter(peek(address, dot + 1));
}

// "example.com", "www.site.org/x", "https://…"
bool is_url(std::string_view address) noexcept {
  const std::size_t scheme = address.find("://");
  if (scheme != std::string_view::npos && scheme >= 3) return true;
  if (address.starts_with("www.")) return true;
  const std::string_view host = address.substr(0, address.find_first_of("/:?"));
  const std::size_t dot = host.rfind('.');
  if (dot == std::string_view::npos || dot == 0 || host.find("..") != std::string_view::npos)
    return false;
  const Domain* domain = domain_of(host.substr(dot + 1));
  return domain != nullptr && is_lower(host[dot + 1]) && host.size() - dot < 6;
}

// "readme.txt", "main.cc": a small letter on both sides of the dot.
bool is_file_name(std::string_view address) noexcept {
  const std::size_t dot = address.find('.');
  if (dot == std::string_view::npos || dot < 2 ||
      address.find_first_of("/@:?=&%#") != std::string_view::npos)
    return false;
  return is_lower(peek(address, dot + 1)) && is_lower(address[dot - 1]) &&
         is_lower(address[dot - 2]) && address.find('.', dot + 1) == std::string_view::npos;
}

std::string_view mark_word(char c) noexcept {
  switch (c) {
    case '.':
      return "dot";
    case '@':
      return "at";
    case '/':
      return "slash";
    case ':':
      return "colon";
    case '-':
      return "dash";
    case '_':
      return "underscore";
    case '?':
      return "question mark";
    case '=':
      return "equals";
    case '&':
      return "and";
    case '+':
      return "plus";
    case '%':
      return "percent";
    case '#':
      return "hash";
    default:
      return "tilde";
  }
}

// Parts without a vowel and country codes are spelled; other parts are read as words.
void append_part(std::string& out, std::string_view part, bool is_last_of_host) {
  const bool no_vowel = std::none_of(part.begin(), part.end(), [](char c) {
    return std::string_view("aeiouy").find(to_lower(c)) != std::string_view::npos;
  });
  const Domain* domain = is_last_of_host ? domain_of(part) : nullptr;
  if (no_vowel || (domain != nullptr && !domain->is_word)) {
    append_spelled(out, part);
  } else {
    out += part;
  }
}

void append_address(std::string& out, std::string_view address) {
  for (std::size_t at = 0; at < address.size();) {
    if (at != 0) out += ' ';
    const std::size_t word = word_end(address, at);
    const std::size_t digits = digits_end(address, at);
    if (word > at) {
      append_part(out, address.substr(at, word - at), before(address, at) == '.');
      at = word;
    } else if (digits > at) {
      append_digits(out, address.substr(at, digits - at));
      at = digits;
    } else {
      out += mark_word(address[at]);
      ++at;
    }
  }
}

}  // namespace

std::size_t read_address(std::string_view text, std::size_t at, std::string& out) {
  const std::size_t word = word_end(text, at);
  // Nearly every word ends at a space or at punctuation with a space after it; look no further.
  std::size_t end = word;
  while (is_word_or_digit(text, end) || peek(text, end) == '-' || peek(text, end) == '_' ||
         peek(text, end) == '+')
    ++end;
  const char mark = peek(text, end);
  if ((mark != '.' && mark != '@' && mark != ':') || end + 1 >= text.size() || text[end + 1] == ' ')
    return 0;
  if (is_word_or_digit(text, at == 0 ? text.size() : at - 1)) return 0;
  const std::string_view address = address_at(text, at);
  if (address.size() < 4 || !(is_email(address) || is_url(address) || is_file_name(address)))
    return 0;
  append_address(out, address);
  return address.size();
}

}  // namespace stoker::text::english
