// English number words: cardinals, ordinals, years and digit strings, appended to a caller's text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace stoker::text::english {

// "one hundred five", "twenty-four"; every value of the type has a name.
void append_cardinal(std::string& out, std::uint64_t value);

// "one hundred fifth", "twenty-fourth".
void append_ordinal(std::string& out, std::uint64_t value);

// As years are read: 1984 nineteen eighty-four, 1905 nineteen oh five, 1900 nineteen hundred,
// 2005 two thousand five, 2024 twenty twenty-four. Precondition: value < 10,000.
void append_year(std::string& out, std::uint64_t value);

// "1990" -> "nineteen nineties", "80" -> "eighties". Precondition: a multiple of ten below 10,000.
void append_decade(std::string& out, std::uint64_t value);

// "007" -> "zero zero seven"; characters that are no digits are passed over.
void append_digits(std::string& out, std::string_view digits);

// The plural of a number word at the end of `out`: half -> halves, sixth -> sixths.
void pluralize_last(std::string& out);

}  // namespace stoker::text::english
