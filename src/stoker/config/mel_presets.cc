#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "stoker/config/errors.h"
#include "stoker/config/nearest_name.h"
#include "stoker/config/settings.h"

namespace stoker::config {
namespace {

MelRecipe hifigan() { return {}; }

MelRecipe tacotron2() {
  MelRecipe r;
  r.framing = MelFraming::kCenter;
  r.magnitude_epsilon = 0.0;
  return r;
}

MelRecipe myxtts() {
  MelRecipe r = tacotron2();
  r.pad_mode = MelPadMode::kZero;
  r.fmax_hz = 11025.0;
  return r;
}

// The filters are those of tf.signal.linear_to_mel_weight_matrix: flanks straight in mel.
MelRecipe myxtts_tf() {
  MelRecipe r = myxtts();
  r.framing = MelFraming::kPadEnd;
  r.scale = MelScale::kHtk;
  r.triangle = MelTriangle::kMel;
  r.norm = MelNorm::kNone;
  r.floor_mode = MelFloor::kAdd;
  r.floor = 1e-6;
  r.range = MelRange::kMinMax;
  return r;
}

MelRecipe librosa() {
  MelRecipe r = myxtts();
  r.n_fft = 2048;
  r.win_samples = 2048;
  r.hop_samples = 512;
  r.power = 2;
  r.num_mels = 128;
  r.log = MelLog::kNone;
  r.floor = 0.0;
  return r;
}

MelRecipe torchaudio() {
  MelRecipe r = tacotron2();
  r.sample_rate_hz = 16000;
  r.n_fft = 400;
  r.win_samples = 400;
  r.hop_samples = 200;
  r.power = 2;
  r.num_mels = 128;
  r.scale = MelScale::kHtk;
  r.norm = MelNorm::kNone;
  r.log = MelLog::kNone;
  r.floor = 0.0;
  return r;
}

MelRecipe whisper() {
  MelRecipe r = tacotron2();
  r.sample_rate_hz = 16000;
  r.fit_samples = 480000;
  r.n_fft = 400;
  r.win_samples = 400;
  r.hop_samples = 160;
  r.drop_last_frames = 1;
  r.power = 2;
  r.log = MelLog::kLog10;
  r.floor = 1e-10;
  r.range = MelRange::kBelowMax;
  r.range_below_max = 8.0;
  r.out_offset = 4.0;
  r.out_scale = 0.25;
  return r;
}

MelRecipe xtts() {
  MelRecipe r = tacotron2();
  r.n_fft = 2048;
  r.power = 2;
  r.scale = MelScale::kHtk;
  return r;
}

MelRecipe kaldi() {
  MelRecipe r = tacotron2();
  r.sample_rate_hz = 16000;
  r.n_fft = 512;
  r.win_samples = 400;
  r.hop_samples = 160;
  r.window = MelWindow::kPovey;
  r.framing = MelFraming::kSnipEdges;
  r.remove_dc = true;
  r.preemphasis = 0.97;
  r.power = 2;
  r.fmin_hz = 20.0;
  r.fmax_hz = 7600.0;
  r.scale = MelScale::kHtk;
  r.triangle = MelTriangle::kMel;
  r.norm = MelNorm::kNone;
  r.floor = 1.1920928955078125e-7;
  return r;
}

MelRecipe vocos24() {
  MelRecipe r = tacotron2();
  r.sample_rate_hz = 24000;
  r.num_mels = 100;
  r.fmax_hz = 12000.0;
  r.scale = MelScale::kHtk;
  r.norm = MelNorm::kNone;
  r.floor = 1e-7;
  return r;
}

struct Preset {
  std::string_view name;
  MelRecipe (*make)();
};

constexpr std::array kPresets{
    Preset{"hifigan", hifigan}, Preset{"tacotron2", tacotron2},
    Preset{"myxtts", myxtts},   Preset{"myxtts_tf", myxtts_tf},
    Preset{"librosa", librosa}, Preset{"torchaudio", torchaudio},
    Preset{"whisper", whisper}, Preset{"xtts", xtts},
    Preset{"kaldi", kaldi},     Preset{"vocos24", vocos24},
};

constexpr auto kNames = [] {
  std::array<std::string_view, kPresets.size()> names;
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = kPresets[i].name;
  return names;
}();

}  // namespace

std::span<const std::string_view> mel_preset_names() { return kNames; }

MelRecipe mel_preset(std::string_view name) {
  for (const Preset& preset : kPresets) {
    if (preset.name != name) continue;
    MelRecipe recipe = preset.make();
    recipe.preset = name;
    return recipe;
  }
  const std::vector<std::string> known(kNames.begin(), kNames.end());
  const std::optional<std::string> nearest = nearest_name(name, known);
  raise({.code = &kMelPreset,
         .promised = fmt::format("one of {} for features.preset", fmt::join(kNames, ", ")),
         .found = fmt::format("\"{}\"", name),
         .cure = nearest ? fmt::format("did you mean {}?", *nearest) : std::string()});
}

MelRecipe recipe_of(const FeatureSettings& features) {
  MelRecipe recipe = mel_preset(features.preset);
  recipe.sample_rate_hz = features.sample_rate_hz.value_or(recipe.sample_rate_hz);
  recipe.n_fft = features.n_fft.value_or(recipe.n_fft);
  recipe.hop_samples = features.hop_samples.value_or(recipe.hop_samples);
  recipe.win_samples = features.win_samples.value_or(recipe.win_samples);
  recipe.num_mels = features.num_mels.value_or(recipe.num_mels);
  recipe.fmin_hz = features.fmin_hz.value_or(recipe.fmin_hz);
  recipe.fmax_hz = features.fmax_hz.value_or(recipe.fmax_hz);
  for (const auto& [key, value] : features.mel) set_mel_value(recipe, key, value);
  return recipe;
}

}  // namespace stoker::config
