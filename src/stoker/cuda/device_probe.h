// Asks which GPUs this process can use; any failure of the driver means "none", with its own words
// kept.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace stoker::cuda {

struct DeviceInfo {
  int index = 0;
  std::string name;
  std::uint64_t memory_bytes = 0;
  int compute_major = 0;
  int compute_minor = 0;
  int num_multiprocessors = 0;
  // "GPU-8f…", or "MIG-8f…" of a slice: the same GPU for every library, whatever its number.
  std::string uuid{};
};

struct DeviceProbe {
  std::vector<DeviceInfo> devices;
  std::string why_none;  // empty when there is a device
};

// Touches the CUDA driver: call it only when the user asked for a device or a report. Never throws.
DeviceProbe probe_devices();

}  // namespace stoker::cuda
