#include "stoker/cache/format/npy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <string_view>

#include "stoker/audio/float16.h"
#include "stoker/base/bytes.h"
#include "stoker/base/checked.h"
#include "stoker/base/utf8.h"
#include "stoker/cache/errors.h"

namespace stoker::cache {
namespace {

std::size_t num_values_of(const ArrayShape& shape) {
  return shape.payload_bytes().value_or(0) / element_bytes(shape.element);
}

// Bytes of one value, turned round where the file is big-endian.
void copy_value(const std::byte* from, std::byte* to, std::size_t value_bytes, bool swap) {
  if (swap)
    std::reverse_copy(from, from + value_bytes, to);
  else
    std::memcpy(to, from, value_bytes);
}

// Walks the array in C order while `stride` steps through the file in Fortran order.
void copy_fortran(const NpyHeader& header, const std::byte* from, std::byte* to) {
  const ArrayShape& shape = header.shape;
  const std::size_t value_bytes = element_bytes(shape.element);
  std::array<std::size_t, kMaxRank> strides{};
  std::size_t stride = 1;
  for (std::size_t axis = 0; axis < shape.rank; ++axis) {
    strides[axis] = stride;
    stride *= shape.axes[axis];
  }
  std::array<std::uint32_t, kMaxRank> at{};
  const std::size_t num_values = num_values_of(shape);
  for (std::size_t i = 0; i < num_values; ++i) {
    std::size_t source = 0;
    for (std::size_t axis = 0; axis < shape.rank; ++axis) source += at[axis] * strides[axis];
    copy_value(from + source * value_bytes, to + i * value_bytes, value_bytes, header.big_endian);
    for (std::size_t axis = shape.rank; axis-- > 0;) {
      if (++at[axis] < shape.axes[axis]) break;
      at[axis] = 0;
    }
  }
}

template <class T>
T value_at(std::span<const std::byte> values, std::size_t index) {
  return load_le<T>(values.data() + index * sizeof(T));
}

double load_float(std::span<const std::byte> values, ElementType type, std::size_t index) {
  switch (type) {
    case ElementType::kF16:
      return audio::f16_value(value_at<std::uint16_t>(values, index));
    case ElementType::kBf16:
      return audio::bf16_value(value_at<std::uint16_t>(values, index));
    case ElementType::kF32:
      return value_at<float>(values, index);
    default:
      return value_at<double>(values, index);
  }
}

// Every integer type fits 128 bits, signed.
__extension__ using Wide = __int128;

Wide load_integer(std::span<const std::byte> values, ElementType type, std::size_t index) {
  switch (type) {
    case ElementType::kI8:
      return value_at<std::int8_t>(values, index);
    case ElementType::kU8:
      return value_at<std::uint8_t>(values, index);
    case ElementType::kI16:
      return value_at<std::int16_t>(values, index);
    case ElementType::kU16:
      return value_at<std::uint16_t>(values, index);
    case ElementType::kI32:
      return value_at<std::int32_t>(values, index);
    case ElementType::kU32:
      return value_at<std::uint32_t>(values, index);
    case ElementType::kU64:
      return value_at<std::uint64_t>(values, index);
    default:
      return value_at<std::int64_t>(values, index);
  }
}

template <class T>
bool store_integer(std::byte* at, Wide value) {
  if (value < Wide{std::numeric_limits<T>::min()} || value > Wide{std::numeric_limits<T>::max()})
    return false;
  store_le(at, static_cast<T>(value));
  return true;
}

bool store_integer(std::byte* at, ElementType type, Wide value) {
  switch (type) {
    case ElementType::kI16:
      return store_integer<std::int16_t>(at, value);
    case ElementType::kI32:
      return store_integer<std::int32_t>(at, value);
    case ElementType::kI64:
      return store_integer<std::int64_t>(at, value);
    default:
      return false;
  }
}

bool store_float(std::byte* at, ElementType type, double value) {
  const auto narrow = static_cast<float>(value);
  switch (type) {
    case ElementType::kF16:
      store_le(at, audio::f16_bits_or_infinity(narrow));
      return std::isfinite(audio::f16_value(audio::f16_bits_or_infinity(narrow)));
    case ElementType::kBf16:
      store_le(at, audio::bf16_bits(narrow));
      return std::isfinite(audio::bf16_value(audio::bf16_bits(narrow)));
    case ElementType::kF32:
      store_le(at, narrow);
      return std::isfinite(narrow);
    case ElementType::kF64:
      store_le(at, value);
      return std::isfinite(value);
    default:
      return false;
  }
}

std::string npy_header_text(const ArrayShape& shape, std::string_view type_name) {
  std::string axes;
  for (std::size_t i = 0; i < shape.rank; ++i)
    axes += fmt::format("{}{}", i == 0 ? "" : ", ", shape.axes[i]);
  if (shape.rank == 1) axes += ",";
  const char order = element_bytes(shape.element) == 1 ? '|' : '<';
  return fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': ({}), }}", order,
                     type_name, axes);
}

// numpy fills the header so that the data start on a multiple of 64.
std::vector<std::byte> npy_file(std::string text, std::span<const std::byte> payload) {
  const std::size_t whole = round_up<std::size_t>(10 + text.size() + 1, 64);
  text.resize(whole - 10 - 1, ' ');
  text += '\n';
  std::vector<std::byte> out;
  out.reserve(whole + payload.size());
  const auto append = [&out](std::span<const std::byte> part) {
    out.insert(out.end(), part.begin(), part.end());
  };
  append(view_bytes(std::string_view("\x93NUMPY\x01\x00", 8)));
  const auto text_bytes = static_cast<std::uint16_t>(text.size());
  append(std::as_bytes(std::span(&text_bytes, 1)));
  append(view_bytes(text));
  append(payload);
  return out;
}

}  // namespace

