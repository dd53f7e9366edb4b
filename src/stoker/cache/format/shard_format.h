// The fixed parts of a shard as structs, and their exact bytes (docs/format/cache.md).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "stoker/base/digest/digest.h"
#include "stoker/cache/format/element_type.h"

namespace stoker::cache {

inline constexpr std::uint32_t kFormatVersion = 1;
inline constexpr std::size_t kAlignBytes = 64;
inline constexpr std::size_t kShardHeaderBytes = 64;
inline constexpr std::size_t kRecordHeaderBytes = 128;
inline constexpr std::size_t kIndexEntryBytes = 80;
inline constexpr std::size_t kFooterBytes = 64;
inline constexpr std::size_t kMaxRank = 6;
inline constexpr std::size_t kRecordsPerShard = 256;
inline constexpr std::uint32_t kShardsPerChunk = 16;

enum class RecordKind : std::uint16_t { kMel = 1, kTokens = 2, kPcm = 3, kArray = 4 };

std::string_view kind_name(RecordKind kind) noexcept;  // "mel"
std::optional<RecordKind> kind_from_name(std::string_view name) noexcept;

// Element type and shape of a payload; rank 1 to kMaxRank, unused axes 0.
struct ArrayShape {
  ElementType element = ElementType::kF16;
  std::uint16_t rank = 1;
  std::array<std::uint32_t, kMaxRank> axes{};

  bool operator==(const ArrayShape&) const = default;
  // Nothing when the rank is out of bounds, an unused axis is not 0, or the product overflows.
  std::optional<std::uint64_t> payload_bytes() const noexcept;
  std::string text() const;  // "f16 [566, 80]"
};

struct ShardHeader {
  RecordKind kind = RecordKind::kMel;
  std::uint32_t number = 0;
  std::uint32_t num_records = 0;
  Digest128 settings;
  std::uint64_t array_name_hash = 0;

  bool operator==(const ShardHeader&) const = default;
};

struct RecordHeader {
  RecordKind kind = RecordKind::kMel;
  ArrayShape shape;
  Digest128 key;  // of the id
  Digest128 settings;
  Digest128 source;
  std::uint64_t source_bytes = 0;
  std::uint64_t at_bytes = 0;  // offset of this header in the file
  std::uint32_t shard_number = 0;
  std::uint32_t payload_crc = 0;
};

struct IndexEntry {
  std::uint64_t at_bytes = 0;
  std::uint64_t payload_bytes = 0;
  ArrayShape shape;
  std::uint32_t id_at_bytes = 0;
  std::uint32_t id_bytes = 0;
  std::uint32_t header_crc = 0;
  std::uint32_t payload_crc = 0;
  Digest128 source;
};

struct Footer {
  std::uint64_t index_at_bytes = 0;
  std::uint64_t index_bytes = 0;
  std::uint32_t num_records = 0;
  std::uint32_t index_crc = 0;
  std::uint64_t file_bytes = 0;
  std::uint32_t number = 0;
};

using ShardHeaderBytes = std::span<std::byte, kShardHeaderBytes>;
using RecordHeaderBytes = std::span<std::byte, kRecordHeaderBytes>;
using IndexEntryBytes = std::span<std::byte, kIndexEntryBytes>;
using FooterBytes = std::span<std::byte, kFooterBytes>;

void encode(const ShardHeader& header, ShardHeaderBytes out) noexcept;
void encode(const RecordHeader& header,
            RecordHeaderBytes out) noexcept;  // returns with its CRC set
void encode(const IndexEntry& entry, IndexEntryBytes out) noexcept;
void encode(const Footer& footer, FooterBytes out) noexcept;

// What is wrong with fixed bytes, in words ("CRC 1a2b3c4d, bytes give 5e6f7081"); empty when they
// are whole. `other_version` tells a newer format from damage.
struct Flaw {
  std::string promised;
  std::string found;
  bool other_version = false;
};

// Decoding checks magic, version, CRC, reserved bytes and every code; nothing else.
std::optional<Flaw> decode(std::span<const std::byte, kShardHeaderBytes> bytes, ShardHeader& out);
std::optional<Flaw> decode(std::span<const std::byte, kRecordHeaderBytes> bytes, RecordHeader& out);
std::optional<Flaw> decode(std::span<const std::byte, kIndexEntryBytes> bytes, IndexEntry& out);
std::optional<Flaw> decode(std::span<const std::byte, kFooterBytes> bytes, Footer& out);

// CRC register after the identity of a record or index; what follows is the payload itself.
struct RecordIdentity {
  std::uint32_t shard_number = 0;
  std::uint64_t at_bytes = 0;
  Digest128 key;
};
std::uint32_t identity_crc(const RecordIdentity& identity) noexcept;
std::uint32_t payload_crc(const RecordIdentity& identity,
                          std::span<const std::byte> payload) noexcept;
std::uint32_t index_crc(std::uint32_t shard_number, std::uint64_t at_bytes,
                        std::span<const std::byte> index) noexcept;

std::string shard_file_name(std::uint32_t number);  // "shard-00016.stk"
std::optional<std::uint32_t> shard_number_of(std::string_view file_name) noexcept;

}  // namespace stoker::cache
