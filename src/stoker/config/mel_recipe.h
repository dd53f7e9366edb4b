// What a mel frame is made of: every number of the ten presets, and the names to set them by hand.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stoker::config {

// Where frame t begins, with `win_samples` w, `hop_samples` h and N samples.
enum class MelFraming : std::uint8_t {
  kSame,       // padded by (n_fft-h)/2 on both sides: floor((N + 2*pad - n_fft) / h) + 1 frames
  kCenter,     // frame t is centred on sample t*h: 1 + floor(N/h) frames
  kPadEnd,     // begins at t*h, the end filled up: ceil(N/h) frames
  kSnipEdges,  // begins at t*h, whole windows only: 1 + floor((N-w)/h) frames
};
enum class MelPadMode : std::uint8_t { kReflect, kZero };  // reflect: as NumPy's "reflect"
enum class MelWindow : std::uint8_t { kHann, kHannSymmetric, kHamming, kPovey };
enum class MelScale : std::uint8_t { kSlaney, kHtk };
enum class MelTriangle : std::uint8_t {
  kHz,
  kMel
};  // in which unit a filter's flanks are straight
enum class MelNorm : std::uint8_t { kNone, kSlaney };
enum class MelLog : std::uint8_t { kNone, kLn, kLog10, kDb };      // kDb: 10*log10
enum class MelFloor : std::uint8_t { kClamp, kAdd };               // max(x, floor) or x + floor
enum class MelRange : std::uint8_t { kNone, kBelowMax, kMinMax };  // over one whole utterance

inline constexpr std::array<std::string_view, 4> kMelFramingNames{"same", "center", "pad_end",
                                                                  "snip_edges"};
inline constexpr std::array<std::string_view, 2> kMelPadModeNames{"reflect", "zero"};
inline constexpr std::array<std::string_view, 4> kMelWindowNames{"hann", "hann_symmetric",
                                                                 "hamming", "povey"};
inline constexpr std::array<std::string_view, 2> kMelScaleNames{"slaney", "htk"};
inline constexpr std::array<std::string_view, 2> kMelTriangleNames{"hz", "mel"};
inline constexpr std::array<std::string_view, 2> kMelNormNames{"none", "slaney"};
inline constexpr std::array<std::string_view, 4> kMelLogNames{"none", "ln", "log10", "db"};
inline constexpr std::array<std::string_view, 2> kMelFloorNames{"clamp", "add"};
inline constexpr std::array<std::string_view, 3> kMelRangeNames{"none", "below_max", "min_max"};

// The steps in order: scale, fit to `fit_samples`, frame, remove DC, pre-emphasis, window, FFT,
// (re^2 + im^2 + magnitude_epsilon)^(power/2), mel filters, floor and log, range over the
// utterance, (x + out_offset) * out_scale, division by channel_divisors. The member initialisers
// are the preset "hifigan".
struct MelRecipe {
  std::string preset = "hifigan";  // where the values started; not part of the digest
  std::int64_t sample_rate_hz = 22050;
  double waveform_scale = 1.0;   // samples are int16/32768, times this
  std::int64_t fit_samples = 0;  // zero-pad or cut every utterance to this length; 0: leave it

  std::int64_t n_fft = 1024;
  std::int64_t hop_samples = 256;
  std::int64_t win_samples = 1024;  // at most n_fft
  MelWindow window = MelWindow::kHann;
  MelFraming framing = MelFraming::kSame;
  MelPadMode pad_mode = MelPadMode::kReflect;
  std::int64_t drop_last_frames = 0;
  bool remove_dc = false;
  double preemphasis = 0.0;

  std::int64_t power = 1;  // 1: magnitude, 2: power
  double magnitude_epsilon = 1e-9;
  std::int64_t num_mels = 80;
  double fmin_hz = 0.0;
  double fmax_hz = 8000.0;
  MelScale scale = MelScale::kSlaney;
  MelTriangle triangle = MelTriangle::kHz;
  MelNorm norm = MelNorm::kSlaney;

  MelLog log = MelLog::kLn;
  MelFloor floor_mode = MelFloor::kClamp;
  double floor = 1e-5;
  MelRange range = MelRange::kNone;
  double range_below_max = 0.0;  // kBelowMax: max(x, utterance's largest - this)
  double out_offset = 0.0;
  double out_scale = 1.0;
  std::vector<double> channel_divisors;  // empty, or one per mel band (XTTS' mel_norms)

  bool operator==(const MelRecipe&) const = default;
};

std::span<const std::string_view> mel_preset_names();

// Throws ConfigError E-MEL-PRESET naming the nearest preset when `name` is none of the ten.
MelRecipe mel_preset(std::string_view name);

// Throws ConfigError E-MEL-VALUE naming the value, its limit and its key.
void check_mel_recipe(const MelRecipe& recipe);

// The value of each key as text (numbers in shortest round-trip form), sorted by key, `preset` left
// out: what the features digest is made of.
std::vector<std::pair<std::string, std::string>> mel_recipe_values(const MelRecipe& recipe);

// Sets one key from such a text. Throws ConfigError for an unknown key or a value that does not
// parse.
void set_mel_value(MelRecipe& recipe, std::string_view key, std::string_view value);

}  // namespace stoker::config
