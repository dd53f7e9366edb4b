#include "stoker/text/rule_normalizer.h"

#include "stoker/text/scan.h"

namespace stoker::text {

void RuleNormalizer::run(std::string_view text, NormalizeScratch& scratch, std::string& out,
                         std::vector<NormalizeStep>* steps) const {
  const std::string_view cleaned = clean_characters(text, language_.map, scratch);
  if (steps != nullptr && cleaned != text) {
    steps->push_back({"characters", std::string(text), std::string(cleaned)});
  }
  scan_rules(language_.book, cleaned, out, steps);
  squeeze_spaces(out);
}

}  // namespace stoker::text
