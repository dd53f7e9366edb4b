// The names of the special ids that every native vocabulary shares.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "stoker/text/vocabulary.h"

namespace stoker::text {

inline std::string native_special_name(std::int32_t id) {
  constexpr std::array<std::string_view, kFirstNativeSymbol> kNames{"<pad>", "<unk>", "<blank>",
                                                                    "<bos>", "<eos>"};
  const bool known = id >= 0 && id < kFirstNativeSymbol;
  return known ? std::string(kNames[static_cast<std::size_t>(id)]) : std::string();
}

}  // namespace stoker::text
