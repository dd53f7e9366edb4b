// A normaliser made of a language's characters and rules: what English and Persian have in common.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/text/characters.h"
#include "stoker/text/normalizer.h"
#include "stoker/text/rule_scanner.h"

namespace stoker::text {

// What one language brings; the views outlive the normaliser.
struct RuleLanguage {
  std::string_view name;
  std::uint32_t version = 0;
  CharacterMap map = nullptr;
  RuleBook book;
};

class RuleNormalizer final : public Normalizer {
 public:
  explicit RuleNormalizer(const RuleLanguage& language) : language_(language) {}

  std::string_view name() const noexcept override { return language_.name; }
  std::uint32_t version() const noexcept override { return language_.version; }

 private:
  void run(std::string_view text, NormalizeScratch& scratch, std::string& out,
           std::vector<NormalizeStep>* steps) const override;

  RuleLanguage language_;
};

}  // namespace stoker::text
