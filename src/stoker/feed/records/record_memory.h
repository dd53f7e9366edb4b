// The memory of a ring of records: a file that other processes map, or memory of this one alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "stoker/base/io/io.h"
#include "stoker/base/result.h"

namespace stoker::feed {

struct RecordOptions {
  bool is_on = true;
  bool in_file = false;         // else nobody outside this process sees them
  std::string run_folder = {};  // for records.ring, which stays; empty: a file that goes
  Io* io = &system_io();
};

// Memory of zeros. Movable. Destruction removes a file that is not of a run; a process forked from
// the maker's removes nothing.
class RecordMemory {
 public:
  // In `run_folder` as records.ring. Else in $XDG_RUNTIME_DIR/stoker or, without that, in
  // /tmp/stoker-UID: a folder of this user alone, which no link leads to. The file is named after
  // the process and gets its name with publish(). Files of processes that are gone are removed.
  static Result<RecordMemory> in_file(const RecordOptions& options, std::size_t size_bytes);
  // Throws std::bad_alloc.
  static RecordMemory in_process(std::size_t size_bytes);

  RecordMemory() = default;
  RecordMemory(RecordMemory&& other) noexcept;
  RecordMemory& operator=(RecordMemory&& other) noexcept;
  ~RecordMemory();

  // From now on others find the file.
  Result<void> publish();

  std::byte* data() const { return data_; }
  std::size_t size() const { return size_bytes_; }
  const std::string& path() const { return path_; }  // empty: no file

 private:
  std::byte* data_ = nullptr;
  std::size_t size_bytes_ = 0;
  File folder_;
  File file_;  // locked for as long as it is written to
  std::string name_;
  std::string path_;
  unsigned place_ = 0;  // among the files of this process; 0: in a run folder
  int pid_ = 0;
};

}  // namespace stoker::feed
