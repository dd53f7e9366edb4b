#include "stoker/cache/format/shard_view.h"

#include <fmt/format.h>

#include <algorithm>

#include "stoker/base/bytes.h"
#include "stoker/base/checked.h"
#include "stoker/base/number_text.h"
#include "stoker/cache/errors.h"

namespace stoker::cache {
namespace {

Error shard_error(const std::string& file, std::uint64_t at_bytes, std::string_view part,
                  const Flaw& flaw) {
  Error error;
  error.code = flaw.other_version ? &kCacheVersion : &kShardCorrupt;
  error.place = {file, {}, {}, at_bytes};
  error.promised = fmt::format("{} ({})", flaw.promised, part);
  error.found = flaw.found;
  return error;
}

Error size_error(const std::string& file, std::string promised, std::string found) {
  Error error;
  error.code = &kShardSize;
  error.place = {file, {}, {}, {}};
  error.promised = std::move(promised);
  error.found = std::move(found);
  return error;
}

// What every record of a kind is, whatever its settings; empty when the shape fits. Readers rely on
// it: a CRC shows what was written, not that a builder wrote it.
std::string_view kind_missed_by(RecordKind kind, const ArrayShape& shape) noexcept {
  switch (kind) {
    case RecordKind::kMel: {
      const bool is_stored = shape.element == ElementType::kF16 ||
                             shape.element == ElementType::kBf16 ||
                             shape.element == ElementType::kF32;
      return is_stored && shape.rank == 2 ? "" : "a mel of f16, bf16 or f32 [frames, mels]";
    }
    case RecordKind::kTokens:
      return shape.element == ElementType::kI32 && shape.rank == 1 ? "" : "tokens of i32 [tokens]";
    case RecordKind::kPcm:
      return shape.element == ElementType::kI16 && shape.rank == 1 ? ""
                                                                   : "samples of i16 [samples]";
    case RecordKind::kArray:
      break;
  }
  return "";
}

bool all_zero(std::span<const std::byte> bytes) noexcept {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; });
}

std::span<const std::byte, kRecordHeaderBytes> header_of(std::span<const std::byte> record) {
  return record.first<kRecordHeaderBytes>();
}

}  // namespace

std::uint64_t RecordEntry::end_bytes() const noexcept {
  return round_up<std::uint64_t>(at.at_bytes + kRecordHeaderBytes + at.payload_bytes, kAlignBytes);
}

Result<Footer> read_footer(const std::string& file, std::uint64_t file_bytes,
                           std::span<const std::byte> last_bytes) {
  if (file_bytes < kShardHeaderBytes + kFooterBytes || last_bytes.size() != kFooterBytes)
    return size_error(file, "a header and a footer", fmt::format("{} bytes", grouped(file_bytes)));
  Footer footer;
  if (auto flaw = decode(last_bytes.first<kFooterBytes>(), footer))
    return shard_error(file, file_bytes - kFooterBytes, "footer", *flaw);
  if (footer.file_bytes != file_bytes)
    return size_error(file, fmt::format("{} bytes by the footer", grouped(footer.file_bytes)),
                      grouped(file_bytes));
  const auto index_end = checked_add(footer.index_at_bytes, footer.index_bytes);
  if (!index_end || *index_end != file_bytes - kFooterBytes ||
      footer.index_at_bytes < kShardHeaderBytes || footer.index_at_bytes % kAlignBytes != 0)
    return shard_error(file, file_bytes - kFooterBytes, "footer",
                       {"the index before the footer",
                        fmt::format("{} bytes at {}", footer.index_bytes, footer.index_at_bytes)});
  return footer;
}

Result<ShardView> ShardView::open(const Parts& parts) {
  if (parts.tail.size() < kFooterBytes || parts.head.size() < kShardHeaderBytes)
    return size_error(parts.file, "a header and a footer",
                      fmt::format("{} bytes", grouped(parts.file_bytes)));
  ShardView view;
  view.file_ = parts.file;
  if (auto flaw = decode(parts.head.first<kShardHeaderBytes>(), view.header_))
    return shard_error(parts.file, 0, "shard header", *flaw);
  Result<Footer> footer = read_footer(parts.file, parts.file_bytes, parts.tail.last(kFooterBytes));
  if (!footer) return std::move(footer).error();
  view.footer_ = *footer;
  if (parts.tail.size() != footer->index_bytes + kFooterBytes)
    return size_error(parts.file, "index and footer", fmt::format("{} bytes", parts.tail.size()));
  view.digest_ = digest_of(parts.tail);
  if (Result<void> read = view.read_index(parts.tail.first(footer->index_bytes)); !read)
    return read.error();
  return view;
}

Result<ShardView> ShardView::open_whole(const std::string& file, std::span<const std::byte> bytes) {
  const std::size_t tail_bytes = std::min(bytes.size(), kFooterBytes);
  Result<Footer> footer = read_footer(file, bytes.size(), bytes.last(tail_bytes));
  if (!footer) return std::move(footer).error();
  return open({.file = file,
               .file_bytes = bytes.size(),
               .head = bytes.first(kShardHeaderBytes),
               .tail = bytes.subspan(footer->index_at_bytes)});
}

