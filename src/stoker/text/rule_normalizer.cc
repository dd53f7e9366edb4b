#include "stoker/text/rule_normalizer.h"

#include "stoker/text/scan.h"

namespace stoker::text {
namespace {

std::size_t try_rules(std::span<const Rule> rules, std::string_view text, std::size_t at,
                      std::string& out, std::vector<NormalizeStep>* steps) {
  const std::size_t out_before = out.size();
  for (const Rule& rule : rules) {
    const std::size_t taken = rule.apply(text, at, out);
    if (taken == 0) continue;
    const std::string_view from = text.substr(at, taken);
    const std::string_view to = std::string_view(out).substr(out_before);
    if (steps != nullptr && from != to) {
      steps->push_back({rule.name, std::string(from), std::string(to)});
    }
    return taken;
  }
  return 0;
}

// Bytes to copy when no rule wants what is at `at`: a whole word, a run of digits or one mark.
std::size_t plain_size(std::string_view text, std::size_t at) {
  if (is_word_byte(text, at)) return word_end(text, at) - at;
  if (is_digit(text[at])) return digits_end(text, at) - at;
  std::size_t end = at + 1;
  while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80) ++end;
  return end - at;
}

}  // namespace

void scan_rules(const RuleBook& book, std::string_view text, std::string& out,
                std::vector<NormalizeStep>* steps) {
  std::size_t at = 0;
  while (at < text.size()) {
    const char c = text[at];
    if (c == ' ') {
      out += c;
      ++at;
      continue;
    }
    const bool is_word = is_word_byte(text, at);
    const auto rules = is_word ? book.at_letter : is_digit(c) ? book.at_digit : book.at_mark;
    std::size_t taken = try_rules(rules, text, at, out, steps);
    if (taken == 0) {
      taken = plain_size(text, at);
      out += text.substr(at, taken);
      if (is_word && is_digit(peek(text, at + taken))) out += ' ';
    }
    at += taken;
  }
}

void RuleNormalizer::run(std::string_view text, NormalizeScratch& scratch, std::string& out,
                         std::vector<NormalizeStep>* steps) const {
  const std::string_view cleaned = clean_characters(text, language_.map, scratch);
  if (steps != nullptr && cleaned != text) {
    steps->push_back({"characters", std::string(text), std::string(cleaned)});
  }
  scan_rules(language_.book, cleaned, out, steps);
  squeeze_spaces(out);
}

}  // namespace stoker::text
