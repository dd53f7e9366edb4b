#include "stoker/data/voice/phone.h"

#include <array>

namespace stoker::data::voice {
namespace {

// Consonants shared by English and Persian are functions of their names: the two languages spell
// them differently but the tract does the same.
// Loci and bandwidths follow the published tables of cascade/parallel formant synthesis (Klatt,
// "Software for a cascade/parallel formant synthesizer", 1980); noise colours follow measured
// spectra of fricatives up to 8 kHz.
constexpr NoiseColour kLabialNoise{.peaks = {{{1500, 2500, -8}, {7500, 4500, 0}, {4200, 3000, -4}}},
                                   .flat_db = -20};
constexpr NoiseColour kDentalNoise{
    .peaks = {{{1600, 1500, -12}, {6400, 3500, 0}, {4600, 2500, -5}}}, .flat_db = -22};
constexpr NoiseColour kAlveolarNoise{
    .peaks = {{{4700, 1100, -6}, {6100, 1800, 0}, {8000, 2500, -3}}},
    .flat_db = -40,
    .low_cut_hz = 3600};
constexpr NoiseColour kPalatalNoise{.peaks = {{{2650, 500, 0}, {3700, 1200, -3}, {5200, 1800, -8}}},
                                    .flat_db = -42,
                                    .low_cut_hz = 1700};
constexpr NoiseColour kUvularNoise{.peaks = {{{1250, 350, 0}, {2600, 500, -9}, {3800, 900, -14}}},
                                   .flat_db = -44};
constexpr NoiseColour kLabialBurst{.peaks = {{{700, 900, 0}, {1500, 1500, -4}, {4000, 3000, -16}}},
                                   .flat_db = -30};
constexpr NoiseColour kAlveolarBurst{
    .peaks = {{{3900, 1300, 0}, {5500, 2500, -2}, {2700, 900, -8}}},
    .flat_db = -36,
    .low_cut_hz = 2000};
constexpr NoiseColour kVelarBurst{.peaks = {{{1900, 450, 0}, {3200, 900, -13}, {4800, 1500, -18}}},
                                  .flat_db = -44};

constexpr Bandwidths kVoicelessWidths{200, 120, 200};
constexpr Bandwidths kVoicedWidths{70, 90, 170};

struct Tongue {
  Formants locus;
  double share = 0.5;
};

constexpr Phone stop(std::string_view symbol, const Tongue& place, const NoiseColour& burst,
                     const Excitation& excitation) {
  const bool voiced = excitation.voice_db > -50;
  Phone phone{.symbol = symbol, .manner = Manner::kStop, .start = place.locus};
  phone.finish = place.locus;
  phone.bandwidths = voiced ? kVoicedWidths : kVoicelessWidths;
  phone.excitation = excitation;
  phone.noise = burst;
  phone.bend = {.rank = 26, .share = place.share, .outside_ms = 55, .inside_ms = 20};
  phone.inherent_ms = voiced ? 75 : 85;
  phone.least_ms = voiced ? 55 : 60;
  phone.breath_after_ms = excitation.breath_db > -50 ? 42 : 6;
  return phone;
}

constexpr Phone velar(Phone phone) {
  phone.follows_vowel = true;
  return phone;
}

constexpr Phone fricative(std::string_view symbol, const Tongue& place, const NoiseColour& noise,
                          const Excitation& excitation) {
  const bool voiced = excitation.voice_db > -50;
  Phone phone{.symbol = symbol, .manner = Manner::kFricative, .start = place.locus};
  phone.finish = place.locus;
  phone.bandwidths = voiced ? kVoicedWidths : kVoicelessWidths;
  phone.excitation = excitation;
  phone.noise = noise;
  phone.bend = {.rank = 18, .share = place.share, .outside_ms = 50, .inside_ms = 30};
  phone.inherent_ms = voiced ? 80 : 110;
  phone.least_ms = voiced ? 45 : 65;
  return phone;
}

constexpr Phone affricate(std::string_view symbol, const Tongue& place, const NoiseColour& noise,
                          const Excitation& excitation) {
  Phone phone = stop(symbol, place, noise, excitation);
  phone.manner = Manner::kAffricate;
  phone.inherent_ms = 130;
  phone.least_ms = 95;
  phone.breath_after_ms = 5;
  return phone;
}

constexpr Phone nasal(std::string_view symbol, const Tongue& place, double zero_hz) {
  Phone phone{.symbol = symbol, .manner = Manner::kNasal, .start = place.locus};
  phone.finish = place.locus;
  phone.bandwidths = {50, 220, 250};
  phone.excitation = {.voice_db = -3};
  phone.bend = {.rank = 15, .share = place.share, .outside_ms = 50, .inside_ms = 20};
  phone.inherent_ms = 70;
  phone.least_ms = 45;
  phone.nasal_zero_hz = zero_hz;
  return phone;
}

constexpr Phone approximant(std::string_view symbol, Manner manner, const Formants& target,
                            const Bandwidths& widths) {
  Phone phone{.symbol = symbol, .manner = manner, .start = target};
  phone.finish = target;
  phone.bandwidths = widths;
  phone.excitation = {.voice_db = -3};
  phone.bend = {.rank = 10, .share = 0.4, .outside_ms = 70, .inside_ms = 40};
  phone.inherent_ms = 75;
  phone.least_ms = 45;
  return phone;
}

// One tap of the tongue tip: voice goes on, only weaker.
constexpr Phone flap(std::string_view symbol, const Formants& target) {
  Phone phone = approximant(symbol, Manner::kFlap, target, {80, 110, 180});
  phone.excitation = {.voice_db = -9};
  phone.bend = {.rank = 12, .share = 0.5, .outside_ms = 40, .inside_ms = 10};
  phone.inherent_ms = 32;
  phone.least_ms = 26;
  return phone;
}

constexpr Phone breath(std::string_view symbol) {
  Phone phone{.symbol = symbol, .manner = Manner::kAspirate};
  phone.bandwidths = {150, 110, 180};
  phone.excitation = {.breath_db = -6};
  phone.bend = {.rank = 1, .share = 1.0, .outside_ms = 30, .inside_ms = 30};
  phone.inherent_ms = 65;
  phone.least_ms = 40;
  return phone;
}

constexpr Phone vowel(std::string_view symbol, const Formants& target, double inherent_ms) {
  Phone phone{.symbol = symbol, .manner = Manner::kVowel, .start = target};
  phone.finish = target;
  phone.excitation = {.voice_db = 0};
  phone.inherent_ms = inherent_ms;
  phone.least_ms = inherent_ms * 0.42;
  return phone;
}

constexpr Phone diphthong(std::string_view symbol, const Formants& start, const Formants& finish,
                          double inherent_ms) {
  Phone phone = vowel(symbol, start, inherent_ms);
  phone.finish = finish;
  return phone;
}

constexpr Phone silence(std::string_view symbol) {
  Phone phone{.symbol = symbol, .manner = Manner::kSilence};
  phone.bend = {.rank = 0, .share = 1.0, .outside_ms = 10, .inside_ms = 10};
  return phone;
}

// The sounds of American English under their ARPAbet names.
constexpr std::array kEnglishPhones{
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

// The sounds of Tehrani Persian; names are one or two Latin letters, A is the long back vowel.
constexpr std::array kPersianPhones{
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

}  // namespace

std::span<const Phone> phones_of(Language language) {
  if (language == Language::kPersian) return kPersianPhones;
  return kEnglishPhones;
}

const Phone* find_phone(Language language, std::string_view symbol) {
  if (!symbol.empty() && symbol.back() >= '0' && symbol.back() <= '2') symbol.remove_suffix(1);
  for (const Phone& phone : phones_of(language)) {
    if (phone.symbol == symbol) return &phone;
  }
  return nullptr;
}

}  // namespace stoker::data::voice
