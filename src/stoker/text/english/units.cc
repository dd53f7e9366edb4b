#include <algorithm>
#include <array>

#include "stoker/text/english/rules.h"
#include "stoker/text/number_words.h"

namespace stoker::text::english {
namespace {

struct Unit {
  std::string_view sign;
  std::string_view one;
  std::string_view many;     // empty: one + "s"
  bool needs_touch = false;  // only directly after the digits, since it is a word or letter too
};

// Case matters: mW and MW, Mb and MB.
constexpr std::array kUnits{Unit{"km", "kilometer", ""},
                            Unit{"m", "meter", ""},
                            Unit{"cm", "centimeter", ""},
                            Unit{"mm", "millimeter", ""},
                            Unit{"nm", "nanometer", ""},
                            Unit{"µm", "micrometer", ""},
                            Unit{"μm", "micrometer", ""},
                            Unit{"mi", "mile", ""},
                            Unit{"yd", "yard", ""},
                            Unit{"yds", "yard", ""},
                            Unit{"ft", "foot", "feet"},
                            Unit{"in", "inch", "inches", true},
                            Unit{"kg", "kilogram", ""},
                            Unit{"g", "gram", ""},
                            Unit{"mg", "milligram", ""},
                            Unit{"µg", "microgram", ""},
                            Unit{"μg", "microgram", ""},
                            Unit{"lb", "pound", ""},
                            Unit{"lbs", "pound", ""},
                            Unit{"oz", "ounce", ""},
                            Unit{"L", "liter", ""},
                            Unit{"l", "liter", ""},
                            Unit{"ml", "milliliter", ""},
                            Unit{"mL", "milliliter", ""},
                            Unit{"cl", "centiliter", ""},
                            Unit{"dl", "deciliter", ""},
                            Unit{"gal", "gallon", ""},
                            Unit{"tbsp", "tablespoon", ""},
                            Unit{"tsp", "teaspoon", ""},
                            Unit{"qt", "quart", ""},
                            Unit{"mph", "mile per hour", "miles per hour"},
                            Unit{"kph", "kilometer per hour", "kilometers per hour"},
                            Unit{"kmh", "kilometer per hour", "kilometers per hour"},
                            Unit{"mpg", "mile per gallon", "miles per gallon"},
                            Unit{"rpm", "revolution per minute", "revolutions per minute"},
                            Unit{"fps", "frame per second", "frames per second"},
                            Unit{"bpm", "beat per minute", "beats per minute"},
                            Unit{"psi", "pound per square inch", "pounds per square inch"},
                            Unit{"Hz", "hertz", "hertz"},
                            Unit{"kHz", "kilohertz", "kilohertz"},
                            Unit{"MHz", "megahertz", "megahertz"},
                            Unit{"GHz", "gigahertz", "gigahertz"},
                            Unit{"W", "watt", ""},
                            Unit{"mW", "milliwatt", ""},
                            Unit{"kW", "kilowatt", ""},
                            Unit{"MW", "megawatt", ""},
                            Unit{"GW", "gigawatt", ""},
                            Unit{"kWh", "kilowatt hour", ""},
                            Unit{"MWh", "megawatt hour", ""},
                            Unit{"V", "volt", ""},
                            Unit{"kV", "kilovolt", ""},
                            Unit{"mV", "millivolt", ""},
                            Unit{"mA", "milliamp", ""},
                            Unit{"mAh", "milliamp hour", ""},
                            Unit{"A", "amp", "", true},
                            Unit{"Ω", "ohm", ""},
                            Unit{"dB", "decibel", ""},
                            Unit{"ms", "millisecond", ""},
                            Unit{"ns", "nanosecond", ""},
                            Unit{"µs", "microsecond", ""},
                            Unit{"s", "second", "", true},
                            Unit{"sec", "second", ""},
                            Unit{"secs", "second", ""},
                            Unit{"min", "minute", ""},
                            Unit{"mins", "minute", ""},
                            Unit{"h", "hour", ""},
                            Unit{"hr", "hour", ""},
                            Unit{"hrs", "hour", ""},
                            Unit{"KB", "kilobyte", ""},
                            Unit{"kB", "kilobyte", ""},
                            Unit{"MB", "megabyte", ""},
                            Unit{"GB", "gigabyte", ""},
                            Unit{"TB", "terabyte", ""},
                            Unit{"PB", "petabyte", ""},
                            Unit{"kbps", "kilobit per second", "kilobits per second"},
                            Unit{"Mbps", "megabit per second", "megabits per second"},
                            Unit{"Gbps", "gigabit per second", "gigabits per second"},
                            Unit{"Pa", "pascal", ""},
                            Unit{"kPa", "kilopascal", ""},
                            Unit{"hPa", "hectopascal", ""},
                            Unit{"N", "newton", "", true},
                            Unit{"J", "joule", ""},
                            Unit{"kJ", "kilojoule", ""},
                            Unit{"MJ", "megajoule", ""},
                            Unit{"cal", "calorie", ""},
                            Unit{"kcal", "kilocalorie", ""},
                            Unit{"ha", "hectare", ""},
                            Unit{"px", "pixel", ""},
                            Unit{"dpi", "dot per inch", "dots per inch"},
                            Unit{"ppm", "part per million", "parts per million"},
                            Unit{"hp", "horsepower", "horsepower"},
                            Unit{"pts", "point", ""},
                            Unit{"doz", "dozen", "dozen"},
                            Unit{"sq ft", "square foot", "square feet"},
                            Unit{"sq. ft", "square foot", "square feet"},
                            Unit{"sq mi", "square mile", ""},
                            Unit{"sq. mi", "square mile", ""},
                            Unit{"sq km", "square kilometer", ""},
                            Unit{"sq. km", "square kilometer", ""},
                            Unit{"sq m", "square meter", ""},
                            Unit{"sq. m", "square meter", ""},
                            Unit{"cu ft", "cubic foot", "cubic feet"},
                            Unit{"fl oz", "fluid ounce", ""},
                            Unit{"fl. oz", "fluid ounce", ""},
                            Unit{"°C", "degree Celsius", "degrees Celsius"},
                            Unit{"°F", "degree Fahrenheit", "degrees Fahrenheit"},
                            Unit{"° C", "degree Celsius", "degrees Celsius"},
                            Unit{"° F", "degree Fahrenheit", "degrees Fahrenheit"},
                            Unit{"°", "degree", ""},
                            Unit{"%", "percent", "percent"},
                            Unit{"‰", "per mille", "per mille"},
                            Unit{"M", "million", "million", true},
                            Unit{"bn", "billion", "billion"},
                            Unit{"mn", "million", "million"},
                            Unit{"K", "thousand", "thousand", true},
                            Unit{"k", "thousand", "thousand", true}};

struct Power {
  std::string_view sign;
  std::string_view word;
};
constexpr std::array<Power, 4> kPowers{
    {{"²", "square "}, {"³", "cubic "}, {"2", "square "}, {"3", "cubic "}}};

// Words after which a price or a speed is counted.
constexpr std::array<std::string_view, 6> kPeriods{"hour",  "day",  "week",
                                                   "month", "year", "person"};
// Words that make "in" before them a unit.
constexpr std::array<std::string_view, 8> kAfterInches{"long", "wide",  "tall", "deep",
                                                       "high", "thick", "x",    "by"};

template <std::size_t N>
bool listed(const std::array<std::string_view, N>& list, std::string_view word) noexcept {
  return std::find(list.begin(), list.end(), word) != list.end();
}

struct FoundUnit {
  const Unit* unit = nullptr;
  std::string_view power;  // "square " or "cubic "
  std::size_t end = 0;
};

bool ends_unit(std::string_view text, std::size_t end) noexcept {
  return !is_word_or_digit(text, end) && peek(text, end) != '&';
}

// The longest unit at `at`.
FoundUnit unit_at(std::string_view text, std::size_t at) noexcept {
  FoundUnit best;
  for (const Unit& unit : kUnits) {
    if (!has_at(text, at, unit.sign)) continue;
    std::size_t end = at + unit.sign.size();
    std::string_view power;
    for (const Power& p : kPowers) {
      if (unit.one.ends_with("meter") || unit.sign == "ft" || unit.sign == "mi" ||
          unit.sign == "in" || unit.sign == "s") {
        if (has_at(text, end, p.sign) && ends_unit(text, end + p.sign.size())) {
          power = p.word;
          end += p.sign.size();
          break;
        }
      }
    }
    const bool is_sign = !is_letter(unit.sign.back());
    if ((is_sign || ends_unit(text, end)) && end > best.end) best = {&unit, power, end};
  }
  return best;
}

void append_unit(std::string& out, const FoundUnit& found, bool singular) {
  out += found.power;
  if (singular) {
    out += found.unit->one;
  } else if (!found.unit->many.empty()) {
    out += found.unit->many;
  } else {
    out += found.unit->one;
    out += 's';
  }
}

// An hour, an ounce, an inch.
bool starts_with_vowel(const FoundUnit& found) noexcept {
  const std::string_view word = found.power.empty() ? found.unit->one : found.power;
  return word == "hour" || std::string_view("aeiou").find(word.front()) != std::string_view::npos;
}

// Per cubic centimeter, but per second squared.
void append_per_unit(std::string& out, const FoundUnit& per) {
  const bool is_time = per.unit->sign == "s";
  if (!is_time) out += per.power;
  out += per.unit->one;
  if (is_time && per.power == "square ") out += " squared";
  if (is_time && per.power == "cubic ") out += " cubed";
}

// "/h", "/s", "/kg" after a unit.
std::size_t append_per(std::string_view text, std::size_t end, std::string& out) {
  if (peek(text, end) != '/') return end;
  const FoundUnit per = unit_at(text, end + 1);
  const std::string_view word = word_after(text, end + 1);
  if (per.unit != nullptr) {
    out += " per ";
    append_per_unit(out, per);
    return per.end;
  }
  if (listed(kPeriods, word)) {
    out += " per ";
    out += word;
    return end + 1 + word.size();
  }
  return end;
}

// 5'10" and 6'2": people and planks.
std::size_t read_feet_and_inches(std::string_view text, const WrittenNumber& feet, std::size_t at,
                                 std::string& out) {
  if (peek(text, feet.end) != '\'' || !feet.fraction.empty()) return 0;
  const auto inches = read_number(text, feet.end + 1);
  if (!inches || peek(text, inches->end) != '"' || inches->value > 11) return 0;
  open_gap(out);
  append_number(out, feet);
  out += feet.value == 1 ? " foot " : " feet ";
  append_number(out, *inches);
  out += inches->value == 1 ? " inch" : " inches";
  return inches->end + 1 - at;
}

struct UnitPlace {
  FoundUnit found;
  bool hyphenated = false;
};

UnitPlace unit_after(std::string_view text, std::size_t end) noexcept {
  const bool hyphenated = peek(text, end) == '-';
  const std::size_t start = hyphenated ? end + 1 : spaces_end(text, end);
  UnitPlace place{unit_at(text, start), hyphenated};
  const Unit* unit = place.found.unit;
  if (unit == nullptr) return place;
  const bool dotted_inch =
      unit->sign == "in" && peek(text, place.found.end) == '.' && place.found.end + 1 < text.size();
  // 4K and 8K are names of screens, not thousands.
  const bool screen = unit->sign == "K" && end > 0 &&
                      (text[end - 1] == '4' || text[end - 1] == '8') &&
                      !(end > 1 && is_digit(text[end - 2]));
  if (screen) place.found.unit = nullptr;
  const std::string_view next = word_after(text, place.found.end);
  const bool measured_inch = unit->sign == "in" && listed(kAfterInches, next);
  if (unit->needs_touch && start != end && !dotted_inch && !measured_inch)
    place.found.unit = nullptr;
  if (hyphenated && !is_letter(unit->sign.front())) place.found.unit = nullptr;
  return place;
}

// The full stop of a shortened unit ("5 in. pipe", "6 ft. tall") goes unless the sentence ends.
std::size_t skip_unit_stop(std::string_view text, std::size_t end) noexcept {
  const bool inside = peek(text, end) == '.' && peek(text, end + 1) == ' ' &&
                      is_lower(peek(text, spaces_end(text, end + 1)));
  return inside ? end + 1 : end;
}

}  // namespace

std::size_t append_unit_after(std::string_view text, std::size_t at, std::size_t end, UnitForm form,
                              std::string& out) {
  const UnitPlace place = unit_after(text, end);
  if (place.found.unit == nullptr) return end;
  const bool attribute = place.hyphenated || is_attribute(text, at, place.found.end);
  if (form == UnitForm::kPartOf && !attribute) {
    out += starts_with_vowel(place.found) ? " of an" : " of a";
  }
  out += ' ';
  append_unit(out, place.found, form != UnitForm::kMany || attribute);
  return skip_unit_stop(text, append_per(text, place.found.end, out));
}

std::size_t read_measure(std::string_view text, std::size_t at, std::string& out) {
  const auto number = read_number(text, at);
  if (!number) return 0;
  const std::size_t taken = read_feet_and_inches(text, *number, at, out);
  if (taken != 0) return taken;
  std::size_t scaled_end = number->end;
  const std::string_view scale = scale_word(text, number->end, scaled_end);
  if (unit_after(text, scaled_end).found.unit == nullptr) return 0;
  open_gap(out);
  append_number(out, *number);
  if (!scale.empty()) {
    out += ' ';
    out += scale;
  }
  const bool one = number->value == 1 && number->fraction.empty() && scale.empty() && number->fits;
  const std::size_t end =
      append_unit_after(text, at, scaled_end, one ? UnitForm::kOne : UnitForm::kMany, out);
  close_gap(text, end, out);
  return end - at;
}

}  // namespace stoker::text::english
