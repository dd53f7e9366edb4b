#include "stoker/text/normalizer.h"

#include <array>

#include "stoker/text/english/rules.h"
#include "stoker/text/rule_normalizer.h"

namespace stoker::text::english {
namespace {

// Each list is in order of precedence: the most specific reading first.
constexpr std::array<Rule, 8> kAtLetter{{{"address", read_address},
                                         {"money", read_money},
                                         {"month", read_month},
                                         {"abbreviation", read_abbreviation},
                                         {"roman", read_roman},
                                         {"initials", read_initials},
                                         {"acronym", read_acronym},
                                         {"by", read_by}}};
constexpr std::array<Rule, 13> kAtDigit{{{"date", read_date},
                                         {"time", read_time},
                                         {"phone", read_phone},
                                         {"version", read_dotted},
                                         {"ordinal", read_ordinal},
                                         {"decade", read_decade},
                                         {"fraction", read_fraction},
                                         {"range", read_range},
                                         {"money", read_money_after},
                                         {"unit", read_measure},
                                         {"label", read_label},
                                         {"year", read_year},
                                         {"number", read_cardinal}}};
constexpr std::array<Rule, 6> kAtMark{{{"money", read_money},
                                       {"sign", read_signed},
                                       {"decade", read_short_decade},
                                       {"phone", read_area_code},
                                       {"fraction", read_fraction},
                                       {"symbol", read_symbol}}};
constexpr RuleLanguage kLanguage{
    .name = "english", .version = 2, .map = map_latin, .book = {kAtLetter, kAtDigit, kAtMark}};

}  // namespace

std::shared_ptr<const Normalizer> make_normalizer() {
  return std::make_shared<const RuleNormalizer>(kLanguage);
}

}  // namespace stoker::text::english
