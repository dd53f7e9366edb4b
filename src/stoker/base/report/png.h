// PNG pictures (grey, colour, or colours from a palette) without a library.
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

// Rows from top to bottom; precondition: both sides above 0 and as many pixels as the shape has.
std::vector<std::byte> png_from_grey(ImageShape shape, std::span<const std::uint8_t> pixels);
std::vector<std::byte> png_from_rgb(ImageShape shape, std::span<const Rgb> pixels);
// Each pixel is an index into `palette` (at most 256 colours; an index past its end is a bug).
std::vector<std::byte> png_from_palette(ImageShape shape, std::span<const std::uint8_t> pixels,
                                        std::span<const Rgb> palette);

// 256 colours from black over violet and orange to pale yellow: brighter always means more, also
// in grey print and for colour-blind eyes.
const std::array<Rgb, 256>& heat_palette();

}  // namespace stoker
