#include "stoker/base/report/png.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "stoker/base/bytes.h"
#include "stoker/base/digest/crc32_ethernet.h"
#include "stoker/base/invariant.h"
#include "stoker/base/report/deflate.h"

namespace stoker {
namespace {

enum class ColourType : std::uint8_t { kGrey = 0, kRgb = 2, kPalette = 3 };

void append_be32(std::vector<std::byte>& out, std::uint32_t value) {
  for (const unsigned shift : {24U, 16U, 8U, 0U})
    out.push_back(static_cast<std::byte>(value >> shift));
}

void append_chunk(std::vector<std::byte>& out, std::string_view type,
                  std::span<const std::byte> data) {
  append_be32(out, static_cast<std::uint32_t>(data.size()));
  const std::size_t begin = out.size();
  for (const char letter : type) out.push_back(static_cast<std::byte>(letter));
  out.insert(out.end(), data.begin(), data.end());
  append_be32(out, crc32_ethernet(std::span(out).subspan(begin)));
}

// Each row stored as the difference to the row above (filter 2), which neighbouring mel frames and
// flat areas both like.
std::vector<std::byte> filtered_rows(ImageShape shape, std::size_t pixel_bytes,
                                     std::span<const std::byte> pixels) {
  constexpr std::byte kUp{2};
  const std::size_t row_bytes = shape.width * pixel_bytes;
  std::vector<std::byte> rows;
  rows.reserve(shape.height * (row_bytes + 1));
  for (std::size_t y = 0; y < shape.height; ++y) {
    rows.push_back(kUp);
    for (std::size_t i = 0; i < row_bytes; ++i) {
      const auto here = static_cast<unsigned>(pixels[y * row_bytes + i]);
      const auto above = y == 0 ? 0U : static_cast<unsigned>(pixels[(y - 1) * row_bytes + i]);
      rows.push_back(static_cast<std::byte>(here - above));
    }
  }
  return rows;
}

struct Picture {
  ImageShape shape;
  ColourType colour;
  std::size_t pixel_bytes;
  std::span<const std::byte> pixels;
  std::span<const Rgb> palette;
};

std::vector<std::byte> encode(const Picture& picture) {
  const ImageShape shape = picture.shape;
  check_invariant(shape.width > 0 && shape.height > 0, "a picture without pixels");
  check_invariant(
      picture.pixels.size() == std::size_t{shape.width} * shape.height * picture.pixel_bytes,
      "pixels and shape of a picture differ");
  constexpr std::string_view kSignature = "\x89PNG\r\n\x1a\n";
  const std::span<const std::byte> signature = view_bytes(kSignature);
  std::vector<std::byte> out(signature.begin(), signature.end());
  std::vector<std::byte> header;
  append_be32(header, shape.width);
  append_be32(header, shape.height);
  header.insert(header.end(), {std::byte{8}, static_cast<std::byte>(picture.colour), std::byte{0},
                               std::byte{0}, std::byte{0}});
  append_chunk(out, "IHDR", header);
  if (!picture.palette.empty()) append_chunk(out, "PLTE", std::as_bytes(picture.palette));
  append_chunk(out, "IDAT",
               zlib_compress(filtered_rows(shape, picture.pixel_bytes, picture.pixels)));
  append_chunk(out, "IEND", {});
  return out;
}

std::array<Rgb, 256> make_heat_palette() {
  constexpr std::array<Rgb, 9> kAnchors{{{0, 0, 4},
                                         {28, 16, 68},
                                         {79, 18, 123},
                                         {129, 37, 129},
                                         {181, 54, 122},
                                         {229, 80, 100},
                                         {251, 135, 97},
                                         {254, 194, 135},
                                         {252, 253, 191}}};
  std::array<Rgb, 256> palette{};
  constexpr std::size_t kStep = 32;
  for (std::size_t i = 0; i < palette.size(); ++i) {
    const Rgb& from = kAnchors[i / kStep];
    const Rgb& to = kAnchors[i / kStep + 1];
    const auto mixed = [&](std::uint8_t a, std::uint8_t b) {
      return static_cast<std::uint8_t>((a * (kStep - i % kStep) + b * (i % kStep)) / kStep);
    };
    palette[i] = {mixed(from.red, to.red), mixed(from.green, to.green), mixed(from.blue, to.blue)};
  }
  return palette;
}

}  // namespace

std::vector<std::byte> png_from_grey(ImageShape shape, std::span<const std::uint8_t> pixels) {
  return encode({shape, ColourType::kGrey, 1, std::as_bytes(pixels), {}});
}

std::vector<std::byte> png_from_rgb(ImageShape shape, std::span<const Rgb> pixels) {
  static_assert(sizeof(Rgb) == 3, "pixels are written as they lie in memory");
  return encode({shape, ColourType::kRgb, 3, std::as_bytes(pixels), {}});
}

std::vector<std::byte> png_from_palette(ImageShape shape, std::span<const std::uint8_t> pixels,
                                        std::span<const Rgb> palette) {
  const bool fits = std::all_of(pixels.begin(), pixels.end(),
                                [&](std::uint8_t index) { return index < palette.size(); });
  check_invariant(fits && palette.size() <= 256, "a pixel past the end of its palette");
  return encode({shape, ColourType::kPalette, 1, std::as_bytes(pixels), palette});
}

const std::array<Rgb, 256>& heat_palette() {
  static const std::array<Rgb, 256> palette = make_heat_palette();
  return palette;
}

}  // namespace stoker
