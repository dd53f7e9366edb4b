// PNG pictures with colours from a palette.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace stoker {

struct Rgb {
  std::uint8_t red = 0;
  std::uint8_t green = 0;
  std::uint8_t blue = 0;
};

struct ImageShape {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
};

// Rows from top to bottom, each pixel an index into `palette`. Preconditions: both sides above 0,
// as many pixels as the shape has, 1 to 256 colours, no index past the last.
std::vector<std::byte> png_from_palette(ImageShape shape, std::span<const std::uint8_t> pixels,
                                        std::span<const Rgb> palette);

// 256 colours from black over violet and orange to pale yellow: brighter always means more, also
// in grey print and for colour-blind eyes.
const std::array<Rgb, 256>& heat_palette();

}  // namespace stoker
