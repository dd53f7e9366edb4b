// What a builder needs to know about one kind of record: which rows, from which sources, and how.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "stoker/base/digest/digest.h"
#include "stoker/base/result.h"
#include "stoker/cache/format/shard_writer.h"

namespace stoker::cache {

// What stat(2) says about a source file: equal stamps let a check skip reading the file.
struct SourceStamp {
  std::uint64_t size_bytes = 0;
  std::int64_t mtime_ns = 0;
  std::int64_t ctime_ns = 0;
  std::uint64_t inode = 0;

  bool operator==(const SourceStamp&) const = default;
};

// The rows of one kind, sorted by id. Immutable; const access is thread-safe.
class RecordMaker {
 public:
  virtual ~RecordMaker() = default;

  virtual RecordKind kind() const = 0;
  virtual std::string_view array() const { return {}; }  // name, for kArray
  virtual Digest128 settings() const = 0;
  virtual std::size_t num_rows() const = 0;
  virtual std::string_view id(std::size_t row) const = 0;
  // A bound for the payload, for the estimate of the disk space needed.
  virtual std::uint64_t expected_bytes(std::size_t row) const = 0;

  // The source file's stamp; nothing where the source is no file.
  virtual Result<std::optional<SourceStamp>> stamp(std::size_t row) const = 0;
  // Which part of the source file the row is, where it is not the whole of it: equal stamps mean an
  // equal source only for equal parts.
  virtual std::string source_part(std::size_t) const { return {}; }
  // Reads the source and gives its digest.
  virtual Result<Digest128> source_digest(std::size_t row) const = 0;

  // What a record of the row must look like, in words, when `found` does not.
  virtual std::optional<std::string> shape_missed_by(std::size_t /*row*/,
                                                     const ArrayShape& /*found*/) const {
    return std::nullopt;
  }

  // Makes records; one worker a thread, so it may keep scratch memory.
  class Worker {
   public:
    virtual ~Worker() = default;
    // Fills shape, payload, source and source_bytes of `out`; a failure says why the row cannot be
    // used. `out.source` is set even then where the source could be read.
    virtual Result<void> make(std::size_t row, MadeRecord& out) = 0;
  };
  virtual std::unique_ptr<Worker> make_worker() const = 0;
};

}  // namespace stoker::cache
