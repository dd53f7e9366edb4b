// A normaliser made of a language's characters and rules: what English and Persian have in common.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/text/characters.h"
#include "stoker/text/normalizer.h"

namespace stoker::text {

// Reads what starts at `at`: appends its words to `out` and returns how many bytes it took, or
// returns 0 and leaves `out` alone.
using RuleFunction = std::size_t (*)(std::string_view text, std::size_t at, std::string& out);

struct Rule {
  std::string_view name;
  RuleFunction apply;
};

// Which rules may begin with which kind of character, each list in order of precedence.
struct RuleBook {
  std::span<const Rule> at_letter;  // tried at the start of a word
  std::span<const Rule> at_digit;   // tried at the start of a run of digits
  std::span<const Rule> at_mark;    // tried at everything that is neither, spaces apart
};

// Walks a sentence once; at each place the first rule that fits reads what is there. Appends the
// reading of `text` to `out`, adding a step for each rule that fired when `steps` is
// not null. Linear in the text as long as each rule is.
void scan_rules(const RuleBook& book, std::string_view text, std::string& out,
                std::vector<NormalizeStep>* steps);

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
