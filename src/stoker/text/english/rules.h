// The rules of English, one function for each idea; their order is set in normalizer.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "stoker/text/scan.h"

namespace stoker::text::english {

// All follow RuleFunction (text/rule_normalizer.h).
std::size_t read_address(std::string_view text, std::size_t at, std::string& out);
std::size_t read_abbreviation(std::string_view text, std::size_t at, std::string& out);
std::size_t read_initials(std::string_view text, std::size_t at, std::string& out);
std::size_t read_month(std::string_view text, std::size_t at, std::string& out);
std::size_t read_roman(std::string_view text, std::size_t at, std::string& out);
std::size_t read_by(std::string_view text, std::size_t at, std::string& out);
std::size_t read_acronym(std::string_view text, std::size_t at, std::string& out);

std::size_t read_date(std::string_view text, std::size_t at, std::string& out);
std::size_t read_time(std::string_view text, std::size_t at, std::string& out);
std::size_t read_phone(std::string_view text, std::size_t at, std::string& out);
std::size_t read_dotted(std::string_view text, std::size_t at, std::string& out);
std::size_t read_ordinal(std::string_view text, std::size_t at, std::string& out);
std::size_t read_decade(std::string_view text, std::size_t at, std::string& out);
std::size_t read_fraction(std::string_view text, std::size_t at, std::string& out);
std::size_t read_range(std::string_view text, std::size_t at, std::string& out);
std::size_t read_money_after(std::string_view text, std::size_t at, std::string& out);
std::size_t read_measure(std::string_view text, std::size_t at, std::string& out);
std::size_t read_label(std::string_view text, std::size_t at, std::string& out);
std::size_t read_year(std::string_view text, std::size_t at, std::string& out);
std::size_t read_cardinal(std::string_view text, std::size_t at, std::string& out);

std::size_t read_money(std::string_view text, std::size_t at, std::string& out);
std::size_t read_signed(std::string_view text, std::size_t at, std::string& out);
std::size_t read_short_decade(std::string_view text, std::size_t at, std::string& out);
std::size_t read_area_code(std::string_view text, std::size_t at, std::string& out);
std::size_t read_symbol(std::string_view text, std::size_t at, std::string& out);

// Shared by several rules.

// "three point one four"; digits one by one when the number is too long or starts with zeros.
void append_number(std::string& out, const WrittenNumber& number);
// 1 to 12, or 0; `word` with or without its full stop, full or short form, capitalised.
int month_of(std::string_view word) noexcept;
std::string_view month_name(int month) noexcept;
// Whether a bare four-digit number at `at` is a year rather than a count.
bool looks_like_year(std::string_view text, std::size_t at, const WrittenNumber& number) noexcept;
// The end of the abbreviation's full stop: kept in `out` when it also ends the sentence.
std::size_t take_stop(std::string_view text, std::size_t stop, std::string& out);
// "million", "thousand" … when the word at `at` scales a number; empty otherwise. `end` is set to
// the offset after it.
std::string_view scale_word(std::string_view text, std::size_t at, std::size_t& end) noexcept;
// Whether the amount from `at` to `end` describes the noun after it: a five kilometer run.
bool is_attribute(std::string_view text, std::size_t at, std::size_t end) noexcept;
// How a unit is said after its amount.
enum class UnitForm {
  kOne,     // kilogram
  kMany,    // kilograms
  kPartOf,  // of a kilogram
};
// Appends the unit that follows the amount from `at` to `end`, with a space before it; returns the
// offset after it, or `end` where there is none.
std::size_t append_unit_after(std::string_view text, std::size_t at, std::size_t end, UnitForm form,
                              std::string& out);
// Letters one by one: "F B I".
void append_spelled(std::string& out, std::string_view letters);

}  // namespace stoker::text::english
