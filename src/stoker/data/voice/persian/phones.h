// The sounds of Tehrani Persian; names are one or two Latin letters, A is the long back vowel.
#pragma once

#include <array>

#include "stoker/data/voice/consonants.h"

namespace stoker::data::voice {

inline constexpr std::array kPersianPhones{
    silence("SP"),
    // The six vowels and two diphthongs, as measured in men of Tehran.
    vowel("i", {300, 2180, 2850}, 130),
    vowel("e", {460, 1860, 2550}, 100),
    vowel("a", {720, 1600, 2450}, 110),
    vowel("A", {610, 1020, 2450}, 150),
    vowel("o", {460, 950, 2400}, 100),
    vowel("u", {325, 820, 2300}, 135),
    diphthong("ey", {480, 1850, 2500}, {320, 2150, 2700}, 150),
    diphthong("ow", {480, 950, 2400}, {350, 820, 2300}, 150),
    approximant("y", Manner::kGlide, {265, 2150, 3000}, {45, 200, 300}),
    flap("r", {400, 1400, 2350}),
    approximant("l", Manner::kLiquid, {330, 1400, 2650}, {60, 100, 250}),
    nasal("m", {{300, 1050, 2150}, 0.35}, 500),
    nasal("n", {{300, 1550, 2500}, 0.4}, 700),
    breath("h"),
    fricative("f", {{340, 1050, 2150}, 0.4}, kLabialNoise, {.noise_db = -20}),
    fricative("v", {{250, 1050, 2150}, 0.4}, kLabialNoise, {.voice_db = -7, .noise_db = -27}),
    fricative("s", {{320, 1500, 2600}, 0.45}, kAlveolarNoise, {.noise_db = -6}),
    fricative("z", {{260, 1500, 2600}, 0.45}, kAlveolarNoise, {.voice_db = -10, .noise_db = -12}),
    fricative("S", {{320, 1850, 2700}, 0.45}, kPalatalNoise, {.noise_db = -3}),
    fricative("Z", {{270, 1850, 2700}, 0.45}, kPalatalNoise, {.voice_db = -10, .noise_db = -10}),
    fricative("x", {{420, 1250, 2400}, 0.6}, kUvularNoise, {.breath_db = -18, .noise_db = -6}),
    stop("p", {{350, 850, 2150}, 0.45}, kLabialBurst, {.breath_db = -8, .noise_db = -8}),
    stop("b", {{220, 850, 2150}, 0.45}, kLabialBurst, {.voice_db = -14, .noise_db = -12}),
    stop("t", {{350, 1750, 2650}, 0.45}, kAlveolarBurst, {.breath_db = -8, .noise_db = -3}),
    stop("d", {{220, 1750, 2650}, 0.45}, kAlveolarBurst, {.voice_db = -14, .noise_db = -9}),
    velar(stop("k", {{320, 1850, 2500}, 0.5}, kVelarBurst, {.breath_db = -8, .noise_db = -3})),
    velar(stop("g", {{220, 1850, 2500}, 0.5}, kVelarBurst, {.voice_db = -14, .noise_db = -9})),
    stop("q", {{300, 1250, 2400}, 0.6}, kUvularNoise, {.voice_db = -16, .noise_db = -9}),
    stop("Q", {{450, 1400, 2450}, 1.0}, kVelarBurst, {.noise_db = -40}),
    affricate("C", {{320, 1850, 2700}, 0.45}, kPalatalNoise, {.noise_db = -3}),
    affricate("J", {{230, 1850, 2700}, 0.45}, kPalatalNoise, {.voice_db = -14, .noise_db = -8}),
};

}  // namespace stoker::data::voice
