// The list of a MelRecipe's keys, written once: digest, YAML, docs and range checks walk it.
#pragma once

#include "stoker/config/mel_recipe.h"

namespace stoker::config {

// Calls visit(key, member, what it means) for each settable value. `Recipe` is MelRecipe or const
// MelRecipe. Enumerations are written with the names beside their declaration (names_of).
template <class Recipe, class Visitor>
void visit_mel_fields(Recipe& r, Visitor&& visit) {
  visit("sample_rate_hz", r.sample_rate_hz, "Rate the samples are brought to.");
  visit("waveform_scale", r.waveform_scale, "Factor on samples in -1..1; 32768 as in Kaldi's own.");
  visit("fit_samples", r.fit_samples, "Pad with zeros or cut to this length; 0 leaves it.");
  visit("n_fft", r.n_fft, "Length of the transform, 64 to 8192.");
  visit("hop_samples", r.hop_samples, "Samples from one frame to the next.");
  visit("win_samples", r.win_samples, "Length of the window, at most n_fft.");
  visit("window", r.window, "Shape of the window.");
  visit("framing", r.framing, "Where frames lie.");
  visit("pad_mode", r.pad_mode, "What lies beyond the ends.");
  visit("drop_last_frames", r.drop_last_frames, "Frames left out at the end.");
  visit("remove_dc", r.remove_dc, "Subtract each frame's mean.");
  visit("preemphasis", r.preemphasis, "x[i] - p*x[i-1] within each frame.");
  visit("power", r.power, "1: magnitude, 2: power.");
  visit("magnitude_epsilon", r.magnitude_epsilon, "Added to re^2+im^2.");
  visit("num_mels", r.num_mels, "Mel bands.");
  visit("fmin_hz", r.fmin_hz, "Lower edge of the first band.");
  visit("fmax_hz", r.fmax_hz, "Upper edge of the last band.");
  visit("scale", r.scale, "Mel scale.");
  visit("triangle", r.triangle, "Unit in which a filter's flanks are straight.");
  visit("norm", r.norm, "slaney: each filter's area is 1 Hz.");
  visit("log", r.log, "Compression.");
  visit("floor_mode", r.floor_mode, "max(x, floor) or x + floor.");
  visit("floor", r.floor, "Keeps the logarithm finite.");
  visit("range", r.range, "Adjustment over the whole utterance.");
  visit("range_below_max", r.range_below_max, "below_max: largest distance from the maximum.");
  visit("out_offset", r.out_offset, "Added at the end, before out_scale.");
  visit("out_scale", r.out_scale, "Factor at the end.");
  visit("channel_divisors", r.channel_divisors, "One divisor per band, or none.");
}

constexpr std::span<const std::string_view> names_of(MelFraming) { return kMelFramingNames; }
constexpr std::span<const std::string_view> names_of(MelPadMode) { return kMelPadModeNames; }
constexpr std::span<const std::string_view> names_of(MelWindow) { return kMelWindowNames; }
constexpr std::span<const std::string_view> names_of(MelScale) { return kMelScaleNames; }
constexpr std::span<const std::string_view> names_of(MelTriangle) { return kMelTriangleNames; }
constexpr std::span<const std::string_view> names_of(MelNorm) { return kMelNormNames; }
constexpr std::span<const std::string_view> names_of(MelLog) { return kMelLogNames; }
constexpr std::span<const std::string_view> names_of(MelFloor) { return kMelFloorNames; }
constexpr std::span<const std::string_view> names_of(MelRange) { return kMelRangeNames; }

}  // namespace stoker::config
