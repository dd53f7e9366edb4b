#include "stoker/text/normalizer.h"

#include <unicode/uloc.h>

#include "stoker/text/errors.h"

namespace stoker::text {
namespace {

std::string_view primary_subtag(std::string_view tag) noexcept {
  return tag.substr(0, tag.find_first_of("-_"));
}

bool is_known_language(const std::string& language) {
  for (const char* const* code = uloc_getISOLanguages(); *code != nullptr; ++code) {
    if (language == *code) return true;
  }
  return false;
}

}  // namespace

void Normalizer::normalize(std::string_view text, NormalizeScratch& scratch,
                           std::string& out) const {
  out.clear();
  run(text, scratch, out, nullptr);
}

std::string Normalizer::normalize(std::string_view text) const {
  NormalizeScratch scratch;
  std::string out;
  normalize(text, scratch, out);
  return out;
}

std::vector<NormalizeStep> Normalizer::explain(std::string_view text, std::string& out) const {
  NormalizeScratch scratch;
  std::vector<NormalizeStep> steps;
  out.clear();
  run(text, scratch, out, &steps);
  return steps;
}

std::shared_ptr<const Normalizer> normalizer_for(std::string_view language) {
  const std::string primary(primary_subtag(language));
  if (primary == "en") return english::make_normalizer();
  if (primary == "fa") return persian::make_normalizer();
  if (!is_known_language(primary)) {
    raise({.code = &kTextLanguage,
           .place = {},
           .promised = "a language tag",
           .found = "\"" + std::string(language) + "\"",
           .action = {},
           .cure = {}});
  }
  return make_unicode_normalizer(std::string(language));
}

}  // namespace stoker::text
