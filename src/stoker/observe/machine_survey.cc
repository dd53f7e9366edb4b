#include "stoker/observe/machine_survey.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "stoker/base/clock.h"
#include "stoker/base/digest/crc32c.h"
#include "stoker/base/invariant.h"
#include "stoker/base/number_text.h"
#include "stoker/observe/machine/storage_facts.h"

namespace stoker::observe {
namespace {

constexpr std::size_t kDiskBytes = 64U << 20U;
constexpr std::size_t kCopyBytes = 128U << 20U;
constexpr std::size_t kCrcBytes = 512U << 10U;

// Bytes per second of the fastest of `num_rounds` rounds: the machine's own noise only slows.
template <class Work>
double best_rate(std::size_t size_bytes, int num_rounds, const Work& work) {
  double best_s = 1e30;
  for (int round = 0; round < num_rounds; ++round) {
    const Stopwatch watch;
    work();
    best_s = std::min(best_s, watch.seconds());
  }
  return static_cast<double>(size_bytes) / std::max(best_s, 1e-9);
}

std::string processor_name(Io& io) {
  Result<File> file = open_file(io, "/proc/cpuinfo", OpenFor::kRead);
  if (!file) return "unknown";
  std::string text(64 * 1024, '\0');
  const Result<std::size_t> got = file->read_at(std::as_writable_bytes(std::span(text)), 0);
  if (!got) return "unknown";
  text.resize(*got);
  const std::size_t line = text.find("model name");
  const std::size_t colon = line == std::string::npos ? line : text.find(": ", line);
  if (colon == std::string::npos) return "unknown";
  return text.substr(colon + 2, text.find('\n', colon) - colon - 2);
}

double copy_rate() {
  std::vector<std::byte> from(kCopyBytes, std::byte{1});
  std::vector<std::byte> to(kCopyBytes, std::byte{2});
  const double rate =
      best_rate(kCopyBytes, 4, [&] { std::memcpy(to.data(), from.data(), kCopyBytes); });
  check_invariant(to.back() == std::byte{1}, "memcpy copied nothing");
  return rate;
}

double crc_rate() {
  std::vector<std::byte> bytes(kCrcBytes, std::byte{7});
  const std::uint32_t once = crc32c(bytes, 0);
  bool equal = true;
  constexpr int kRepeats = 40;
  const double rate = best_rate(kCrcBytes * kRepeats, 5, [&] {
    for (int i = 0; i < kRepeats; ++i) equal = equal && crc32c(bytes, 0) == once;
  });
  check_invariant(equal, "CRC-32C of equal bytes differs");
  return rate;
}

std::string gpu_text(const cuda::DeviceProbe& probe) {
  std::string text;
  for (const cuda::DeviceInfo& device : probe.devices)
    text +=
        fmt::format("{}{}: {} (sm_{}{}, {})", text.empty() ? "" : "; ", device.index, device.name,
                    device.compute_major, device.compute_minor, bytes_text(device.memory_bytes));
  return text.empty() ? probe.why_none : text;
}

}  // namespace

Result<MachineSurvey> survey_machine(Io& io, const std::string& folder) {
  Result<SimdLevel> simd = simd_level();
  if (!simd) return std::move(simd).error();
  MachineSurvey survey{.processor = processor_name(io),
                       .cpus = count_cpus(),
                       .simd = *simd,
                       .memory_bytes = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) *
                                       static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)),
                       .copy_gb_per_s = copy_rate() / 1e9,
                       .crc_gb_per_s = crc_rate() / 1e9,
                       .gpus = cuda::probe_devices()};
  const Result<StorageFacts> storage = measure_storage(io, folder, kDiskBytes);
  if (!storage) return storage.error();
  survey.disk_write_mb_per_s = storage->write_mb_per_s;
  survey.disk_read_mb_per_s = storage->warm_mb_per_s;
  return survey;
}

std::vector<SurveyRow> survey_rows(const MachineSurvey& survey) {
  return {{"processor", survey.processor},
          {"cores allowed", fmt::format("{} of {}", survey.cpus.allowed, survey.cpus.online)},
          {"vector instructions", std::string(simd_level_name(survey.simd))},
          {"memory", bytes_text(survey.memory_bytes)},
          {"memory copy, one core", fmt::format("{:.1f} GB/s", survey.copy_gb_per_s)},
          {"CRC-32C, one core", fmt::format("{:.1f} GB/s", survey.crc_gb_per_s)},
          {"disk, written and synced", fmt::format("{:.0f} MB/s", survey.disk_write_mb_per_s)},
          {"disk, read back warm", fmt::format("{:.0f} MB/s", survey.disk_read_mb_per_s)},
          {"GPU", gpu_text(survey.gpus)}};
}

}  // namespace stoker::observe
