// Persian number words, appended to a caller's text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace stoker::text::persian {

// 125 صد و بیست و پنج; 1,000 is هزار without a one before it.
void append_cardinal(std::string& out, std::uint64_t value);

// 3 سوم, 21 بیست و یکم, 30 سی‌ام.
void append_ordinal(std::string& out, std::uint64_t value);

// Digit by digit; characters that are no digits are passed over.
void append_digits(std::string& out, std::string_view digits);

// What follows ممیز: leading zeros one by one, then up to three digits as a number.
void append_decimals(std::string& out, std::string_view digits);

}  // namespace stoker::text::persian
