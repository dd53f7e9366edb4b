// What the synthesiser knows of one speech sound: where its formants are, how it is excited, how it
// bends its neighbours and how long it lasts.
#pragma once

#include <array>
#include <span>
#include <string_view>

namespace stoker::data::voice {

enum class Language { kEnglish, kPersian };

enum class Manner {
  kSilence,
  kVowel,
  kGlide,
  kLiquid,
  kNasal,
  kAspirate,
  kFricative,
  kStop,
  kAffricate,
  kFlap,
};

// The first three resonances of an adult male tract; a speaker scales them.
struct Formants {
  double f1_hz = 500;
  double f2_hz = 1500;
  double f3_hz = 2500;
};

struct Bandwidths {
  double b1_hz = 60;
  double b2_hz = 90;
  double b3_hz = 150;
};

// The colour of turbulence noise: up to three peaks beside a flat share, nothing below
// `low_cut_hz`.
struct NoisePeak {
  double centre_hz = 0;
  double width_hz = 1000;
  double level_db = -99;
};
struct NoiseColour {
  std::array<NoisePeak, 3> peaks{};
  double flat_db = -99;
  double low_cut_hz = 0;
};

// Excitation in dB below full: glottal voice, breath through the whole tract, turbulence at the
// constriction.
struct Excitation {
  double voice_db = -99;
  double breath_db = -99;
  double noise_db = -99;
};

// How a sound bends its neighbours. At a boundary the sound of higher rank decides: the formant
// passes through locus + share * (neighbour's target - locus), reached from the neighbour within
// `outside_ms` and from its own target within `inside_ms`.
struct Coarticulation {
  int rank = 2;
  double share = 0.5;
  double outside_ms = 50;
  double inside_ms = 30;
};

struct Phone {
  std::string_view symbol;
  Manner manner = Manner::kSilence;
  Formants start{};
  Formants finish{};  // differs from start in diphthongs only
  Bandwidths bandwidths{};
  Excitation excitation{};
  NoiseColour noise{};
  Coarticulation bend{};
  double inherent_ms = 80;
  double least_ms = 40;
  double nasal_zero_hz = kOralZeroHz;
  double breath_after_ms = 0;  // a stop's aspiration: voice sets in this long after the release
  bool follows_vowel = false;  // velars close where the vowel beside them has its second formant

  static constexpr double kOralZeroHz = 270;  // where zero and pole of the nose cancel

  constexpr bool is_vowel() const { return manner == Manner::kVowel; }
  constexpr bool is_stop() const { return manner == Manner::kStop || manner == Manner::kAffricate; }
  constexpr bool is_voiced() const { return excitation.voice_db > -50; }
  constexpr bool is_sonorant() const {
    return manner == Manner::kVowel || manner == Manner::kGlide || manner == Manner::kLiquid ||
           manner == Manner::kNasal;
  }
};

// The sounds of a language; the first is silence.
std::span<const Phone> phones_of(Language language);

// The phone called `symbol` (a stress digit at its end is ignored), or null.
const Phone* find_phone(Language language, std::string_view symbol);

}  // namespace stoker::data::voice
