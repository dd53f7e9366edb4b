// An open shard: its checked index, and its records by mapping or by pread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stoker/base/io/io.h"
#include "stoker/base/result.h"
#include "stoker/cache/format/shard_view.h"

namespace stoker::cache {

// A read-only mapping that unmaps itself.
class Mapping {
 public:
  Mapping() = default;
  Mapping(Io& io, std::span<const std::byte> bytes) : io_(&io), bytes_(bytes) {}
  Mapping(Mapping&& other) noexcept;
  Mapping& operator=(Mapping&& other) noexcept;
  ~Mapping();

  bool is_mapped() const noexcept { return io_ != nullptr; }
  std::span<const std::byte> bytes() const noexcept { return bytes_; }

 private:
  Io* io_ = nullptr;
  std::span<const std::byte> bytes_;
};

// Maps a whole file. E-IO-… when the kernel refuses.
Result<Mapping> map_file(const File& file, std::uint64_t size_bytes);

enum class ShardAccess { kMap, kPread };

// Const access is thread-safe.
class ShardFile {
 public:
  // Opens `name` under `folder` and checks header, index and footer. A mapped shard keeps no
  // file handle, so any number of them can be open.
  static Result<ShardFile> open(const File& folder, const std::string& name, ShardAccess access);

  const ShardView& view() const noexcept { return view_; }
  std::uint64_t size_bytes() const noexcept { return view_.footer().file_bytes; }
  bool is_mapped() const noexcept { return mapping_.is_mapped(); }
  std::span<const std::byte> mapped_bytes() const noexcept { return mapping_.bytes(); }

  // Bytes of the whole record (header, payload, filling): a view of the mapping, or read into
  // `scratch`. Touching a mapped view needs guarded().
  Result<std::span<const std::byte>> record_bytes(std::size_t index,
                                                  std::vector<std::byte>& scratch) const;
  // record_bytes and ShardView::check_record, guarded.
  Result<RecordHeader> check_record(std::size_t index, std::vector<std::byte>& scratch) const;

  // The file became shorter than its footer said while it was mapped.
  Error truncated_error(std::size_t index) const;

 private:
  ShardView view_;
  File file_;  // pread only
  Mapping mapping_;
};

}  // namespace stoker::cache