Result<NpyArray> decode_npy(const std::string& file, std::span<const std::byte> bytes) {
  Result<NpyHeader> header = decode_npy_header(file, bytes);
  if (!header) return std::move(header).error();
  const std::span<const std::byte> data = bytes.subspan(header->data_at_bytes);
  NpyArray array{header->shape, std::vector<std::byte>(data.size())};
  const std::size_t value_bytes = element_bytes(array.shape.element);
  if (header->fortran_order && array.shape.rank > 1) {
    copy_fortran(*header, data.data(), array.values.data());
  } else {
    for (std::size_t at = 0; at < data.size(); at += value_bytes)
      copy_value(data.data() + at, array.values.data() + at, value_bytes, header->big_endian);
  }
  return array;
}

std::vector<std::byte> encode_npy(const ArrayShape& shape, std::span<const std::byte> payload) {
  if (shape.element == ElementType::kBf16) {
    NpyArray wide{shape, std::vector<std::byte>(payload.size() * 2)};
    wide.shape.element = ElementType::kF32;
    for (std::size_t i = 0; i < payload.size() / 2; ++i)
      store_le(wide.values.data() + 4 * i, audio::bf16_value(value_at<std::uint16_t>(payload, i)));
    return encode_npy(wide.shape, wide.values);
  }
  return npy_file(npy_header_text(shape, npy_name(shape.element)), payload);
}

std::vector<std::byte> encode_npy_texts(std::span<const std::string_view> texts) {
  std::vector<std::vector<std::uint32_t>> letters;
  std::size_t longest = 1;  // NumPy has no text type of width 0
  for (std::string_view text : texts) {
    letters.emplace_back();
    while (!text.empty()) {
      const Utf8Char next = decode_utf8(text);
      letters.back().push_back(next.code_point);
      text.remove_prefix(next.size_bytes);
    }
    longest = std::max(longest, letters.back().size());
  }
  std::vector<std::byte> payload(texts.size() * longest * sizeof(std::uint32_t));
  for (std::size_t i = 0; i < letters.size(); ++i) {
    for (std::size_t k = 0; k < letters[i].size(); ++k)
      store_le(payload.data() + (i * longest + k) * sizeof(std::uint32_t), letters[i][k]);
  }
  return npy_file(fmt::format("{{'descr': '<U{}', 'fortran_order': False, 'shape': ({},), }}",
                              longest, texts.size()),
                  payload);
}

std::size_t find_nonfinite(const ArrayShape& shape, std::span<const std::byte> values) {
  const std::size_t num_values = num_values_of(shape);
  if (!is_float(shape.element)) return num_values;
  for (std::size_t i = 0; i < num_values; ++i)
    if (!std::isfinite(load_float(values, shape.element, i))) return i;
  return num_values;
}

Result<NpyArray> convert_npy(const std::string& file, const NpyArray& array, ElementType to) {
  const ElementType from = array.shape.element;
  Error error;
  error.code = &kNpyType;
  error.place.file = file;
  error.promised = std::string(element_name(to));
  error.found = fmt::format("{} values", element_name(from));
  if (is_float(from) != is_float(to)) return error;
  NpyArray out{array.shape, {}};
  out.shape.element = to;
  const std::size_t num_values = num_values_of(array.shape);
  out.values.resize(num_values * element_bytes(to));
  for (std::size_t i = 0; i < num_values; ++i) {
    std::byte* at = out.values.data() + i * element_bytes(to);
    const bool fits = is_float(from) ? store_float(at, to, load_float(array.values, from, i))
                                     : store_integer(at, to, load_integer(array.values, from, i));
    if (fits) continue;
    error.code = &kNpyValue;
    error.promised = fmt::format("finite values that fit {}", element_name(to));
    error.found = fmt::format("value {}, which does not", i);
    return error;
  }
  return out;
}

}  // namespace stoker::cache
