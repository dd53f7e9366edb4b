// One form for each Persian letter: Arabic variants, digits of all kinds, marks without sound.
#pragma once

#include <cstdint>
#include <string>

namespace stoker::text::persian {

// A CharacterMap (text/characters.h): Yeh and Kaf in their Persian form, digits as 0–9, tatweel
// and vowel marks dropped, the zero-width non-joiner kept.
bool map_persian(std::uint32_t code_point, std::string& out);

}  // namespace stoker::text::persian
