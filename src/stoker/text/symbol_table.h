// Code point to id, as one array lookup for the scripts people write and a search for the rest.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "stoker/text/vocabulary.h"

namespace stoker::text {

class SymbolTable {
 public:
  SymbolTable();

  // A later id for the same code point wins.
  void set(std::uint32_t code_point, std::int32_t id);
  // kNoId when the code point has none.
  std::int32_t find(std::uint32_t code_point) const noexcept;

 private:
  std::vector<std::int32_t> direct_;                            // [code point]
  std::vector<std::pair<std::uint32_t, std::int32_t>> others_;  // sorted
};

// Vocabulary::encode for vocabularies of single characters.
void encode_characters(const SymbolTable& table, std::string_view text,
                       std::vector<std::int32_t>& ids, std::vector<UnknownSymbol>& unknown);

}  // namespace stoker::text
