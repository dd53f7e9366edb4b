// The first step of every language: one form for each character, and nothing invisible.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "stoker/text/normalizer.h"

namespace stoker::text {

// How a language writes one character: appends its form and returns true, or returns false to
// keep the character as it is.
using CharacterMap = bool (*)(std::uint32_t code_point, std::string& out);

// Control, bidirectional and zero-width characters: they have no sound and no place in a text.
bool is_invisible(std::uint32_t code_point) noexcept;
bool is_space(std::uint32_t code_point) noexcept;

// Unicode NFC, then `map`; spaces of all kinds become ' ', invisible characters and bytes that are
// not UTF-8 are left out and counted in scratch.num_removed. The result lives in `scratch` or is
// `text` itself when nothing had to change.
std::string_view clean_characters(std::string_view text, CharacterMap map,
                                  NormalizeScratch& scratch);

// Typographic quotes, dashes and ellipses in ASCII; the map of the Latin-script languages.
bool map_latin(std::uint32_t code_point, std::string& out);

}  // namespace stoker::text
