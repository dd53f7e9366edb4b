#include <array>

#include "stoker/text/persian/rules.h"
#include "stoker/text/scan.h"

namespace stoker::text::persian {
namespace {

struct Unit {
  std::string_view sign;
  std::string_view spoken;
};

// Longer signs before their beginnings.
constexpr std::array<Unit, 40> kUnits{{{"km/h", "کیلومتر بر ساعت"},
                                       {"km2", "کیلومتر مربع"},
                                       {"km²", "کیلومتر مربع"},
                                       {"km", "کیلومتر"},
                                       {"m/s", "متر بر ثانیه"},
                                       {"m2", "متر مربع"},
                                       {"m²", "متر مربع"},
                                       {"m3", "متر مکعب"},
                                       {"m³", "متر مکعب"},
                                       {"mm", "میلی‌متر"},
                                       {"ml", "میلی‌لیتر"},
                                       {"mL", "میلی‌لیتر"},
                                       {"mg", "میلی‌گرم"},
                                       {"ms", "میلی‌ثانیه"},
                                       {"cm", "سانتی‌متر"},
                                       {"kg", "کیلوگرم"},
                                       {"kW", "کیلووات"},
                                       {"kHz", "کیلوهرتز"},
                                       {"KB", "کیلوبایت"},
                                       {"MB", "مگابایت"},
                                       {"GB", "گیگابایت"},
                                       {"TB", "ترابایت"},
                                       {"MHz", "مگاهرتز"},
                                       {"GHz", "گیگاهرتز"},
                                       {"MW", "مگاوات"},
                                       {"Hz", "هرتز"},
                                       {"°C", "درجه سانتی‌گراد"},
                                       {"°F", "درجه فارنهایت"},
                                       {"°س", "درجه سانتی‌گراد"},
                                       {"°", "درجه"},
                                       {"%", "درصد"},
                                       {"m", "متر"},
                                       {"g", "گرم"},
                                       {"L", "لیتر"},
                                       {"W", "وات"},
                                       {"V", "ولت"},
                                       {"€", "یورو"},
                                       {"$", "دلار"},
                                       {"£", "پوند"},
                                       {"¥", "ین"}}};

constexpr std::array<Unit, 4> kCurrencies{
    {{"$", "دلار"}, {"€", "یورو"}, {"£", "پوند"}, {"¥", "ین"}}};

const Unit* unit_at(std::string_view text, std::size_t at) noexcept {
  for (const Unit& unit : kUnits) {
    if (!has_at(text, at, unit.sign)) continue;
    const bool is_name = is_letter(unit.sign.back());
    if (!is_name || !is_word_or_digit(text, at + unit.sign.size())) return &unit;
  }
  return nullptr;
}

// The unit of the amount that ends at `end`. A sign before digits belongs to them.
const Unit* unit_after(std::string_view text, std::size_t end) noexcept {
  const std::size_t sign = spaces_end(text, end);
  const Unit* unit = unit_at(text, sign);
  if (unit == nullptr) return nullptr;
  const bool is_before_digits =
      !is_letter(unit->sign.front()) && is_digit(peek(text, sign + unit->sign.size()));
  return is_before_digits ? nullptr : unit;
}

}  // namespace

bool has_unit_after(std::string_view text, std::size_t end) noexcept {
  return unit_after(text, end) != nullptr;
}

std::size_t append_unit_after(std::string_view text, std::size_t end, std::string& out) {
  const Unit* unit = unit_after(text, end);
  if (unit == nullptr) return end;
  out += ' ';
  out += unit->spoken;
  return spaces_end(text, end) + unit->sign.size();
}

// A number with a unit, a percent or a currency sign after it.
std::size_t read_measure(std::string_view text, std::size_t at, std::string& out) {
  const auto amount = read_amount(text, at);
  if (!amount || !has_unit_after(text, amount->end)) return 0;
  open_gap(out);
  append_amount(out, *amount);
  const std::size_t end = append_unit_after(text, amount->end, out);
  close_gap(text, end, out);
  return end - at;
}

// A currency sign before its number: $50, €2.5 میلیون.
std::size_t read_money(std::string_view text, std::size_t at, std::string& out) {
  for (const Unit& currency : kCurrencies) {
    if (!has_at(text, at, currency.sign)) continue;
    const auto amount = read_amount(text, spaces_end(text, at + currency.sign.size()));
    if (!amount) return 0;
    open_gap(out);
    append_amount(out, *amount);
    std::size_t end = amount->end;
    const std::string_view scale = scale_after(text, end, end);
    if (!scale.empty()) {
      out += ' ';
      out += scale;
    }
    out += ' ';
    out += currency.spoken;
    close_gap(text, end, out);
    return end - at;
  }
  return 0;
}

// %50, as Persian often writes it.
std::size_t read_percent_before(std::string_view text, std::size_t at, std::string& out) {
  if (text[at] != '%') return 0;
  const auto amount = read_amount(text, spaces_end(text, at + 1));
  if (!amount) return 0;
  open_gap(out);
  append_amount(out, *amount);
  out += " درصد";
  close_gap(text, amount->end, out);
  return amount->end - at;
}

}  // namespace stoker::text::persian
