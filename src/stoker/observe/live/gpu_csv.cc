#include "stoker/observe/live/gpu_csv.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <ctime>
#include <vector>

#include "stoker/base/bytes.h"
#include "stoker/base/errors.h"
#include "stoker/base/io/output_file.h"
#include "stoker/observe/errors.h"

namespace stoker::observe {
namespace {

constexpr double kBytesPerGb = 1024.0 * 1024.0 * 1024.0;
constexpr std::int64_t kNsPerS = 1'000'000'000;

std::tm local_time(std::int64_t unix_ns) {
  const std::time_t at = unix_ns / kNsPerS;
  std::tm parts{};
  ::localtime_r(&at, &parts);
  return parts;
}

template <class Value>
std::string cell(const std::optional<Value>& value) {
  return value ? fmt::format("{}", *value) : std::string();
}

std::string gb_cell(const std::optional<std::uint64_t>& size_bytes) {
  return size_bytes ? fmt::format("{:.3f}", static_cast<double>(*size_bytes) / kBytesPerGb)
                    : std::string();
}

std::string used_cell(const cuda::GpuSample& sample) {
  if (!sample.memory_used_bytes || sample.memory_total_bytes.value_or(0) == 0) return {};
  return fmt::format("{:.1f}", 100.0 * static_cast<double>(*sample.memory_used_bytes) /
                                   static_cast<double>(*sample.memory_total_bytes));
}

}  // namespace

std::string gpu_csv_rows(const LiveFigures& figures) {
  const std::tm at = local_time(figures.unix_ns);
  const std::string timestamp = fmt::format(
      "{:04}-{:02}-{:02} {:02}:{:02}:{:02}.{:03}", at.tm_year + 1900, at.tm_mon + 1, at.tm_mday,
      at.tm_hour, at.tm_min, at.tm_sec, figures.unix_ns % kNsPerS / 1'000'000);
  std::string rows;
  for (const LiveGpu& gpu : figures.gpus) {
    const cuda::GpuSample& now = gpu.now;
    const std::string power = now.power_w ? fmt::format("{:.1f}", *now.power_w) : std::string();
    rows += fmt::format("{},{},{},{},{},{},{},{},{}\n", timestamp, gpu.index,
                        cell(now.utilization_percent), gb_cell(now.memory_used_bytes),
                        gb_cell(now.memory_total_bytes), used_cell(now), cell(now.temperature_c),
                        power, cell(now.fan_percent));
  }
  return rows;
}

std::string default_csv_name(std::int64_t unix_ns) {
  const std::tm at = local_time(unix_ns);
  return fmt::format("gpu_monitor_{:04}{:02}{:02}_{:02}{:02}{:02}.csv", at.tm_year + 1900,
                     at.tm_mon + 1, at.tm_mday, at.tm_hour, at.tm_min, at.tm_sec);
}

Result<GpuCsvFile> GpuCsvFile::open(const std::string& path, Io& io) {
  if (Result<void> can_be = check_output(io, path); !can_be) return can_be.error();
  // A pipe without a reader would keep the whole view waiting.
  const SysResult opened =
      io.open_at(AT_FDCWD, path, {.flags = O_RDWR | O_CREAT | O_NONBLOCK, .mode = 0666});
  if (!opened.ok()) return io_error("open the file", path, opened.error_number);
  GpuCsvFile out(File(io, static_cast<int>(opened.value), path));
  const Result<FileInfo> info = out.file_.info();
  if (!info) return info.error();
  if (info->kind != FileKind::kRegular) {
    return Error{.code = &kIoKind,
                 .place = {.file = path},
                 .promised = "a file",
                 .found = "a device or a pipe",
                 .cure = "use --csv - and send standard output there"};
  }
  std::vector<std::byte> front(kGpuCsvHeader.size());
  const Result<std::size_t> got = out.file_.read_at(front, 0);
  if (!got) return got.error();
  if (*got > 0 && view_text(std::span(front).first(*got)) != kGpuCsvHeader) {
    return Error{.code = &kLiveCsv,
                 .place = {.file = path},
                 .promised = "no file yet, or one with the columns of the monitor",
                 .found = "other content"};
  }
  out.size_bytes_ = info->size_bytes;
  if (Result<void> begun = *got == 0 ? out.append(kGpuCsvHeader) : Result<void>(); !begun)
    return begun.error();
  return out;
}

Result<void> GpuCsvFile::add(const LiveFigures& figures) { return append(gpu_csv_rows(figures)); }

Result<void> GpuCsvFile::append(std::string_view text) {
  if (Result<void> written = file_.write_at(view_bytes(text), size_bytes_); !written)
    return written;
  size_bytes_ += text.size();
  return {};
}

}  // namespace stoker::observe
