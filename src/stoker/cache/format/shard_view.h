// A shard's bytes seen as records: ids, shapes and payloads, checked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/result.h"
#include "stoker/cache/format/shard_format.h"

namespace stoker::cache {

// One record as the index describes it; `id` borrows from the view.
struct RecordEntry {
  std::string_view id;
  IndexEntry at;

  std::uint64_t end_bytes() const noexcept;  // where the filled-up record ends
};

// Header, index and footer of a shard, copied out and checked: every offset is inside the file,
// records follow each other, ids are sorted. Payloads are not touched. Immutable; const access is
// thread-safe.
class ShardView {
 public:
  // The parts of the file that describe the rest.
  struct Parts {
    std::string file;                 // for messages
    std::uint64_t file_bytes = 0;     // of the whole file
    std::span<const std::byte> head;  // the first kShardHeaderBytes
    std::span<const std::byte> tail;  // index and footer
  };
  static Result<ShardView> open(const Parts& parts);
  // The whole file in memory.
  static Result<ShardView> open_whole(const std::string& file, std::span<const std::byte> bytes);

  const ShardHeader& header() const noexcept { return header_; }
  const Footer& footer() const noexcept { return footer_; }
  const Digest128& digest() const noexcept { return digest_; }  // of index and footer
  const std::string& file() const noexcept { return file_; }

  std::size_t size() const noexcept { return entries_.size(); }
  RecordEntry operator[](std::size_t index) const noexcept;
  std::optional<std::size_t> find(std::string_view id) const noexcept;

  // Checks a whole record (header, payload, filling) and gives its header.
  Result<RecordHeader> check_record(std::size_t index, std::span<const std::byte> record) const;

  // Checks header and filling of a record, leaving the payload to a caller that makes its CRC in
  // passing; the CRC register to start from comes back.
  Result<std::uint32_t> check_frame(std::size_t index, std::span<const std::byte> record) const;

  // An error that names file, record and offset.
  Error record_error(std::size_t index, const Flaw& flaw) const;

 private:
  Result<void> read_index(std::span<const std::byte> index);
  std::optional<Flaw> check_entry(std::size_t index, std::uint64_t expected_at_bytes) const;

  std::string file_;
  ShardHeader header_;
  Footer footer_;
  Digest128 digest_;
  std::vector<IndexEntry> entries_;
  std::string ids_;
};

// Footer of a file of `file_bytes` from its last kFooterBytes, checked against the file's size.
Result<Footer> read_footer(const std::string& file, std::uint64_t file_bytes,
                           std::span<const std::byte> last_bytes);

}  // namespace stoker::cache
