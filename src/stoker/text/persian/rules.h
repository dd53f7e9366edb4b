// The rules of Persian, one function for each idea; their order is set in normalizer.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace stoker::text::persian {

// All follow RuleFunction (text/rule_normalizer.h) and see ASCII digits only (map_persian).
std::size_t read_abbreviation(std::string_view text, std::size_t at, std::string& out);

std::size_t read_date(std::string_view text, std::size_t at, std::string& out);
std::size_t read_time(std::string_view text, std::size_t at, std::string& out);
std::size_t read_phone(std::string_view text, std::size_t at, std::string& out);
std::size_t read_era(std::string_view text, std::size_t at, std::string& out);
std::size_t read_ordinal(std::string_view text, std::size_t at, std::string& out);
std::size_t read_fraction(std::string_view text, std::size_t at, std::string& out);
std::size_t read_range(std::string_view text, std::size_t at, std::string& out);
std::size_t read_measure(std::string_view text, std::size_t at, std::string& out);
std::size_t read_cardinal(std::string_view text, std::size_t at, std::string& out);

std::size_t read_money(std::string_view text, std::size_t at, std::string& out);
std::size_t read_percent_before(std::string_view text, std::size_t at, std::string& out);
std::size_t read_signed(std::string_view text, std::size_t at, std::string& out);
std::size_t read_symbol(std::string_view text, std::size_t at, std::string& out);

// A number as written, thousands marked by ',' or '،'.
struct Amount {
  std::string_view integer;
  std::string_view fraction;
  std::uint64_t value = 0;
  std::size_t end = 0;
};
std::optional<Amount> read_amount(std::string_view text, std::size_t at) noexcept;
void append_amount(std::string& out, const Amount& amount);
// Appends the unit, percent or currency sign that follows an amount's end; returns the offset after
// it, or `end` where there is none.
std::size_t append_unit_after(std::string_view text, std::size_t end, std::string& out);
bool has_unit_after(std::string_view text, std::size_t end) noexcept;
// هزار، میلیون … after a number; empty when the next word is none. `end` moves past it.
std::string_view scale_after(std::string_view text, std::size_t at, std::size_t& end) noexcept;

}  // namespace stoker::text::persian
