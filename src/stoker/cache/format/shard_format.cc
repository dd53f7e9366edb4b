#include "stoker/cache/format/shard_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "stoker/base/bytes.h"
#include "stoker/base/checked.h"
#include "stoker/base/digest/crc32c.h"

namespace stoker::cache {
namespace {

constexpr std::string_view kShardMagic = "STOKERSH";
constexpr std::string_view kRecordMagic = "STKR";
constexpr std::string_view kFooterMagic = "STOKEREN";
constexpr std::array<std::string_view, 4> kKindNames{"mel", "tokens", "pcm", "array"};

// Writes fields one after another.
class FieldWriter {
 public:
  explicit FieldWriter(std::span<std::byte> out) : out_(out) {
    std::fill(out.begin(), out.end(), std::byte{0});
  }
  template <class T>
  void put(T value) noexcept {
    store_le(out_.data() + at_, value);
    at_ += sizeof(T);
  }
  void put(std::string_view magic) noexcept {
    std::memcpy(out_.data() + at_, magic.data(), magic.size());
    at_ += magic.size();
  }
  void put(const Digest128& digest) noexcept {
    put(digest.high);
    put(digest.low);
  }
  void put(const std::array<std::uint32_t, kMaxRank>& axes) noexcept {
    for (const std::uint32_t axis : axes) put(axis);
  }
  // The CRC of everything before the last four bytes goes into those.
  void seal() noexcept {
    const std::size_t crc_at = out_.size() - sizeof(std::uint32_t);
    store_le(out_.data() + crc_at, crc32c(out_.first(crc_at)));
  }

 private:
  std::span<std::byte> out_;
  std::size_t at_ = 0;
};

// Reads fields one after another.
class FieldReader {
 public:
  explicit FieldReader(std::span<const std::byte> in) : in_(in) {}
  template <class T>
  T take() noexcept {
    const T value = load_le<T>(in_.data() + at_);
    at_ += sizeof(T);
    return value;
  }
  void skip(std::size_t num_bytes) noexcept { at_ += num_bytes; }
  Digest128 take_digest() noexcept {
    const auto high = take<std::uint64_t>();
    return {high, take<std::uint64_t>()};
  }
  std::array<std::uint32_t, kMaxRank> take_axes() noexcept {
    std::array<std::uint32_t, kMaxRank> axes{};
    for (std::uint32_t& axis : axes) axis = take<std::uint32_t>();
    return axes;
  }

