// Measures the operations around the log-mel on a GPU: casts, gain and noise, Griffin-Lim; each
// output is first compared with the CPU's, byte for byte.
#pragma once

#include <cstddef>
#include <stop_token>
#include <string>
#include <vector>

namespace stoker::bench {

struct DeviceOpsOptions {
  int device = 0;
  std::size_t num_repeats = 9;  // the median of so many counts
};

struct DeviceOpRow {
  std::string operation;
  std::string detail;
  std::size_t num_clips = 0;  // in one call, each of 142,592 samples or 557 frames
  double median_us = 0;
  double clips_per_s = 0;
  double gb_per_s = 0;         // read and written by its definition; 0 where that says little
  double share_of_copy = 0;    // gb_per_s over that of a copy on the device in the same run
  double cpu_clips_per_s = 0;  // of the same work on one core, measured while comparing
};

struct DeviceOpsReport {
  double copy_gb_per_s = 0;
  std::vector<DeviceOpRow> rows;
};

// Throws BenchError E-BENCH-WRONG when a GPU's bytes are not the CPU's, GpuError when there is no
// such GPU. Ends early when stopped.
DeviceOpsReport bench_device_ops(const DeviceOpsOptions& options, const std::stop_token& stop);

}  // namespace stoker::bench
