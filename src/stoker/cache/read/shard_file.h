// An open shard: its checked index, and its records by mapping or by pread; and every shard of one
// generation, even while a builder goes on to the next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stoker/base/io/io.h"
#include "stoker/base/result.h"
#include "stoker/cache/format/manifest.h"
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

enum class ReadMode { kMap, kPread };

// Const access is thread-safe.
class ShardFile {
 public:
  // Opens `name` under `folder` and checks header, index and footer. A mapped shard keeps no
  // file handle, so any number of them can be open.
  static Result<ShardFile> open(const File& folder, const std::string& name, ReadMode access);

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

struct OpenGeneration {
  Manifest manifest;
  std::vector<ShardFile> shards;  // in the order of manifest.shards
};

// Opens one shard and compares it with its manifest line: E-CACHE-FOREIGN when it is another one.
Result<ShardFile> open_listed_shard(const File& folder, const ShardLine& line, ReadMode access);

// A shard that does not fit its line is looked at again with a fresh manifest, since a builder may
// have replaced both; only when the manifest stayed the same is it an error.
Result<OpenGeneration> open_generation(const File& folder, ReadMode access);

}  // namespace stoker::cache