 private:
  std::span<const std::byte> in_;
  std::size_t at_ = 0;
};

std::optional<Flaw> check_magic(std::span<const std::byte> bytes, std::string_view magic,
                                std::size_t version_bytes) {
  const std::string_view start = view_text(bytes.first(magic.size()));
  if (start != magic)
    return Flaw{fmt::format("mark {}", magic), fmt::format("bytes \"{}\"", start)};
  const std::uint32_t version = version_bytes == 4
                                    ? load_le<std::uint32_t>(bytes.data() + magic.size())
                                    : load_le<std::uint16_t>(bytes.data() + magic.size());
  if (version != kFormatVersion)
    return Flaw{fmt::format("format version {}", kFormatVersion),
                fmt::format("version {}", version), true};
  return std::nullopt;
}

// CRC before anything else is believed; a version that differs under a right CRC is another format.
std::optional<Flaw> check_sealed(std::span<const std::byte> bytes, std::string_view magic,
                                 std::size_t version_bytes) {
  const std::size_t crc_at = bytes.size() - sizeof(std::uint32_t);
  const auto stored = load_le<std::uint32_t>(bytes.data() + crc_at);
  const std::uint32_t computed = crc32c(bytes.first(crc_at));
  if (stored != computed)
    return Flaw{fmt::format("CRC {:08x}", stored), fmt::format("{:08x}", computed)};
  if (version_bytes == 0) {
    if (view_text(bytes.first(magic.size())) != magic)
      return Flaw{fmt::format("mark {}", magic), "another mark"};
    return std::nullopt;
  }
  return check_magic(bytes, magic, version_bytes);
}

std::optional<Flaw> check_zero(std::span<const std::byte> bytes, std::string_view what) {
  const auto bad =
      std::find_if(bytes.begin(), bytes.end(), [](std::byte b) { return b != std::byte{0}; });
  if (bad == bytes.end()) return std::nullopt;
  return Flaw{fmt::format("zero {}", what),
              fmt::format("value {:02x}", std::to_integer<int>(*bad))};
}

std::optional<Flaw> decode_kind(std::uint16_t code, RecordKind& out) {
  if (code < 1 || code > kKindNames.size())
    return Flaw{"a known kind", fmt::format("kind {}", code)};
  out = static_cast<RecordKind>(code);
  return std::nullopt;
}

std::optional<Flaw> decode_element(std::uint16_t code, ElementType& out) {
  const std::optional<ElementType> element = element_from_code(code);
  if (!element) return Flaw{"a known element type", fmt::format("type {}", code)};
  out = *element;
  return std::nullopt;
}

}  // namespace

std::string_view kind_name(RecordKind kind) noexcept {
  return kKindNames[static_cast<std::size_t>(kind) - 1];
}

std::optional<RecordKind> kind_from_name(std::string_view name) noexcept {
  for (std::size_t i = 0; i < kKindNames.size(); ++i)
    if (kKindNames[i] == name) return static_cast<RecordKind>(i + 1);
  return std::nullopt;
}

std::optional<std::uint64_t> ArrayShape::payload_bytes() const noexcept {
  if (rank < 1 || rank > kMaxRank) return std::nullopt;
  std::optional<std::uint64_t> total = element_bytes(element);
  for (std::size_t i = 0; i < kMaxRank; ++i) {
    if (i >= rank && axes[i] != 0) return std::nullopt;
    if (i < rank) total = checked_multiply<std::uint64_t>(*total, axes[i]);
    if (!total) return std::nullopt;
  }
  return total;
}

std::string ArrayShape::text() const {
  const std::size_t used = std::min<std::size_t>(rank, kMaxRank);
  return fmt::format(
      "{} [{}]", element_name(element),
      fmt::join(axes.begin(), axes.begin() + static_cast<std::ptrdiff_t>(used), ", "));
}

void encode(const ShardHeader& header, ShardHeaderBytes out) noexcept {
  FieldWriter fields(out);
  fields.put(kShardMagic);
  fields.put(kFormatVersion);
  fields.put(static_cast<std::uint16_t>(header.kind));
  fields.put(std::uint16_t{0});
  fields.put(header.number);
  fields.put(header.num_records);
  fields.put(header.settings);
  fields.put(header.array_name_hash);
  fields.seal();
}

void encode(const RecordHeader& header, RecordHeaderBytes out) noexcept {
  FieldWriter fields(out);
  fields.put(kRecordMagic);
  fields.put(static_cast<std::uint16_t>(kFormatVersion));
  fields.put(static_cast<std::uint16_t>(header.kind));
  fields.put(static_cast<std::uint16_t>(header.shape.element));
  fields.put(header.shape.rank);
  fields.put(std::uint32_t{0});
  fields.put(header.shape.payload_bytes().value_or(0));
  fields.put(header.shape.axes);
  fields.put(header.key);
  fields.put(header.settings);
  fields.put(header.source);
  fields.put(header.source_bytes);
  fields.put(header.at_bytes);
  fields.put(header.shard_number);
  fields.put(header.payload_crc);
  fields.seal();
}

void encode(const IndexEntry& entry, IndexEntryBytes out) noexcept {
  FieldWriter fields(out);
  fields.put(entry.at_bytes);
  fields.put(entry.payload_bytes);
  fields.put(entry.shape.axes);
  fields.put(static_cast<std::uint16_t>(entry.shape.element));
  fields.put(entry.shape.rank);
  fields.put(entry.id_at_bytes);
  fields.put(entry.id_bytes);
  fields.put(entry.header_crc);
  fields.put(entry.payload_crc);
  fields.put(std::uint32_t{0});
  fields.put(entry.source);
}

void encode(const Footer& footer, FooterBytes out) noexcept {
  FieldWriter fields(out);
  fields.put(kFooterMagic);
  fields.put(footer.index_at_bytes);
  fields.put(footer.index_bytes);
  fields.put(footer.num_records);
  fields.put(footer.index_crc);
  fields.put(footer.file_bytes);
  fields.put(footer.number);
  fields.seal();
}

std::optional<Flaw> decode(std::span<const std::byte, kShardHeaderBytes> bytes, ShardHeader& out) {
  if (auto flaw = check_sealed(bytes, kShardMagic, 4)) return flaw;
  FieldReader fields(bytes.subspan(12));
  if (auto flaw = decode_kind(fields.take<std::uint16_t>(), out.kind)) return flaw;
  fields.skip(2);
  out.number = fields.take<std::uint32_t>();
  out.num_records = fields.take<std::uint32_t>();
  out.settings = fields.take_digest();
  out.array_name_hash = fields.take<std::uint64_t>();
  if (auto flaw = check_zero(bytes.subspan(14, 2), "reserved bytes")) return flaw;
  return check_zero(bytes.subspan(48, 12), "reserved bytes");
}

std::optional<Flaw> decode(std::span<const std::byte, kRecordHeaderBytes> bytes,
                           RecordHeader& out) {
  if (auto flaw = check_sealed(bytes, kRecordMagic, 2)) return flaw;
  FieldReader fields(bytes.subspan(6));
  if (auto flaw = decode_kind(fields.take<std::uint16_t>(), out.kind)) return flaw;
  if (auto flaw = decode_element(fields.take<std::uint16_t>(), out.shape.element)) return flaw;
  out.shape.rank = fields.take<std::uint16_t>();
  fields.skip(4);
  const auto payload_bytes = fields.take<std::uint64_t>();
  out.shape.axes = fields.take_axes();
  out.key = fields.take_digest();
  out.settings = fields.take_digest();
  out.source = fields.take_digest();
  out.source_bytes = fields.take<std::uint64_t>();
  out.at_bytes = fields.take<std::uint64_t>();
  out.shard_number = fields.take<std::uint32_t>();
  out.payload_crc = fields.take<std::uint32_t>();
  if (out.shape.payload_bytes() != payload_bytes)
    return Flaw{out.shape.text(), fmt::format("{} payload bytes", payload_bytes)};
  if (auto flaw = check_zero(bytes.subspan(12, 4), "reserved bytes")) return flaw;
  return check_zero(bytes.subspan(120, 4), "reserved bytes");
}

std::optional<Flaw> decode(std::span<const std::byte, kIndexEntryBytes> bytes, IndexEntry& out) {
  FieldReader fields(bytes);
  out.at_bytes = fields.take<std::uint64_t>();
  out.payload_bytes = fields.take<std::uint64_t>();
  out.shape.axes = fields.take_axes();
  if (auto flaw = decode_element(fields.take<std::uint16_t>(), out.shape.element)) return flaw;
  out.shape.rank = fields.take<std::uint16_t>();
  out.id_at_bytes = fields.take<std::uint32_t>();
  out.id_bytes = fields.take<std::uint32_t>();
  out.header_crc = fields.take<std::uint32_t>();
  out.payload_crc = fields.take<std::uint32_t>();
  fields.skip(4);
  out.source = fields.take_digest();
  if (out.shape.payload_bytes() != out.payload_bytes)
    return Flaw{out.shape.text(), fmt::format("{} payload bytes", out.payload_bytes)};
  return check_zero(bytes.subspan(60, 4), "reserved bytes");
}

std::optional<Flaw> decode(std::span<const std::byte, kFooterBytes> bytes, Footer& out) {
  if (auto flaw = check_sealed(bytes, kFooterMagic, 0)) return flaw;
  FieldReader fields(bytes.subspan(8));
  out.index_at_bytes = fields.take<std::uint64_t>();
  out.index_bytes = fields.take<std::uint64_t>();
  out.num_records = fields.take<std::uint32_t>();
  out.index_crc = fields.take<std::uint32_t>();
  out.file_bytes = fields.take<std::uint64_t>();
  out.number = fields.take<std::uint32_t>();
  return check_zero(bytes.subspan(44, 16), "reserved bytes");
}

std::uint32_t identity_crc(const RecordIdentity& identity) noexcept {
  std::array<std::byte, 32> bytes{};
  FieldWriter fields(bytes);
  fields.put(std::uint64_t{identity.shard_number});
  fields.put(identity.at_bytes);
  fields.put(identity.key);
  return crc32c(bytes);
}

std::uint32_t payload_crc(const RecordIdentity& identity,
                          std::span<const std::byte> payload) noexcept {
  return crc32c(payload, identity_crc(identity));
}

std::uint32_t index_crc(std::uint32_t shard_number, std::uint64_t at_bytes,
                        std::span<const std::byte> index) noexcept {
  return crc32c(index, identity_crc({shard_number, at_bytes, {}}));
}

std::string shard_file_name(std::uint32_t number) { return fmt::format("shard-{:05}.stk", number); }

std::optional<std::uint32_t> shard_number_of(std::string_view file_name) noexcept {
  constexpr std::string_view kStart = "shard-";
  constexpr std::string_view kEnd = ".stk";
  if (!file_name.starts_with(kStart) || !file_name.ends_with(kEnd)) return std::nullopt;
  if (file_name.size() < kStart.size() + 5 + kEnd.size()) return std::nullopt;
  const std::string_view digits =
      file_name.substr(kStart.size(), file_name.size() - kStart.size() - kEnd.size());
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  return shard_file_name(number) == file_name ? std::optional(number) : std::nullopt;
}

}  // namespace stoker::cache
