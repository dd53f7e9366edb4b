#include "stoker/config/mel_recipe.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <optional>
#include <type_traits>

#include "stoker/config/errors.h"
#include "stoker/config/nearest_name.h"

namespace stoker::config {
namespace {

// The list of a recipe's keys, written once: digest, YAML and range checks walk it.
// Calls visit(key, member) for each settable value. `Recipe` is MelRecipe or const
// MelRecipe. Enumerations are written with the names beside their declaration (names_of).
template <class Recipe, class Visitor>
void visit_mel_fields(Recipe& r, Visitor&& visit) {
  visit("sample_rate_hz", r.sample_rate_hz);
  visit("waveform_scale", r.waveform_scale);
  visit("fit_samples", r.fit_samples);
  visit("n_fft", r.n_fft);
  visit("hop_samples", r.hop_samples);
  visit("win_samples", r.win_samples);
  visit("window", r.window);
  visit("framing", r.framing);
  visit("pad_mode", r.pad_mode);
  visit("drop_last_frames", r.drop_last_frames);
  visit("remove_dc", r.remove_dc);
  visit("preemphasis", r.preemphasis);
  visit("power", r.power);
  visit("magnitude_epsilon", r.magnitude_epsilon);
  visit("num_mels", r.num_mels);
  visit("fmin_hz", r.fmin_hz);
  visit("fmax_hz", r.fmax_hz);
  visit("scale", r.scale);
  visit("triangle", r.triangle);
  visit("norm", r.norm);
  visit("log", r.log);
  visit("floor_mode", r.floor_mode);
  visit("floor", r.floor);
  visit("range", r.range);
  visit("range_below_max", r.range_below_max);
  visit("out_offset", r.out_offset);
  visit("out_scale", r.out_scale);
  visit("channel_divisors", r.channel_divisors);
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

std::string number_text(double value) {
  char buffer[32];
  const auto end = std::to_chars(std::begin(buffer), std::end(buffer), value).ptr;
  return {std::begin(buffer), end};
}

template <class T>
std::string value_text(const T& value) {
  if constexpr (std::is_enum_v<T>) {
    return std::string(names_of(value)[static_cast<std::size_t>(value)]);
  } else if constexpr (std::is_same_v<T, bool>) {
    return value ? "true" : "false";
  } else if constexpr (std::is_same_v<T, double>) {
    return number_text(value);
  } else if constexpr (std::is_same_v<T, std::vector<double>>) {
    std::string text;
    for (const double x : value) text += (text.empty() ? "" : ",") + number_text(x);
    return text;
  } else {
    return std::to_string(value);
  }
}

template <class T>
bool parse_number(std::string_view text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

bool parse_list(std::string_view text, std::vector<double>& values) {
  values.clear();
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    if (!parse_number(text.substr(0, comma), values.emplace_back())) return false;
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return true;
}

template <class T>
bool parse_value(std::string_view text, T& value) {
  if constexpr (std::is_enum_v<T>) {
    const auto names = names_of(value);
    const auto found = std::ranges::find(names, text);
    if (found == names.end()) return false;
    value = static_cast<T>(found - names.begin());
    return true;
  } else if constexpr (std::is_same_v<T, bool>) {
    value = text == "true";
    return text == "true" || text == "false";
  } else if constexpr (std::is_same_v<T, std::vector<double>>) {
    return parse_list(text, value);
  } else {
    return parse_number(text, value);
  }
}

[[noreturn]] void refuse(std::string promised, std::string found, std::string cure = {}) {
  raise({.code = &kMelValue,
         .promised = std::move(promised),
         .found = std::move(found),
         .cure = std::move(cure)});
}

[[noreturn]] void refuse_key(const MelRecipe& recipe, std::string_view key) {
  std::vector<std::string> keys;
  visit_mel_fields(recipe, [&](std::string_view name, const auto&) { keys.emplace_back(name); });
  const std::optional<std::string> nearest = nearest_name(key, keys);
  refuse("a key of the mel recipe", fmt::format("features.mel.{}", key),
         nearest ? fmt::format("did you mean {}?", *nearest) : std::string());
}

template <class T>
void require_within(std::string_view key, T value, T low, T high) {
  if (value >= low && value <= high) return;
  refuse(fmt::format("features.mel.{} between {} and {}", key, low, high),
         fmt::format("{}", value));
}

void check_frames(const MelRecipe& r) {
  require_within<std::int64_t>("sample_rate_hz", r.sample_rate_hz, 1000, 768000);
  require_within<std::int64_t>("n_fft", r.n_fft, 64, 8192);
  require_within<std::int64_t>("win_samples", r.win_samples, 2, r.n_fft);
  require_within<std::int64_t>("hop_samples", r.hop_samples, 1, r.n_fft);
  require_within<std::int64_t>("fit_samples", r.fit_samples, 0, std::int64_t{1} << 32);
  require_within<std::int64_t>("drop_last_frames", r.drop_last_frames, 0, 1024);
  require_within("waveform_scale", r.waveform_scale, 1e-6, 1e6);
  require_within("preemphasis", r.preemphasis, 0.0, 1.0);
}

void check_bands(const MelRecipe& r) {
  const double nyquist_hz = static_cast<double>(r.sample_rate_hz) / 2.0;
  require_within<std::int64_t>("power", r.power, 1, 2);
  require_within("magnitude_epsilon", r.magnitude_epsilon, 0.0, 1.0);
  require_within<std::int64_t>("num_mels", r.num_mels, 1, 512);
  require_within("fmax_hz", r.fmax_hz, 1.0, nyquist_hz);
  require_within("fmin_hz", r.fmin_hz, 0.0, std::nextafter(r.fmax_hz, 0.0));
  const double lowest_floor = r.log == MelLog::kNone ? 0.0 : 1e-30;
  require_within("floor", r.floor, lowest_floor, 1e3);
  require_within("range_below_max", r.range_below_max, 0.0, 1e3);
  require_within("out_offset", r.out_offset, -1e6, 1e6);
  require_within("out_scale", std::abs(r.out_scale), 1e-6, 1e6);
  const auto num_divisors = static_cast<std::int64_t>(r.channel_divisors.size());
  if (num_divisors != 0) {
    require_within("channel_divisors (their number)", num_divisors, r.num_mels, r.num_mels);
  }
  for (const double divisor : r.channel_divisors) {
    require_within("channel_divisors", std::abs(divisor), 1e-6, 1e6);
  }
}

}  // namespace

void check_mel_recipe(const MelRecipe& recipe) {
  check_frames(recipe);
  check_bands(recipe);
}

std::vector<std::pair<std::string, std::string>> mel_recipe_values(const MelRecipe& recipe) {
  std::vector<std::pair<std::string, std::string>> values;
  visit_mel_fields(recipe, [&](std::string_view key, const auto& value) {
    values.emplace_back(key, value_text(value));
  });
  std::ranges::sort(values);
  return values;
}

void set_mel_value(MelRecipe& recipe, std::string_view key, std::string_view value) {
  bool known = false;
  bool parsed = false;
  visit_mel_fields(recipe, [&](std::string_view name, auto& member) {
    if (name != key) return;
    known = true;
    parsed = parse_value(value, member);
  });
  if (!known) refuse_key(recipe, key);
  if (!parsed) refuse(fmt::format("a value of features.mel.{}", key), fmt::format("\"{}\"", value));
}

}  // namespace stoker::config
