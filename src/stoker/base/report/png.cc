#include "stoker/base/report/png.h"

#include <png.h>

#include <algorithm>
#include <csetjmp>
#include <new>

#include "stoker/base/invariant.h"

namespace stoker {
namespace {

struct Picture {
  ImageShape shape;
  std::span<const std::uint8_t> pixels;
  std::span<const png_color> palette;
};

// libpng's two structures for one picture. Its messages are dropped: the library never prints.
class PngWriter {
 public:
  PngWriter()
      : png_(png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, &leave, &ignore)),
        info_(png_ == nullptr ? nullptr : png_create_info_struct(png_)) {}
  PngWriter(const PngWriter&) = delete;
  PngWriter& operator=(const PngWriter&) = delete;
  ~PngWriter() { png_destroy_write_struct(&png_, &info_); }

  // False when libpng cannot get memory: nothing else is left to go wrong. It leaves by longjmp, so
  // that there may be no object here that wants to be destroyed.
  bool write(const Picture& picture, std::vector<std::byte>& out) {
    if (info_ == nullptr || setjmp(png_jmpbuf(png_)) != 0) return false;
    png_set_user_limits(png_, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_set_write_fn(png_, &out, &append, nullptr);
    png_set_IHDR(png_, info_, picture.shape.width, picture.shape.height, 8, PNG_COLOR_TYPE_PALETTE,
                 PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_set_PLTE(png_, info_, picture.palette.data(), static_cast<int>(picture.palette.size()));
    // The difference to the row above suits neighbouring mel bands and flat areas both.
    png_set_filter(png_, PNG_FILTER_TYPE_BASE, PNG_FILTER_UP);
    png_write_info(png_, info_);
    for (std::size_t y = 0; y < picture.shape.height; ++y)
      png_write_row(png_, picture.pixels.data() + y * picture.shape.width);
    png_write_end(png_, nullptr);
    return true;
  }

 private:
  [[noreturn]] static void leave(png_structp png, png_const_charp) { png_longjmp(png, 1); }
  static void ignore(png_structp, png_const_charp) {}
  static void append(png_structp png, png_bytep data, std::size_t num_bytes) {
    auto& out = *static_cast<std::vector<std::byte>*>(png_get_io_ptr(png));
    const auto bytes = std::as_bytes(std::span(data, num_bytes));
    out.insert(out.end(), bytes.begin(), bytes.end());
  }

  png_structp png_;
  png_infop info_;
};

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

std::vector<std::byte> png_from_palette(ImageShape shape, std::span<const std::uint8_t> pixels,
                                        std::span<const Rgb> palette) {
  check_invariant(shape.width > 0 && shape.height > 0, "a picture without pixels");
  check_invariant(pixels.size() == std::size_t{shape.width} * shape.height,
                  "pixels and shape of a picture differ");
  const bool fits = std::all_of(pixels.begin(), pixels.end(),
                                [&](std::uint8_t index) { return index < palette.size(); });
  check_invariant(fits && palette.size() <= 256, "a pixel past the end of its palette");
  std::array<png_color, 256> colours{};
  std::transform(palette.begin(), palette.end(), colours.begin(), [](const Rgb& colour) {
    return png_color{colour.red, colour.green, colour.blue};
  });
  std::vector<std::byte> out;
  // Enough for pixels that do not compress at all, so that append() never allocates inside libpng.
  out.reserve(pixels.size() + shape.height + pixels.size() / 64 + 4096);
  const Picture picture{shape, pixels, std::span(colours).first(palette.size())};
  if (!PngWriter().write(picture, out)) throw std::bad_alloc();
  return out;
}

const std::array<Rgb, 256>& heat_palette() {
  static const std::array<Rgb, 256> palette = make_heat_palette();
  return palette;
}

}  // namespace stoker
