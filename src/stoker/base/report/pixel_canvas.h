// A picture made of pixels with lines and letters on it, for viewers that show no SVG.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "stoker/base/report/png.h"

namespace stoker {

// What a pixel may be: one of the colours for lines and letters, or a shade of the heat palette.
enum class Ink : std::uint8_t { kGround, kText, kSoft, kGrid };

struct PixelBox {
  std::size_t left = 0;
  std::size_t top = 0;
  std::size_t width = 0;
  std::size_t height = 0;
  std::size_t right() const { return left + width; }
  std::size_t bottom() const { return top + height; }
};

enum class TextAlign { kLeft, kMiddle, kRight };

// Everything outside the picture is cut off.
class PixelCanvas {
 public:
  static constexpr std::size_t kLetterWidth = 12;  // from one letter to the next
  static constexpr std::size_t kLetterHeight = 14;

  explicit PixelCanvas(ImageShape shape);

  void fill(const PixelBox& box, Ink ink);
  // `share` 0 is the darkest shade, 1 the brightest.
  void fill_shade(const PixelBox& box, double share);
  // Letters of ASCII, others as "?"; `x` is the left end, the middle or the right end.
  void text(std::size_t x, std::size_t top, std::string_view line,
            TextAlign align = TextAlign::kLeft);
  // The same from bottom to top, its middle at `y`.
  void text_upwards(std::size_t left, std::size_t y, std::string_view line);

  std::vector<std::byte> png() const;

 private:
  void fill_index(const PixelBox& box, std::uint8_t index);

  ImageShape shape_;
  std::vector<std::uint8_t> pixels_;
};

// How wide a line of text is, in pixels.
std::size_t text_width(std::string_view line);

}  // namespace stoker
