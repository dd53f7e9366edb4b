// Reads the records of a feed while it writes them: of this process from memory, of another one
// from its file.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "stoker/base/io/io.h"
#include "stoker/base/result.h"
#include "stoker/feed/records/batch_record.h"
#include "stoker/feed/records/record_format.h"

namespace stoker::feed {

class RecordRing;

// What one read found.
struct RecordsRead {
  std::uint64_t next = 0;      // where the next read goes on
  std::uint64_t num_lost = 0;  // asked for, and no longer there, or the writer was killed in it
};

// Never waits for the writer and never disturbs it; a file that is cut short while it is read is an
// error and not the end of this process. One thread at a time.
class RecordReader {
 public:
  // E-RECORDS-FORMAT, E-RECORDS-VERSION, E-RECORDS-CUT, and what opening gives.
  static Result<RecordReader> open(const std::string& path, Io& io = system_io());
  explicit RecordReader(std::shared_ptr<const RecordRing> ring);

  const RecordFileHead& head() const { return head_; }
  // Batches handed out so far.
  Result<std::uint64_t> num_written() const;
  // Appends the records from `number` on, in order. A batch that is still held has released_ns 0;
  // another read shows it later.
  Result<RecordsRead> read_since(std::uint64_t number, std::vector<BatchRecord>& out) const;

  // Closed by its owner.
  Result<bool> has_ended() const;
  // Whether some process can still write to it: false also after a kill.
  bool is_written() const;
  // Empty for records that are in no file.
  const std::string& path() const { return path_; }

 private:
  RecordReader() = default;
  Result<void> load(std::uint64_t offset_bytes, std::span<std::uint64_t> words) const;
  Result<void> load_head();
  // Those of [first, end) that are whole; the range does not wrap.
  Result<void> read_range(std::uint64_t first, std::uint64_t end,
                          std::vector<BatchRecord>& out) const;

  std::shared_ptr<const RecordRing> ring_;  // null: from the file
  File file_;
  std::string path_;
  RecordFileHead head_;
  mutable std::vector<std::uint64_t> before_, words_, after_;
};

}  // namespace stoker::feed
