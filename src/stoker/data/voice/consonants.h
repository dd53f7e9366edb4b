// Consonants shared by English and Persian, as functions of their names: the two languages spell
// them differently but the tract does the same.
#pragma once

#include "stoker/data/voice/phone.h"

namespace stoker::data::voice {

// Loci and bandwidths follow the published tables of cascade/parallel formant synthesis (Klatt,
// "Software for a cascade/parallel formant synthesizer", 1980); noise colours follow measured
// spectra of fricatives up to 8 kHz.
inline constexpr NoiseColour kLabialNoise{
    .peaks = {{{1500, 2500, -8}, {7500, 4500, 0}, {4200, 3000, -4}}}, .flat_db = -20};
inline constexpr NoiseColour kDentalNoise{
    .peaks = {{{1600, 1500, -12}, {6400, 3500, 0}, {4600, 2500, -5}}}, .flat_db = -22};
inline constexpr NoiseColour kAlveolarNoise{
    .peaks = {{{4700, 1100, -6}, {6100, 1800, 0}, {8000, 2500, -3}}},
    .flat_db = -40,
    .low_cut_hz = 3600};
inline constexpr NoiseColour kPalatalNoise{
    .peaks = {{{2650, 500, 0}, {3700, 1200, -3}, {5200, 1800, -8}}},
    .flat_db = -42,
    .low_cut_hz = 1700};
inline constexpr NoiseColour kUvularNoise{
    .peaks = {{{1250, 350, 0}, {2600, 500, -9}, {3800, 900, -14}}}, .flat_db = -44};
inline constexpr NoiseColour kLabialBurst{
    .peaks = {{{700, 900, 0}, {1500, 1500, -4}, {4000, 3000, -16}}}, .flat_db = -30};
inline constexpr NoiseColour kAlveolarBurst{
    .peaks = {{{3900, 1300, 0}, {5500, 2500, -2}, {2700, 900, -8}}},
    .flat_db = -36,
    .low_cut_hz = 2000};
inline constexpr NoiseColour kVelarBurst{
    .peaks = {{{1900, 450, 0}, {3200, 900, -13}, {4800, 1500, -18}}}, .flat_db = -44};

inline constexpr Bandwidths kVoicelessWidths{200, 120, 200};
inline constexpr Bandwidths kVoicedWidths{70, 90, 170};

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

}  // namespace stoker::data::voice
