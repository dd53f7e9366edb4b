// Where other processes find the records of a feed: by the number of the process.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/io/io.h"
#include "stoker/base/result.h"

namespace stoker::feed {

// All names of rings end with it.
inline constexpr std::string_view kRingEnding = ".ring";
// In the folder of a training.
inline constexpr std::string_view kRunRecordsName = "records.ring";
std::string run_records(const std::string& run_folder);

// $XDG_RUNTIME_DIR/stoker or, without that, /tmp/stoker-UID.
std::string common_record_folder();

struct ProcessRing {
  int pid = 0;
  std::string path{};
};
// Those of the folder above, by name. A folder that another user made or opened is not looked into.
std::vector<ProcessRing> common_rings(Io& io = system_io());
// Those of one process: in the folder above, and of a training in its run folder, as the process
// itself has it open.
std::vector<std::string> rings_of_process(int pid, Io& io = system_io());

// The first of them. E-RECORDS-PROCESS names the processes that have one.
Result<std::string> find_process_records(int pid, Io& io = system_io());

// `path` itself, or where it is a run's folder the records in it. E-RECORDS-NONE.
Result<std::string> records_at(const std::string& path, Io& io = system_io());

}  // namespace stoker::feed
