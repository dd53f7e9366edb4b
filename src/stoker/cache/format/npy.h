// A strict reader and writer for NumPy's .npy files: promise against content, no pickles ever.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/result.h"
#include "stoker/cache/format/shard_format.h"

namespace stoker::cache {

inline constexpr std::size_t kMaxNpyHeaderBytes = 65536;

// What the file's header says, checked against the bytes that follow it.
struct NpyHeader {
  ArrayShape shape;  // logical shape; a scalar becomes [1], bool becomes u8
  bool fortran_order = false;
  bool big_endian = false;
  std::size_t data_at_bytes = 0;
};

// An array in C order, little-endian.
struct NpyArray {
  ArrayShape shape;
  std::vector<std::byte> values;
};

// Versions 1.0, 2.0 and 3.0. `file` is named in errors; memory is bounded by `bytes`.
Result<NpyHeader> decode_npy_header(const std::string& file, std::span<const std::byte> bytes);
// The same from the first bytes of a file of that size.
Result<NpyHeader> decode_npy_header(const std::string& file, std::span<const std::byte> front,
                                    std::uint64_t file_bytes);
Result<NpyArray> decode_npy(const std::string& file, std::span<const std::byte> bytes);

// Version 1.0, C order, little-endian, as numpy.save writes it. bf16 becomes f32, which is exact.
std::vector<std::byte> encode_npy(const ArrayShape& shape, std::span<const std::byte> payload);

// One text a value, as NumPy's fixed-width Unicode array ('<U8'). Precondition: valid UTF-8.
std::vector<std::byte> encode_npy_texts(std::span<const std::string_view> texts);

// Index of the first value that is not finite, or the number of values. Integers are finite.
std::size_t find_nonfinite(const ArrayShape& shape, std::span<const std::byte> values);

// The values as another type; E-NPY-VALUE names the first that does not fit. Floats become floats,
// integers integers.
Result<NpyArray> convert_npy(const std::string& file, const NpyArray& array, ElementType to);

}  // namespace stoker::cache
