// Memory and storage as the kernel's files tell them: what is free, what was swapped, and what the
// device below the data was asked for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "stoker/observe/machine/machine_files.h"
#include "stoker/observe/machine/machine_sample.h"
#include "stoker/observe/machine/machine_window.h"

namespace stoker::observe {

std::optional<std::uint64_t> available_bytes(MachineFiles& files);
MemoryCounters read_memory(MachineFiles& files);

// Where the data is kept; without a path nothing of it is known.
class StorageFiles {
 public:
  StorageFiles(MachineFiles& files, const std::string& data_path);
  StorageKind kind() const { return kind_; }
  const std::string& file_system() const { return file_system_; }
  const std::string& device() const { return device_; }
  StorageCounters read(MachineFiles& files) const;

 private:
  void find_mount(MachineFiles& files, const std::string& data_path);

  StorageKind kind_ = StorageKind::kUnknown;
  std::string file_system_;
  std::string device_;
};

}  // namespace stoker::observe
