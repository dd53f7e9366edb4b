#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string_view>
#include <vector>

#include "stoker/base/bytes.h"
#include "stoker/base/checked.h"
#include "stoker/base/number_text.h"
#include "stoker/cache/errors.h"
#include "stoker/cache/format/npy.h"

namespace stoker::cache {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

Error npy_error(const ErrorCode& code, const std::string& file, std::string promised,
                std::string found) {
  Error error;
  error.code = &code;
  error.place.file = file;
  error.promised = std::move(promised);
  error.found = std::move(found);
  return error;
}

// The Python dictionary of the header: three keys, literals only.
class DictReader {
 public:
  explicit DictReader(std::string_view text) : text_(text) {}

  void skip_spaces() noexcept {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  bool take(char wanted) noexcept {
    skip_spaces();
    if (at_ >= text_.size() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }
  bool at_end() noexcept {
    skip_spaces();
    return at_ == text_.size();
  }
  std::optional<std::string_view> take_string() noexcept {
    skip_spaces();
    if (at_ >= text_.size() || (text_[at_] != '\'' && text_[at_] != '"')) return std::nullopt;
    const std::size_t end = text_.find(text_[at_], at_ + 1);
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view value = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return value;
  }
  std::optional<bool> take_bool() noexcept {
    skip_spaces();
    for (const auto& [word, value] : {std::pair{"True", true}, std::pair{"False", false}}) {
      if (!text_.substr(at_).starts_with(word)) continue;
      at_ += std::string_view(word).size();
      return value;
    }
    return std::nullopt;
  }
  // The digits (and sign) of a number; empty when there is none.
  std::string_view take_digits() noexcept {
    skip_spaces();
    const std::size_t start = at_;
    if (at_ < text_.size() && text_[at_] == '-') ++at_;
    while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') ++at_;
    return text_.substr(start, at_ - start);
  }
  std::string_view rest() const noexcept { return text_.substr(at_, 40); }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
};

struct TypeName {
  std::string_view name;
  ElementType type;
};
constexpr std::array kTypeNames{
    TypeName{"f2", ElementType::kF16}, TypeName{"f4", ElementType::kF32},
    TypeName{"f8", ElementType::kF64}, TypeName{"i1", ElementType::kI8},
    TypeName{"u1", ElementType::kU8},  TypeName{"b1", ElementType::kU8},
    TypeName{"i2", ElementType::kI16}, TypeName{"u2", ElementType::kU16},
    TypeName{"i4", ElementType::kI32}, TypeName{"u4", ElementType::kU32},
    TypeName{"i8", ElementType::kI64}, TypeName{"u8", ElementType::kU64}};

Result<void> read_descr(const std::string& file, DictReader& dict, NpyHeader& out) {
  const std::optional<std::string_view> descr = dict.take_string();
  if (!descr)
    return npy_error(kNpyType, file, "one element type", "fields or something else in 'descr'");
  if (descr->find('O') != std::string_view::npos)
    return npy_error(kNpyPickle, file, "numbers", fmt::format("element type '{}'", *descr));
  const char order = descr->empty() ? '?' : descr->front();
  const std::string_view type_name = descr->empty() ? *descr : descr->substr(1);
  const auto known = std::find_if(kTypeNames.begin(), kTypeNames.end(),
                                  [&](const TypeName& row) { return row.name == type_name; });
  const bool has_order = order == '<' || order == '>' || order == '=' || order == '|';
  if (!has_order || known == kTypeNames.end())
    return npy_error(kNpyType, file, "f2 f4 f8 i1 i2 i4 i8 u1 u2 u4 u8 or b1",
                     fmt::format("element type '{}'", *descr));
  if (order == '|' && element_bytes(known->type) != 1)
    return npy_error(kNpyType, file, "a byte order", fmt::format("element type '{}'", *descr));
  out.shape.element = known->type;
  out.big_endian = order == '>';
  return {};
}

Result<void> read_shape(const std::string& file, DictReader& dict, NpyHeader& out) {
  if (!dict.take('('))
    return npy_error(kNpyShape, file, "a tuple of numbers", fmt::format("'{}'", dict.rest()));
  out.shape.rank = 0;
  while (!dict.take(')')) {
    const std::string_view digits = dict.take_digits();
    std::uint32_t axis = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), axis);
    if (digits.empty() || error != std::errc{} || end != digits.data() + digits.size())
      return npy_error(
          kNpyShape, file, "axes from 0 to 4294967295",
          fmt::format("'{}'", digits.empty() ? std::string(dict.rest()) : std::string(digits)));
    if (out.shape.rank == kMaxRank)
      return npy_error(kNpyShape, file, fmt::format("at most {} axes", kMaxRank), "more");
    out.shape.axes[out.shape.rank++] = axis;
    if (!dict.take(',')) {
      if (!dict.take(')') || out.shape.rank == 1)
        return npy_error(kNpyShape, file, "a tuple of numbers", fmt::format("'{}'", dict.rest()));
      break;
    }
  }
  if (out.shape.rank == 0) {
    out.shape.rank = 1;
    out.shape.axes[0] = 1;
  }
  return {};
}

Result<void> read_value(const std::string& file, DictReader& dict, std::string_view key,
                        NpyHeader& out) {
  if (key == "descr") return read_descr(file, dict, out);
  if (key == "shape") return read_shape(file, dict, out);
  const std::optional<bool> fortran = dict.take_bool();
  if (!fortran)
    return npy_error(kNpyHeader, file, "True or False", fmt::format("'{}'", dict.rest()));
  out.fortran_order = *fortran;
  return {};
}

Result<void> read_dict(const std::string& file, std::string_view text, NpyHeader& out) {
  constexpr std::array<std::string_view, 3> kKeys{"descr", "fortran_order", "shape"};
  std::array<bool, 3> seen{};
  DictReader dict(text);
  const auto bad = [&] {
    return npy_error(kNpyHeader, file, "keys descr, fortran_order and shape, once each",
                     fmt::format("'{}'", dict.rest()));
  };
  if (!dict.take('{')) return bad();
  while (!dict.take('}')) {
    const std::optional<std::string_view> key = dict.take_string();
    const auto known = key ? std::find(kKeys.begin(), kKeys.end(), *key) : kKeys.end();
    if (known == kKeys.end() || !dict.take(':')) return bad();
    bool& is_seen = seen[static_cast<std::size_t>(known - kKeys.begin())];
    if (std::exchange(is_seen, true)) return bad();
    if (Result<void> read = read_value(file, dict, *key, out); !read) return read;
    if (!dict.take(',')) {
      if (!dict.take('}')) return bad();
      break;
    }
  }
  if (!dict.at_end() || !std::all_of(seen.begin(), seen.end(), [](bool b) { return b; }))
    return bad();
  return {};
}

Result<void> check_start(const std::string& file, std::span<const std::byte> bytes) {
  const std::string_view start = view_text(bytes.first(std::min<std::size_t>(bytes.size(), 8)));
  if (start.starts_with("PK\x03\x04"))
    return npy_error(kNpyZip, file, "an npy file", "a zip archive (.npz)");
  if (!start.starts_with(kMagic) || start.size() < 8)
    return npy_error(kNpyMagic, file, "\\x93NUMPY at the start",
                     bytes.empty() ? "an empty file" : fmt::format("\"{}\"", start));
  const auto major = static_cast<unsigned char>(start[6]);
  if (major < 1 || major > 3 || start[7] != 0)
    return npy_error(kNpyVersion, file, "version 1.0, 2.0 or 3.0",
                     fmt::format("version {}.{}", static_cast<unsigned char>(start[6]),
                                 static_cast<unsigned char>(start[7])));
  return {};
}

}  // namespace

