// What this machine can do, measured in about a second: the limits that every later figure is set
// beside.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stoker/base/cpu_count.h"
#include "stoker/base/io/io.h"
#include "stoker/base/simd_level.h"
#include "stoker/cuda/device_probe.h"

namespace stoker::observe {

struct MachineSurvey {
  std::string processor;  // as the kernel names it
  CpuCount cpus;
  SimdLevel simd = SimdLevel::kScalar;
  std::uint64_t memory_bytes = 0;
  double copy_gb_per_s =
      0;                    // memcpy of a buffer far larger than the caches, one core, bytes copied
  double crc_gb_per_s = 0;  // CRC-32C of a buffer in the second-level cache
  double disk_write_mb_per_s = 0;  // written and synced
  double disk_read_mb_per_s = 0;   // read back from the page cache
  cuda::DeviceProbe gpus;
};

// Writes and removes files of 64 MiB together under `folder`. Fails with what the file system says.
Result<MachineSurvey> survey_machine(Io& io, const std::string& folder);

// The survey as rows of a table: what, how much.
struct SurveyRow {
  std::string name;
  std::string value;
};
std::vector<SurveyRow> survey_rows(const MachineSurvey& survey);

}  // namespace stoker::observe
