// What the machine did during a run, as lines that stay: machine.jsonl, as
// docs/format/run-folder.md says.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "stoker/base/io/io.h"
#include "stoker/base/json.h"
#include "stoker/observe/machine/machine_window.h"

namespace stoker::observe {

struct MachineMoment {
  std::int64_t at_ns = 0;    // CLOCK_MONOTONIC, as in the records of batches
  std::int64_t unix_ns = 0;  // the same by the wall clock
  std::optional<std::uint32_t> num_ready{};
};

// One line; what is not known has no key.
Json machine_line(const MachineWindow& window, const MachineMoment& moment);

// The moments of a file of such lines, with those figures that a trace shows; lines that are none
// are left out.
struct LoggedMachine {
  std::int64_t at_ns = 0;
  MachineWindow window{};
};
Result<std::vector<LoggedMachine>> read_machine_log(Io& io, const std::string& path);

// A file of whole lines, whatever ended the process before. Where it has `most_lines`, every second
// one is taken out and stride() doubles: lines come half as often from then on, and a week needs no
// more room than a day. One thread.
class MachineLog {
 public:
  static constexpr std::uint64_t kMostLines = 16'384;
  enum class Earlier : std::uint8_t { kDrop, kGoOn };

  // kGoOn cuts off a line that was not written to its end.
  static Result<MachineLog> open(Io& io, const std::string& path, Earlier earlier,
                                 std::uint64_t most_lines = kMostLines);
  // What fails leaves whole lines behind; the next call tries again.
  Result<void> append(const Json& line);

  unsigned stride() const { return stride_; }

 private:
  MachineLog(Io& io, std::string path, std::uint64_t most_lines)
      : io_(&io), path_(std::move(path)), most_lines_(most_lines) {}
  Result<std::string> load() const;
  Result<void> thin_out();

  Io* io_;
  std::string path_;
  std::uint64_t most_lines_;
  File file_;
  std::uint64_t size_bytes_ = 0;
  std::uint64_t num_lines_ = 0;
  unsigned stride_ = 1;
};

}  // namespace stoker::observe
