// Follows the records of a running feed: finds its ring, and notices when the feed has not begun,
// ended, was killed or was replaced by a resumed run.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stoker/base/clock.h"
#include "stoker/base/io/io.h"
#include "stoker/feed/records/record_reader.h"
#include "stoker/observe/live/record_figures.h"
#include "stoker/observe/machine/machine_files.h"

namespace stoker::observe {

// At most one of these; none: the one feed of this user that runs, if it is one.
struct FeedTarget {
  std::string run_folder{};
  std::optional<int> pid{};
  std::optional<feed::RecordReader> reader{};  // of a feed of this process
};

// One thread at a time. Never waits for the feed; whatever cannot be read is said in the figures.
class FeedWatch {
 public:
  // `root` replaces "/" where /proc is looked at.
  FeedWatch(FeedTarget target, Io& io, std::string root, const Clock& clock);

  // What happened since the moment `from`.
  LiveFeed look(std::chrono::nanoseconds from);
  // The writer of the records that are read; nothing where none are.
  std::optional<int> pid() const;

 private:
  struct Found {
    std::string path{};  // empty: none
    FeedState state = FeedState::kNone;
    std::string sentence{};  // about it, or why there is none
  };
  Found find();
  Found find_of_run() const;
  Found find_of_pid(int pid);
  Found find_only();
  // Reads that ring from now on; false where it is the one that is read already.
  bool follow(Found found);
  FeedState read();
  bool was_replaced() const;
  std::string sentence_of(FeedState state) const;

  FeedTarget target_;
  Io& io_;
  MachineFiles files_;
  const Clock& clock_;
  RecordFigures figures_;
  std::optional<feed::RecordReader> reader_;
  const bool is_own_;        // the records are of this process
  std::uint64_t inode_ = 0;  // of the file that is read
  std::uint64_t next_ = 0;
  unsigned num_followed_ = 0;
  std::string sentence_;  // what is watched, or why nothing is
};

}  // namespace stoker::observe
