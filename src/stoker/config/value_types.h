// The kinds of value a setting can have beyond bool, number and text, and the defaults that other
// folders' own options share with the settings.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace stoker::config {

// A value, or "auto": stoker chooses from what it measures.
template <class T>
struct Auto : std::optional<T> {
  using std::optional<T>::optional;
  bool is_auto() const noexcept { return !this->has_value(); }
};

// A value, or "none": there is no such limit or part.
template <class T>
struct Maybe : std::optional<T> {
  using std::optional<T>::optional;
};

// Written "8GiB", "512MiB", or as a plain number of bytes.
struct Bytes {
  std::uint64_t count = 0;
  auto operator<=>(const Bytes&) const = default;
};

inline constexpr std::uint64_t kMiB = std::uint64_t{1} << 20U;
inline constexpr std::uint64_t kGiB = std::uint64_t{1} << 30U;
inline constexpr std::uint64_t kTiB = std::uint64_t{1} << 40U;

inline constexpr std::uint32_t kDefaultBatchFrames = 40'000;  // of one batch over all ranks

// [low, high], low <= high.
using Interval = std::array<double, 2>;

using StringMap = std::map<std::string, std::string>;

// One of several data sets that are mixed: `sources: [{data: A, weight: 2}, {data: B}]`.
struct MixedSource {
  std::string data;
  double weight = 1.0;
  std::string name;      // prefix of ids; the folder's name when empty
  std::string language;  // of its rows; text.language when empty
  bool operator==(const MixedSource&) const = default;
};

}  // namespace stoker::config
