// Shares mel bands among warps, at compile time for kernels and at run time for their tables alike.
#pragma once

#include <array>
#include <cstddef>

namespace stoker::audio::device {

inline constexpr int kMostMelParts = 16;

struct PartRule {
  int num_parts = 1;
  int align = 1;  // every part but the last has a multiple of this many bands
};

// Bands bounds[w] ... bounds[w+1]-1 belong to warp w: runs of about equal work. `segments` are the
// first bins of the num_mels + 1 segments. A bin costs a load and two multiply-adds, a band a
// logarithm and a store.
template <class Segments>
constexpr std::array<int, kMostMelParts + 1> split_bands(const Segments& segments, int num_mels,
                                                         PartRule rule) {
  const auto work_before = [&](int band) {
    const auto index = static_cast<std::size_t>(band);
    return 3 * (static_cast<int>(segments[index]) - static_cast<int>(segments[0])) + 9 * band;
  };
  std::array<int, kMostMelParts + 1> bounds{};
  int band = 0;
  for (int part = 1; part <= kMostMelParts; ++part) {
    const int wanted = work_before(num_mels) * part / rule.num_parts;
    while (band < num_mels &&
           work_before(band) + work_before(band + 1 < num_mels ? band + 1 : band) < 2 * wanted) {
      band += rule.align;
    }
    if (band > num_mels || part >= rule.num_parts) band = num_mels;
    bounds[static_cast<std::size_t>(part)] = band;
  }
  return bounds;
}

}  // namespace stoker::audio::device
