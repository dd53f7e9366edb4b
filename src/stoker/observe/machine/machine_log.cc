#include "stoker/observe/machine/machine_log.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "stoker/base/bytes.h"
#include "stoker/base/io/output_file.h"
#include "stoker/observe/machine/json_lines.h"

namespace stoker::observe {
namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{256} << 20U;

template <class T>
void put(Json& line, std::string_view key, const std::optional<T>& value) {
  if (value) line[key] = *value;
}

void put_gpu(const GpuWindow& gpu, Json& line) {
  put(line, "gpu_percent", gpu.utilization_percent);
  put(line, "gpu_memory_bytes", gpu.memory_used_bytes);
  put(line, "gpu_memory_total_bytes", gpu.memory_total_bytes);
  put(line, "gpu_power_w", gpu.power_w);
  put(line, "gpu_clock_mhz", gpu.clock_mhz);
  put(line, "gpu_temperature_c", gpu.temperature_c);
  if (gpu.throttled_share) line["gpu_throttled"] = *gpu.throttled_share > 0;
}

template <class T>
void take(const Json& line, std::string_view key, std::optional<T>& value) {
  if (const std::optional<double> number = number_in(line, key)) value = static_cast<T>(*number);
}

std::optional<LoggedMachine> logged_of(const Json& line) {
  const std::optional<double> at_ns = number_in(line, "at_ns");
  if (!at_ns) return std::nullopt;
  LoggedMachine logged{.at_ns = static_cast<std::int64_t>(*at_ns)};
  MachineWindow& window = logged.window;
  take(line, "cpu_cores", window.cpu.busy_cores);
  take(line, "own_cores", window.cpu.own_cores);
  take(line, "disk_read_bytes_per_s", window.storage.device_read_bytes_per_s);
  take(line, "disk_busy_share", window.storage.device_busy_share);
  GpuWindow gpu;
  take(line, "gpu_percent", gpu.utilization_percent);
  take(line, "gpu_memory_bytes", gpu.memory_used_bytes);
  take(line, "gpu_power_w", gpu.power_w);
  window.gpu = std::move(gpu);
  return logged;
}

}  // namespace

Result<std::vector<LoggedMachine>> read_machine_log(Io& io, const std::string& path) {
  std::vector<LoggedMachine> all;
  const Result<std::uint64_t> read = read_json_lines(io, path, [&all](const Json& line) {
    if (std::optional<LoggedMachine> logged = logged_of(line)) all.push_back(std::move(*logged));
  });
  if (!read) return read.error();
  return all;
}

Json machine_line(const MachineWindow& window, const MachineMoment& moment) {
  Json line{{"at_ns", moment.at_ns}, {"unix_s", 1e-9 * static_cast<double>(moment.unix_ns)}};
  if (window.gpu) put_gpu(*window.gpu, line);
  put(line, "cpu_cores", window.cpu.busy_cores);
  put(line, "own_cores", window.cpu.own_cores);
  put(line, "other_cores", window.cpu.other_cores);
  line["cores_allowed"] = window.cpu.num_allowed_cores;
  const StorageWindow& storage = window.storage;
  put(line, "disk_read_bytes_per_s",
      storage.device_read_bytes_per_s ? storage.device_read_bytes_per_s
                                      : storage.own_read_bytes_per_s);
  put(line, "disk_busy_share", storage.device_busy_share);
  put(line, "memory_available_bytes", window.memory.available_bytes);
  put(line, "ready_batches", moment.num_ready);
  return line;
}

Result<MachineLog> MachineLog::open(Io& io, const std::string& path, Earlier earlier,
                                    std::uint64_t most_lines) {
  MachineLog log(io, path, std::max<std::uint64_t>(most_lines, 2));
  Result<File> file = open_file(io, path, OpenFor::kReadWrite);
  if (!file) return std::move(file).error();
  log.file_ = std::move(file).value();
  if (earlier == Earlier::kGoOn) {
    const Result<std::string> text = log.load();
    if (!text) return text.error();
    const std::size_t last = text->rfind('\n');
    log.size_bytes_ = last == std::string::npos ? 0 : last + 1;
    log.num_lines_ = static_cast<std::uint64_t>(std::count(text->begin(), text->end(), '\n'));
  }
  const SysResult cut = io.truncate(log.file_.handle(), log.size_bytes_);
  if (!cut.ok()) return io_error("truncate", path, cut.error_number);
  return log;
}

Result<std::string> MachineLog::load() const {
  const Result<std::vector<std::byte>> bytes = read_whole(file_, kMostBytes);
  if (!bytes) return bytes.error();
  return std::string(view_text(*bytes));
}

Result<void> MachineLog::append(const Json& line) {
  if (num_lines_ >= most_lines_)
    if (Result<void> thinned = thin_out(); !thinned) return thinned;
  const std::string text = line.dump() + "\n";
  Result<void> written = file_.write_at(view_bytes(text), size_bytes_);
  if (!written) {
    static_cast<void>(io_->truncate(file_.handle(), size_bytes_));
    return written;
  }
  size_bytes_ += text.size();
  ++num_lines_;
  return {};
}

// The later one of two stays, so that the newest does.
Result<void> MachineLog::thin_out() {
  const Result<std::string> text = load();
  if (!text) return text.error();
  std::string kept;
  std::uint64_t num_kept = 0;
  std::string_view rest = *text;
  for (std::uint64_t i = 0; !rest.empty(); ++i) {
    const std::size_t end = std::min(rest.find('\n'), rest.size() - 1) + 1;
    if (i % 2 == 1) {
      kept += rest.substr(0, end);
      ++num_kept;
    }
    rest.remove_prefix(end);
  }
  if (Result<void> put = publish_output(*io_, path_, view_bytes(kept)); !put) return put;
  Result<File> file = open_file(*io_, path_, OpenFor::kReadWrite);
  if (!file) return std::move(file).error();
  file_ = std::move(file).value();
  size_bytes_ = kept.size();
  num_lines_ = num_kept;
  stride_ *= 2;
  return {};
}

}  // namespace stoker::observe
