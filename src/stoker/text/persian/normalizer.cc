#include "stoker/text/persian/normalizer.h"

#include <array>

#include "stoker/text/persian/characters.h"
#include "stoker/text/persian/rules.h"
#include "stoker/text/rule_normalizer.h"

namespace stoker::text::persian {
namespace {

// Each list is in order of precedence: the most specific reading first.
constexpr std::array<Rule, 1> kAtLetter{{{"abbreviation", read_abbreviation}}};
constexpr std::array<Rule, 9> kAtDigit{{{"date", read_date},
                                        {"time", read_time},
                                        {"phone", read_phone},
                                        {"era", read_era},
                                        {"ordinal", read_ordinal},
                                        {"fraction", read_fraction},
                                        {"range", read_range},
                                        {"unit", read_measure},
                                        {"number", read_cardinal}}};
constexpr std::array<Rule, 5> kAtMark{{{"money", read_money},
                                       {"percent", read_percent_before},
                                       {"sign", read_signed},
                                       {"fraction", read_fraction},
                                       {"symbol", read_symbol}}};
constexpr RuleLanguage kLanguage{
    .name = "persian", .version = 1, .map = map_persian, .book = {kAtLetter, kAtDigit, kAtMark}};

}  // namespace

std::shared_ptr<const Normalizer> make_normalizer() {
  return std::make_shared<const RuleNormalizer>(kLanguage);
}

}  // namespace stoker::text::persian
