#include "stoker/text/english/rules.h"
#include "stoker/text/number_words.h"

namespace stoker::text::english {
namespace {

constexpr std::size_t kMostGroups = 8;

bool is_phone_gap(char c) noexcept { return c == '-' || c == '.' || c == ' '; }

// The groups of digits of a telephone number, as counted by telephone companies.
struct Groups {
  std::size_t num_groups = 0;
  std::size_t num_digits[kMostGroups] = {};
  std::size_t end = 0;
  bool dashed = false;  // at least once
  bool all_dashed = true;
};

// Skips from one group to the next: "-", ") ", " ".
std::size_t next_group(std::string_view text, std::size_t at, bool& dashed) noexcept {
  std::size_t start = at;
  if (peek(text, start) == ')') ++start;
  if (is_phone_gap(peek(text, start))) {
    dashed = dashed || peek(text, start) == '-';
    ++start;
  }
  if (peek(text, start) == '(') ++start;
  return start > at && is_digit(peek(text, start)) ? start : 0;
}

Groups groups_at(std::string_view text, std::size_t at) noexcept {
  Groups groups;
  std::size_t start = at;
  while (groups.num_groups < kMostGroups) {
    const std::size_t end = digits_end(text, start);
    groups.num_digits[groups.num_groups++] = end - start;
    groups.end = end;
    start = next_group(text, end, groups.dashed);
    if (start == 0) break;
    groups.all_dashed = groups.all_dashed && text[end] == '-' && start == end + 1;
  }
  return groups;
}

// 555-1234, 555-123-4567, 1-800-555-1234; with dashes, dots or spaces.
bool is_phone(const Groups& groups, bool has_area_mark) noexcept {
  const auto* n = groups.num_digits;
  switch (groups.num_groups) {
    case 2:
      return n[0] == 3 && n[1] == 4 && (groups.dashed || has_area_mark);
    case 3:
      return (n[0] == 3 && n[1] == 3 && n[2] == 4) || (has_area_mark && n[2] >= 3);
    case 4:
      return n[0] <= 3 && n[1] == 3 && n[2] == 3 && n[3] == 4;
    default:
      return false;
  }
}

// 978-3-16-148410-0: book numbers, account numbers and other codes with two dashes or more.
bool is_code(const Groups& groups) noexcept { return groups.num_groups >= 3 && groups.all_dashed; }

}  // namespace

// Digit by digit, a comma between the groups.
std::size_t read_phone(std::string_view text, std::size_t at, std::string& out) {
  const char mark = before(text, at);
  const Groups groups = groups_at(text, at);
  if (!is_phone(groups, mark == '(' || mark == '+') && !is_code(groups)) return 0;
  open_gap(out);
  bool dashed = false;
  for (std::size_t start = at; start != 0 && start < groups.end;) {
    const std::size_t end = digits_end(text, start);
    if (start != at) out += ", ";
    append_digits(out, text.substr(start, end - start));
    start = next_group(text, end, dashed);
  }
  close_gap(text, groups.end, out);
  return groups.end - at;
}

}  // namespace stoker::text::english
