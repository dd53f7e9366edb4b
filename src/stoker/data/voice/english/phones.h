// The sounds of American English under their ARPAbet names.
#pragma once

#include <array>

#include "stoker/data/voice/consonants.h"

namespace stoker::data::voice {

inline constexpr std::array kEnglishPhones{
    silence("SP"),
    // Vowels: Peterson and Barney's men (1952), the rounded ones as speakers of today front them.
    vowel("IY", {285, 2250, 2950}, 130),
    vowel("IH", {400, 1950, 2560}, 105),
    vowel("EH", {540, 1820, 2500}, 125),
    vowel("AE", {670, 1720, 2430}, 180),
    vowel("AA", {740, 1110, 2450}, 180),
    vowel("AO", {590, 880, 2430}, 180),
    vowel("UH", {445, 1080, 2270}, 110),
    vowel("UW", {310, 980, 2250}, 145),
    vowel("AH", {630, 1200, 2420}, 120),
    vowel("AX", {500, 1420, 2460}, 75),
    vowel("ER", {480, 1320, 1690}, 150),
    diphthong("EY", {500, 1850, 2500}, {330, 2200, 2750}, 160),
    diphthong("AY", {720, 1180, 2450}, {380, 1980, 2600}, 200),
    diphthong("OY", {550, 860, 2400}, {380, 1920, 2550}, 220),
    diphthong("AW", {730, 1260, 2450}, {430, 920, 2350}, 200),
    diphthong("OW", {520, 980, 2400}, {370, 820, 2300}, 170),
    approximant("W", Manner::kGlide, {290, 640, 2150}, {50, 80, 60}),
    approximant("Y", Manner::kGlide, {265, 2150, 3000}, {45, 200, 300}),
    approximant("R", Manner::kLiquid, {320, 1120, 1500}, {70, 100, 120}),
    approximant("L", Manner::kLiquid, {340, 1080, 2750}, {60, 100, 250}),
    approximant("LD", Manner::kLiquid, {440, 880, 2650}, {70, 100, 250}),
    flap("DX", {320, 1700, 2600}),
    nasal("M", {{300, 1050, 2150}, 0.35}, 500),
    nasal("N", {{300, 1550, 2500}, 0.4}, 700),
    nasal("NG", {{300, 1950, 2600}, 0.5}, 800),
    breath("HH"),
    fricative("F", {{340, 1050, 2150}, 0.4}, kLabialNoise, {.noise_db = -20}),
    fricative("V", {{250, 1050, 2150}, 0.4}, kLabialNoise, {.voice_db = -7, .noise_db = -27}),
    fricative("TH", {{320, 1350, 2550}, 0.4}, kDentalNoise, {.noise_db = -22}),
    fricative("DH", {{280, 1350, 2550}, 0.4}, kDentalNoise, {.voice_db = -7, .noise_db = -32}),
    fricative("S", {{320, 1500, 2600}, 0.45}, kAlveolarNoise, {.noise_db = -6}),
    fricative("Z", {{260, 1500, 2600}, 0.45}, kAlveolarNoise, {.voice_db = -10, .noise_db = -12}),
    fricative("SH", {{320, 1850, 2700}, 0.45}, kPalatalNoise, {.noise_db = -3}),
    fricative("ZH", {{270, 1850, 2700}, 0.45}, kPalatalNoise, {.voice_db = -10, .noise_db = -10}),
    stop("P", {{350, 850, 2150}, 0.45}, kLabialBurst, {.breath_db = -8, .noise_db = -8}),
    stop("B", {{220, 850, 2150}, 0.45}, kLabialBurst, {.voice_db = -14, .noise_db = -12}),
    stop("T", {{350, 1750, 2650}, 0.45}, kAlveolarBurst, {.breath_db = -8, .noise_db = -3}),
    stop("D", {{220, 1750, 2650}, 0.45}, kAlveolarBurst, {.voice_db = -14, .noise_db = -9}),
    velar(stop("K", {{320, 1850, 2500}, 0.5}, kVelarBurst, {.breath_db = -8, .noise_db = -3})),
    velar(stop("G", {{220, 1850, 2500}, 0.5}, kVelarBurst, {.voice_db = -14, .noise_db = -9})),
    affricate("CH", {{320, 1850, 2700}, 0.45}, kPalatalNoise, {.noise_db = -3}),
    affricate("JH", {{230, 1850, 2700}, 0.45}, kPalatalNoise, {.voice_db = -14, .noise_db = -8}),
};

}  // namespace stoker::data::voice
