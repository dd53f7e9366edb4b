// Reads records of a cache straight into the caller's batch: checked, converted and stored in one
// pass.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/io/io.h"
#include "stoker/base/result.h"
#include "stoker/cache/format/manifest.h"
#include "stoker/cache/format/shard_format.h"
#include "stoker/cache/read/shard_file.h"

namespace stoker::cache {

enum class Verification {
  kEveryTime,   // the CRC of every delivered record
  kFirstTouch,  // the first time a record is read by this reader
  kOff,         // only header, index and manifest
};

struct ReaderOptions {
  ReadMode mode = ReadMode::kMap;
  Verification verification = Verification::kFirstTouch;
};

// Names a record of an open reader; valid as long as the reader.
struct RecordRef {
  std::uint32_t shard_index = 0;
  std::uint32_t record_index = 0;
};

struct RecordInfo {
  std::string_view id;
  ArrayShape shape;  // [frames, mels], [tokens], [samples] …
};

// A row of a padded batch: the record's values come first, `padding` fills the rest.
struct RowTarget {
  void* row = nullptr;                      // 64-byte alignment makes it faster, nothing else
  ElementType element = ElementType::kF32;  // what the batch holds
  std::size_t num_values = 0;               // room in the row, at least what the record holds
  float padding = 0.0F;
};

// Memory one worker lends to its reads, so that they never allocate (pread mode uses it).
struct ReadScratch {
  std::vector<std::byte> record;
};

// One consistent generation of a cache: what was committed when it was opened. A builder may go on
// meanwhile; shards it replaces stay readable here while mapped. Const access is thread-safe: any
// number of workers read through one Reader.
class Reader {
 public:
  // E-CACHE-NONE where there is no cache; E-CACHE-MANIFEST, E-CACHE-CORRUPT, E-CACHE-SIZE … where
  // something is damaged. `folder` is the cache folder itself.
  static Result<Reader> open(Io& io, const std::string& folder, const ReaderOptions& options = {});

  Reader(Reader&&) noexcept;
  Reader& operator=(Reader&&) noexcept;
  ~Reader();

  const Manifest& manifest() const noexcept;
  // Manifest and shards as they were opened, to judge the same generation; it lives
  // as long as the reader.
  const OpenGeneration& generation() const noexcept;
  const std::string& folder() const noexcept;

  // Records of a kind in byte order of their ids. `array` names a user array, else empty.
  std::size_t num_records(RecordKind kind, std::string_view array = {}) const noexcept;
  RecordRef record(RecordKind kind, std::size_t index, std::string_view array = {}) const noexcept;
  std::optional<RecordRef> find(RecordKind kind, std::string_view id,
                                std::string_view array = {}) const noexcept;
  RecordInfo info(RecordRef ref) const noexcept;

  // Copies the record into the row, converting f16, bf16 and f32 into each other. An Error names
  // file, record and offset; the row's content is then undefined. Does not allocate on success
  // (pread mode: once `scratch` has grown to the largest record). A mapping that was cut short
  // gives E-CACHE-TRUNCATED. Precondition: target.num_values holds the record.
  Result<void> read_mel_into(RecordRef ref, const RowTarget& target, ReadScratch& scratch) const;

  // The same without conversion: `out` takes the payload's bytes, and its rest is left alone.
  Result<void> read_into(RecordRef ref, std::span<std::byte> out, ReadScratch& scratch) const;
  Result<void> read_tokens_into(RecordRef ref, std::span<std::int32_t> out,
                                ReadScratch& scratch) const;

  // Header of the record (source digest, key), checked with its payload.
  Result<RecordHeader> check(RecordRef ref, ReadScratch& scratch) const;

  // The payload inside the mapping, checked as a read would; empty in pread mode.
  Result<std::span<const std::byte>> check_in_place(RecordRef ref, ReadScratch& scratch) const;

  // The payload inside the mapping, unchecked; empty in pread mode. For comparisons with a plain
  // copy: touching it is not guarded.
  std::span<const std::byte> mapped_payload(RecordRef ref) const noexcept;

  // Asks the kernel to bring the record into the page cache; never fails.
  void will_need(RecordRef ref) const noexcept;
  // Asks the processor for the first bytes of a record that is read next; never waits, never fails.
  void prefetch(RecordRef ref) const noexcept;
  // Whether all of the record is in the page cache now; true in pread mode, where nobody knows.
  bool is_resident(RecordRef ref) const noexcept;

  // Bytes of every shard as mapped, in the manifest's order; empty spans in pread mode. Touching
  // them is not guarded.
  std::vector<std::span<const std::byte>> mapped_shards() const;

 private:
  struct State;
  explicit Reader(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace stoker::cache