Result<void> ShardView::read_index(std::span<const std::byte> index) {
  const std::uint64_t at = footer_.index_at_bytes;
  const std::uint32_t crc = index_crc(header_.number, at, index);
  if (crc != footer_.index_crc)
    return shard_error(file_, at, "index",
                       {fmt::format("CRC {:08x}", footer_.index_crc), fmt::format("{:08x}", crc)});
  const std::uint64_t table_bytes = std::uint64_t{footer_.num_records} * kIndexEntryBytes;
  if (footer_.num_records != header_.num_records || footer_.number != header_.number ||
      table_bytes > index.size())
    return shard_error(file_, at, "index",
                       {fmt::format("{} records of shard {}", header_.num_records, header_.number),
                        fmt::format("{} of {}", footer_.num_records, footer_.number)});
  const std::string_view ids = view_text(index.subspan(table_bytes));
  entries_.resize(footer_.num_records);
  std::uint64_t record_at = kShardHeaderBytes;
  std::uint64_t id_at = 0;
  ids_ = ids;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    auto flaw = decode(index.subspan(i * kIndexEntryBytes).first<kIndexEntryBytes>(), entries_[i]);
    if (!flaw && entries_[i].id_at_bytes != id_at) flaw = Flaw{"ids end to end", "a gap"};
    if (!flaw) flaw = check_entry(i, record_at);
    if (flaw)
      return shard_error(file_, at + i * kIndexEntryBytes, fmt::format("index entry {}", i), *flaw);
    record_at = (*this)[i].end_bytes();
    id_at += entries_[i].id_bytes;
  }
  const auto filling = std::as_bytes(std::span(ids)).subspan(id_at);
  if (record_at != at || !all_zero(filling) || filling.size() >= kAlignBytes)
    return shard_error(file_, at, "index", {"records and ids end to end", "a gap or other bytes"});
  ids_.resize(id_at);
  return {};
}

std::optional<Flaw> ShardView::check_entry(std::size_t index,
                                           std::uint64_t expected_at_bytes) const {
  const IndexEntry& entry = entries_[index];
  if (entry.at_bytes != expected_at_bytes)
    return Flaw{fmt::format("record at {}", expected_at_bytes), fmt::format("{}", entry.at_bytes)};
  const std::uint64_t room = footer_.index_at_bytes - expected_at_bytes;
  if (room < kRecordHeaderBytes || entry.payload_bytes > room - kRecordHeaderBytes)
    return Flaw{"payload inside the shard", fmt::format("{} bytes", entry.payload_bytes)};
  if (std::uint64_t{entry.id_at_bytes} + entry.id_bytes > ids_.size() || entry.id_bytes == 0)
    return Flaw{"an id", fmt::format("{} bytes at {}", entry.id_bytes, entry.id_at_bytes)};
  if (index > 0 && (*this)[index - 1].id >= (*this)[index].id)
    return Flaw{"ids in order", fmt::format("\"{}\"", (*this)[index].id)};
  const std::string_view kind = kind_missed_by(header_.kind, entry.shape);
  if (!kind.empty()) return Flaw{std::string(kind), entry.shape.text()};
  return std::nullopt;
}

RecordEntry ShardView::operator[](std::size_t index) const noexcept {
  const IndexEntry& entry = entries_[index];
  return {std::string_view(ids_).substr(entry.id_at_bytes, entry.id_bytes), entry};
}

std::optional<std::size_t> ShardView::find(std::string_view id) const noexcept {
  const auto id_of = [this](const IndexEntry& entry) {
    return std::string_view(ids_).substr(entry.id_at_bytes, entry.id_bytes);
  };
  const auto at = std::lower_bound(
      entries_.begin(), entries_.end(), id,
      [&](const IndexEntry& entry, std::string_view wanted) { return id_of(entry) < wanted; });
  if (at == entries_.end() || id_of(*at) != id) return std::nullopt;
  return static_cast<std::size_t>(at - entries_.begin());
}

Error ShardView::record_error(std::size_t index, const Flaw& flaw) const {
  const RecordEntry entry = (*this)[index];
  return shard_error(file_, entry.at.at_bytes, fmt::format("record \"{}\"", entry.id), flaw);
}

Result<std::uint32_t> ShardView::check_frame(std::size_t index,
                                             std::span<const std::byte> record) const {
  const IndexEntry& entry = entries_[index];
  if (load_le<std::uint32_t>(record.data() + kRecordHeaderBytes - 4) != entry.header_crc)
    return record_error(index, {"header CRC of the index", "another one"});
  RecordHeader header;
  if (auto flaw = decode(header_of(record), header)) return record_error(index, *flaw);
  const bool agrees = header.kind == header_.kind && header.shape == entry.shape &&
                      header.at_bytes == entry.at_bytes && header.shard_number == header_.number &&
                      header.payload_crc == entry.payload_crc &&
                      header.settings == header_.settings && header.source == entry.source &&
                      header.key == digest_of((*this)[index].id);
  if (!agrees)
    return record_error(index, {"the record of the index", "a record from another place"});
  if (!all_zero(record.subspan(kRecordHeaderBytes + entry.payload_bytes)))
    return record_error(index, {"filling bytes zero", "other bytes"});
  return identity_crc({header_.number, entry.at_bytes, header.key});
}

Result<RecordHeader> ShardView::check_record(std::size_t index,
                                             std::span<const std::byte> record) const {
  if (Result<std::uint32_t> frame = check_frame(index, record); !frame)
    return std::move(frame).error();
  RecordHeader header;
  if (auto flaw = decode(header_of(record), header)) return record_error(index, *flaw);
  const std::uint32_t crc =
      payload_crc({header.shard_number, header.at_bytes, header.key},
                  record.subspan(kRecordHeaderBytes, entries_[index].payload_bytes));
  if (crc != header.payload_crc)
    return record_error(
        index, {fmt::format("payload CRC {:08x}", header.payload_crc), fmt::format("{:08x}", crc)});
  return header;
}

}  // namespace stoker::cache
