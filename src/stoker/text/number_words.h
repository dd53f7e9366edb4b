// Numbers in words, English and Persian; shared by the rules and by made sentences.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace stoker::text {

namespace english {

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

}  // namespace english

namespace persian {

// 125 صد و بیست و پنج; 1,000 is هزار without a one before it.
void append_cardinal(std::string& out, std::uint64_t value);

// 3 سوم, 21 بیست و یکم, 30 سی‌ام.
void append_ordinal(std::string& out, std::uint64_t value);

// Digit by digit; characters that are no digits are passed over.
void append_digits(std::string& out, std::string_view digits);

// What follows ممیز: leading zeros one by one, then up to three digits as a number.
void append_decimals(std::string& out, std::string_view digits);

}  // namespace persian

}  // namespace stoker::text
