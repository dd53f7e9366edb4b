// Settings of what an utterance becomes: mel recipe, preparation, augmentation and tokens.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>

#include "stoker/config/choices.h"
#include "stoker/config/field.h"

namespace stoker::config {

// The recipe is the preset with the given values put in (auto: the preset's own); recipe_of() makes
// it.
struct FeatureSettings {
  static constexpr std::string_view kSection = "features";
  static constexpr std::string_view kTitle = "Features";

  std::string preset = "hifigan";
  Auto<std::int64_t> sample_rate_hz, n_fft, hop_samples, win_samples, num_mels;
  Auto<double> fmin_hz, fmax_hz;
  StringMap mel;
  bool trim_silence = false;
  double trim_top_db = 60.0;
  LoudnessRule loudness = LoudnessRule::kNone;
  double target_loudness_lufs = -23.0, target_rms_db = -20.0, target_peak = 0.95;

  static constexpr auto fields() {
    using C = FeatureSettings;
    constexpr Affects kFeatures = Affects::kFeatures;
    return std::tuple{
        field("preset", &C::preset, "Mel recipe; its values hold wherever a value below is auto.")
            .choices("hifigan tacotron2 myxtts myxtts_tf librosa torchaudio whisper xtts kaldi "
                     "vocos24")
            .affects(kFeatures),
        field("sample_rate", &C::sample_rate_hz, {1000, 768'000}, "Rate of the features.")
            .unit("Hz")
            .myxtts("data.sample_rate audio.sample_rate model.sample_rate")
            .affects(kFeatures),
        field("n_fft", &C::n_fft, {64, 8192}, "Length of the transform.")
            .unit("samples")
            .myxtts("data.n_fft audio.n_fft model.n_fft")
            .affects(kFeatures),
        field("hop_length", &C::hop_samples, {1, 8192}, "Samples from one frame to the next.")
            .unit("samples")
            .myxtts("data.hop_length audio.hop_length model.hop_length")
            .affects(kFeatures),
        field("win_length", &C::win_samples, {2, 8192}, "Length of the window.")
            .unit("samples")
            .myxtts("data.win_length audio.win_length model.win_length")
            .affects(kFeatures),
        field("n_mels", &C::num_mels, {1, 512}, "Mel bands.")
            .myxtts("data.n_mels audio.n_mels model.n_mels model.n_mel_channels")
            .affects(kFeatures),
        field("fmin", &C::fmin_hz, {0.0, 384'000.0}, "Lower edge of the first band.")
            .unit("Hz")
            .myxtts("data.fmin model.fmin")
            .affects(kFeatures),
        field("fmax", &C::fmax_hz, {1.0, 384'000.0}, "Upper edge of the last band.")
            .unit("Hz")
            .myxtts("data.fmax model.fmax")
            .affects(kFeatures),
        field("mel", &C::mel,
              "Any other value of the recipe by its name, e.g. {scale: htk, power: 2}.")
            .affects(kFeatures),
        field("trim_silence", &C::trim_silence, "Cut silence at both ends.")
            .myxtts("data.trim_silence")
            .affects(kFeatures),
        field("trim_top_db", &C::trim_top_db, {1.0, 200.0},
              "What is this far below the loudest frame is silence.")
            .unit("dB")
            .affects(kFeatures),
        field("loudness", &C::loudness, "Bring every utterance to one loudness.")
            .affects(kFeatures),
        field("target_loudness_lufs", &C::target_loudness_lufs, {-70.0, 0.0},
              "Target of lufs; peaks stay below -1 dBFS.")
            .unit("LUFS")
            .myxtts("data.target_loudness_lufs")
            .affects(kFeatures),
        field("target_rms_db", &C::target_rms_db, {-70.0, 0.0}, "Target of rms.")
            .unit("dBFS")
            .affects(kFeatures),
        field("target_peak", &C::target_peak, {0.01, 1.0}, "Target of peak; 1 is full scale.")
            .affects(kFeatures),
    };
  }
};

// Drawn anew for each utterance and epoch from keyed randomness; mels are then made from samples.
struct AugmentSettings {
  static constexpr std::string_view kSection = "augment";
  static constexpr std::string_view kTitle = "Augmentation";

  bool enable_noise_mixing = false;
  double noise_mixing_probability = 0.3;
  Interval noise_mixing_snr_db{10.0, 30.0};
  std::string noise_dir;
  bool enable_pitch_shift = false;
  Interval pitch_shift_semitones{-2.0, 2.0};
  Interval speed_factor{1.0, 1.0};
  Interval gain_db{0.0, 0.0};

  static constexpr auto fields() {
    using C = AugmentSettings;
    constexpr Affects kOrder = Affects::kOrder;
    return std::tuple{
        field("enable_noise_mixing", &C::enable_noise_mixing, "Mix noise into utterances.")
            .myxtts("data.enable_noise_mixing")
            .affects(kOrder),
        field("noise_mixing_probability", &C::noise_mixing_probability, {0.0, 1.0},
              "Share of utterances that get noise.")
            .myxtts("data.noise_mixing_probability")
            .affects(kOrder),
        field("noise_mixing_snr_range", &C::noise_mixing_snr_db, {-20.0, 100.0},
              "Signal-to-noise ratios to draw from.")
            .unit("dB")
            .myxtts("data.noise_mixing_snr_range")
            .affects(kOrder),
        field("noise_dir", &C::noise_dir, "Folder of noise recordings; empty: white noise.")
            .affects(kOrder),
        field("enable_pitch_shift", &C::enable_pitch_shift,
              "Shift pitch (and tempo) by resampling.")
            .myxtts("data.enable_pitch_shift")
            .affects(kOrder)
            .not_yet(NotYet::kFeed),
        field("pitch_shift_range", &C::pitch_shift_semitones, {-24.0, 24.0}, "Shifts to draw from.")
            .unit("semitones")
            .myxtts("data.pitch_shift_range")
            .affects(kOrder)
            .not_yet(NotYet::kFeed),
        field("speed_range", &C::speed_factor, {0.25, 4.0}, "Speed factors to draw from.")
            .affects(kOrder)
            .not_yet(NotYet::kFeed),
        field("gain_range", &C::gain_db, {-60.0, 60.0}, "Gains to draw from.")
            .unit("dB")
            .affects(kOrder),
    };
  }
};

// From text to token ids.
struct TextSettings {
  static constexpr std::string_view kSection = "text";
  static constexpr std::string_view kTitle = "Text";

  Auto<std::string> language;
  std::string vocabulary = "characters";
  std::string vocabulary_file;
  std::string cleaner = "auto";
  UnknownCharacters unknown = UnknownCharacters::kUnk;
  double max_unknown_fraction = 0.1;
  bool add_blank = false;
  std::string phonemes_file = "phonemes.csv";

  static constexpr auto fields() {
    using C = TextSettings;
    constexpr Affects kText = Affects::kText;
    return std::tuple{
        field("language", &C::language,
              "Language of the texts where a row names none; auto: as the data set records it, "
              "else en.")
            .myxtts("data.language")
            .affects(kText),
        field("vocabulary", &C::vocabulary, "What a token is.")
            .choices("characters bytes myxtts phonemes sentencepiece")
            .affects(kText),
        field("vocabulary_file", &C::vocabulary_file, "Model file of sentencepiece.")
            .affects(kText),
        field("cleaner", &C::cleaner,
              "Normalisation before tokens; auto: the language's own rules.")
            .choices("auto none english persian unicode basic_cleaners english_cleaners "
                     "multilingual_cleaners")
            .affects(kText),
        field("unknown", &C::unknown, "Characters outside the vocabulary.").affects(kText),
        field("max_unknown_fraction", &C::max_unknown_fraction, {0.0, 1.0},
              "Share of characters that may be outside the vocabulary before the work ends."),
        field("add_blank", &C::add_blank, "A blank token between symbols.")
            .myxtts("data.add_blank")
            .affects(kText),
        field("phonemes_file", &C::phonemes_file,
              "Sidecar of the data set for vocabulary phonemes: id|phones a line.")
            .affects(kText),
    };
  }
};

}  // namespace stoker::config
