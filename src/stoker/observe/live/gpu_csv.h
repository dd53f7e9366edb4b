// Samples of GPUs as the rows of a table, with the columns that people's old scripts read.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "stoker/base/io/io.h"
#include "stoker/observe/live/live_figures.h"

namespace stoker::observe {

inline constexpr std::string_view kGpuCsvHeader =
    "timestamp,gpu_id,utilization,memory_used_gb,memory_total_gb,memory_util_pct,temp_c,power_w,"
    "fan_pct\n";

// One row for each card; what it does not report is empty. Gigabytes of 1,024³ bytes.
std::string gpu_csv_rows(const LiveFigures& figures);

// "gpu_monitor_20261118_050650.csv", of the local time.
std::string default_csv_name(std::int64_t unix_ns);

// A file that grows with every sample, so that whatever ends the run leaves the rows before it.
class GpuCsvFile {
 public:
  // Makes the file, or goes on with one that has the same columns. E-LIVE-CSV, E-IO-KIND and what
  // opening gives.
  static Result<GpuCsvFile> open(const std::string& path, Io& io = system_io());
  Result<void> add(const LiveFigures& figures);

 private:
  explicit GpuCsvFile(File file) : file_(std::move(file)) {}
  Result<void> append(std::string_view text);

  File file_;
  std::uint64_t size_bytes_ = 0;
};

}  // namespace stoker::observe
