#include "stoker/cache/format/shard_writer.h"

#include <algorithm>

#include "stoker/base/bytes.h"
#include "stoker/base/checked.h"
#include "stoker/base/invariant.h"

namespace stoker::cache {
namespace {

// Small pieces are gathered, so that a shard of short records is not hundreds of writes.
class GatheredWriter {
 public:
  explicit GatheredWriter(const File& file) : file_(file) { pending_.reserve(kGatherBytes); }

  Result<void> add(std::span<const std::byte> bytes) {
    if (pending_.size() + bytes.size() > kGatherBytes)
      if (Result<void> done = flush(); !done) return done;
    if (bytes.size() >= kDirectBytes && pending_.empty()) return write(bytes);
    pending_.insert(pending_.end(), bytes.begin(), bytes.end());
    return {};
  }
  Result<void> flush() {
    Result<void> done = write(pending_);
    pending_.clear();
    return done;
  }

 private:
  static constexpr std::size_t kGatherBytes = 256 * 1024;
  static constexpr std::size_t kDirectBytes = 48 * 1024;

  Result<void> write(std::span<const std::byte> bytes) {
    if (bytes.empty()) return {};
    Result<void> done = file_.write_at(bytes, at_bytes_);
    at_bytes_ += bytes.size();
    return done;
  }

  const File& file_;
  std::uint64_t at_bytes_ = 0;
  std::vector<std::byte> pending_;
};

IndexEntry seal_record(MadeRecord& record, const ShardHeader& shard, std::uint64_t at_bytes) {
  RecordHeader header;
  header.kind = shard.kind;
  header.shape = record.shape;
  header.key = digest_of(record.id);
  header.settings = shard.settings;
  header.source = record.source;
  header.source_bytes = record.source_bytes;
  header.at_bytes = at_bytes;
  header.shard_number = shard.number;
  header.payload_crc = payload_crc({shard.number, at_bytes, header.key}, record.payload());
  const auto out = std::span(record.bytes).first<kRecordHeaderBytes>();
  encode(header, out);
  IndexEntry entry;
  entry.at_bytes = at_bytes;
  entry.payload_bytes = record.payload().size();
  entry.shape = record.shape;
  entry.id_bytes = static_cast<std::uint32_t>(record.id.size());
  entry.header_crc = load_le<std::uint32_t>(out.data() + kRecordHeaderBytes - 4);
  entry.payload_crc = header.payload_crc;
  entry.source = header.source;
  return entry;
}

std::vector<std::byte> make_tail(const ShardHeader& header, std::vector<IndexEntry>& entries,
                                 const std::string& ids, std::uint64_t index_at_bytes) {
  const std::size_t index_bytes =
      round_up(entries.size() * kIndexEntryBytes + ids.size(), kAlignBytes);
  std::vector<std::byte> tail(index_bytes + kFooterBytes);
  std::uint32_t id_at = 0;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    entries[i].id_at_bytes = id_at;
    id_at += entries[i].id_bytes;
    encode(entries[i], std::span(tail).subspan(i * kIndexEntryBytes).first<kIndexEntryBytes>());
  }
  const auto id_bytes = view_bytes(ids);
  std::copy(id_bytes.begin(), id_bytes.end(),
            tail.begin() + static_cast<std::ptrdiff_t>(entries.size() * kIndexEntryBytes));
  Footer footer;
  footer.index_at_bytes = index_at_bytes;
  footer.index_bytes = index_bytes;
  footer.num_records = header.num_records;
  footer.index_crc = index_crc(header.number, index_at_bytes, std::span(tail).first(index_bytes));
  footer.file_bytes = index_at_bytes + tail.size();
  footer.number = header.number;
  encode(footer, std::span(tail).last<kFooterBytes>());
  return tail;
}

}  // namespace

std::span<std::byte> MadeRecord::reset(const ArrayShape& new_shape) {
  shape = new_shape;
  const std::optional<std::uint64_t> payload_bytes = shape.payload_bytes();
  check_invariant(payload_bytes.has_value(), "a record whose size overflows");
  const std::size_t end = kRecordHeaderBytes + *payload_bytes;
  const std::size_t filled = round_up(end, kAlignBytes);
  if (bytes.size() < filled) bytes.resize(filled);
  std::fill(bytes.begin() + static_cast<std::ptrdiff_t>(end),
            bytes.begin() + static_cast<std::ptrdiff_t>(filled), std::byte{0});
  return std::span(bytes).subspan(kRecordHeaderBytes, *payload_bytes);
}

std::span<const std::byte> MadeRecord::payload() const {
  return std::span(bytes).subspan(kRecordHeaderBytes, shape.payload_bytes().value_or(0));
}

std::size_t MadeRecord::total_bytes() const {
  return round_up(kRecordHeaderBytes + payload().size(), kAlignBytes);
}

std::uint64_t shard_bytes(std::span<const MadeRecord* const> records) {
  std::uint64_t total = kShardHeaderBytes + kFooterBytes;
  std::size_t id_bytes = 0;
  for (const MadeRecord* record : records) {
    total += record->total_bytes();
    id_bytes += record->id.size();
  }
  return total + round_up(records.size() * kIndexEntryBytes + id_bytes, kAlignBytes);
}

Result<Digest128> write_shard(const File& file, const ShardHeader& header,
                              std::span<MadeRecord* const> records) {
  check_invariant(header.num_records == records.size(), "a shard header with another count");
  GatheredWriter out(file);
  std::array<std::byte, kShardHeaderBytes> start;
  encode(header, start);
  if (Result<void> done = out.add(start); !done) return done.error();
  std::uint64_t at_bytes = kShardHeaderBytes;
  std::vector<IndexEntry> entries;
  std::string ids;
  for (MadeRecord* record : records) {
    entries.push_back(seal_record(*record, header, at_bytes));
    ids += record->id;
    const std::size_t total = record->total_bytes();
    if (Result<void> done = out.add(std::span(record->bytes).first(total)); !done)
      return done.error();
    at_bytes += total;
  }
  const std::vector<std::byte> tail = make_tail(header, entries, ids, at_bytes);
  if (Result<void> done = out.add(tail); !done) return done.error();
  if (Result<void> done = out.flush(); !done) return done.error();
  return digest_of(std::span<const std::byte>(tail));
}

}  // namespace stoker::cache