Result<NpyHeader> decode_npy_header(const std::string& file, std::span<const std::byte> bytes) {
  return decode_npy_header(file, bytes, bytes.size());
}

Result<NpyHeader> decode_npy_header(const std::string& file, std::span<const std::byte> bytes,
                                    std::uint64_t file_bytes) {
  if (Result<void> start = check_start(file, bytes); !start) return start.error();
  const std::size_t field_bytes = bytes[6] == std::byte{1} ? 2 : 4;
  const std::size_t dict_at = 8 + field_bytes;
  if (bytes.size() < dict_at)
    return npy_error(kNpyHeader, file, "a header length", "the end of the file");
  const std::size_t dict_bytes = field_bytes == 2 ? load_le<std::uint16_t>(bytes.data() + 8)
                                                  : load_le<std::uint32_t>(bytes.data() + 8);
  if (dict_bytes > kMaxNpyHeaderBytes || dict_bytes > bytes.size() - dict_at)
    return npy_error(kNpyHeader, file, fmt::format("a header of {} bytes", grouped(dict_bytes)),
                     fmt::format("{} bytes; at most {} are read", grouped(bytes.size() - dict_at),
                                 grouped(kMaxNpyHeaderBytes)));
  NpyHeader header;
  header.data_at_bytes = dict_at + dict_bytes;
  if (Result<void> dict = read_dict(file, view_text(bytes.subspan(dict_at, dict_bytes)), header);
      !dict)
    return dict.error();
  const std::optional<std::uint64_t> promised = header.shape.payload_bytes();
  if (!promised) return npy_error(kNpyShape, file, "a size that fits 64 bits", header.shape.text());
  const std::uint64_t present = file_bytes - header.data_at_bytes;
  if (*promised != present)
    return npy_error(kNpySize, file,
                     fmt::format("{} bytes for {}", grouped(*promised), header.shape.text()),
                     fmt::format("{} after the header", grouped(present)));
  return header;
}

}  // namespace stoker::cache
