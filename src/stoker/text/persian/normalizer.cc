#include "stoker/text/persian/normalizer.h"

#include <array>

#include "stoker/text/characters.h"
#include "stoker/text/persian/characters.h"
#include "stoker/text/persian/rules.h"
#include "stoker/text/rule_scanner.h"
#include "stoker/text/scan.h"

namespace stoker::text::persian {
namespace {

constexpr std::uint32_t kVersion = 1;

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
constexpr RuleBook kBook{kAtLetter, kAtDigit, kAtMark};

class PersianNormalizer final : public Normalizer {
 public:
  std::string_view name() const noexcept override { return "persian"; }
  std::uint32_t version() const noexcept override { return kVersion; }

 private:
  void run(std::string_view text, NormalizeScratch& scratch, std::string& out,
           std::vector<NormalizeStep>* steps) const override {
    const std::string_view cleaned = clean_characters(text, map_persian, scratch);
    if (steps != nullptr && cleaned != text) {
      steps->push_back({"characters", std::string(text), std::string(cleaned)});
    }
    scan_rules(kBook, cleaned, out, steps);
    squeeze_spaces(out);
  }
};

}  // namespace

std::shared_ptr<const Normalizer> make_normalizer() {
  return std::make_shared<const PersianNormalizer>();
}

}  // namespace stoker::text::persian
