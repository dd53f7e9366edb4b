// Numbers for the built-in sentences: drawn, written in digits, and read in words.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "stoker/base/philox.h"
#include "stoker/data/voice/phone.h"

namespace stoker::data::voice {

struct WrittenAndRead {
  std::string written;  // "$5"
  std::string read;     // "five dollars"
};

// A number of `kind`: count, year, hour, price, percent, ordinal or distance.
WrittenAndRead draw_number(Language language, std::string_view kind, KeyedDraws& draws);

}  // namespace stoker::data::voice
