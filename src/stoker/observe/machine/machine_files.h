// The texts in which the kernel tells about the machine, behind a root that tests replace by a
// folder of planted files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/io/io.h"

namespace stoker::observe {

// One thread at a time. What cannot be read (absent, forbidden, a thread that ended meanwhile) is
// nothing, never an error: every file here may be missing in a container.
class MachineFiles {
 public:
  // `root` replaces "/".
  explicit MachineFiles(Io& io = system_io(), std::string root = {});

  Io& io() const { return *io_; }
  const std::string& root() const { return root_; }

  // "/proc/stat" -> its first 256 KiB; the view ends with the next call.
  std::optional<std::string_view> text(const std::string& path);
  std::vector<std::string> names(const std::string& folder);

 private:
  Io* io_;
  std::string root_;
  std::string buffer_;
};

// Takes one line, without its end, off the front of `rest`; precondition: it is not empty.
std::string_view take_line(std::string_view& rest);
// Takes one word off the front; empty where there is none.
std::string_view take_word(std::string_view& rest);
// The number that `text` begins with, after spaces.
std::optional<std::uint64_t> leading_number(std::string_view text);
// In a text of lines "key value …" or "key: value …".
std::optional<std::uint64_t> number_after(std::string_view text, std::string_view key);

// The folders of the control group that rules this process, from its own up to the top, for a
// controller of version 1 ("cpu", "memory") or, where that is not split off, version 2.
struct GroupFolders {
  bool is_v1 = false;
  std::vector<std::string> folders{};
};
GroupFolders group_folders(MachineFiles& files, std::string_view controller);

}  // namespace stoker::observe
