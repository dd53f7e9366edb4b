#include "stoker/observe/recommend/machine_facts.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "stoker/base/clock.h"
#include "stoker/observe/machine/page_cache_probe.h"
#include "stoker/observe/machine/storage_files.h"

namespace stoker::observe {
namespace {

constexpr std::size_t kSmallFileBytes = std::size_t{64} << 10U;
constexpr double kMb = 1e6;
constexpr double kDropped = 0.1;  // share of pages still in memory at most

// Files of ours that go with this object.
class OwnFiles {
 public:
  OwnFiles(Io& io, const File& folder) : io_(io), folder_(folder) {}
  ~OwnFiles() {
    for (const std::string& name : names_) io_.unlink_at(folder_.handle(), name, false);
  }
  OwnFiles(const OwnFiles&) = delete;
  OwnFiles& operator=(const OwnFiles&) = delete;

  Result<void> write(const std::string& name, std::span<const std::byte> bytes) {
    Result<File> file = open_beneath(folder_, name, OpenFor::kCreateNew);
    if (!file) return file.error();
    names_.push_back(name);
    if (Result<void> wrote = file->write_at(bytes, 0); !wrote) return wrote;
    return file->sync();
  }
  Result<void> read(const std::string& name, std::span<std::byte> into) const {
    const Result<File> file = open_beneath(folder_, name, OpenFor::kRead);
    if (!file) return file.error();
    const Result<std::size_t> got = file->read_at(into, 0);
    if (!got) return got.error();
    return {};
  }
  // Drops the pages of these files and of no other; whether they are gone.
  bool drop(const std::vector<std::string>& names) const {
    std::vector<std::string> paths;
    for (const std::string& name : names) {
      const Result<File> file = open_beneath(folder_, name, OpenFor::kRead);
      if (!file) return false;
      ::posix_fadvise(file->handle(), 0, 0, POSIX_FADV_DONTNEED);
      paths.push_back(folder_.path() + "/" + name);
    }
    const std::optional<double> share = PageCacheProbe(io_, paths).share(0);
    return share && *share <= kDropped;
  }

 private:
  Io& io_;
  const File& folder_;
  std::vector<std::string> names_;
};

struct Reading {
  const OwnFiles& files;
  const std::vector<std::string>& names;
  std::size_t size_bytes;
};

// Files a second, all of them opened and read one after the other.
Result<double> read_rate(const Reading& reading) {
  std::vector<std::byte> bytes(reading.size_bytes);
  const Stopwatch watch;
  for (const std::string& name : reading.names)
    if (Result<void> done = reading.files.read(name, bytes); !done) return done.error();
  return static_cast<double>(reading.names.size()) / std::max(watch.seconds(), 1e-9);
}

struct ReadRates {
  double warm = 0;
  std::optional<double> cold{};
};

// Files a second, cold first where the pages can be dropped.
Result<ReadRates> read_rates(const Reading& reading) {
  ReadRates rates;
  if (reading.files.drop(reading.names)) {
    const Result<double> cold = read_rate(reading);
    if (!cold) return cold.error();
    rates.cold = *cold;
  }
  for (int round = 0; round < 2; ++round) {
    const Result<double> warm = read_rate(reading);
    if (!warm) return warm.error();
    rates.warm = std::max(rates.warm, *warm);
  }
  return rates;
}

Result<void> measure_large(OwnFiles& files, const std::string& prefix, std::uint64_t size_bytes,
                           StorageFacts& facts) {
  const std::vector<std::byte> bytes(size_bytes, std::byte{3});
  const std::vector<std::string> names{prefix + "large"};
  const Stopwatch watch;
  if (Result<void> wrote = files.write(names.front(), bytes); !wrote) return wrote;
  const double mb = static_cast<double>(size_bytes) / kMb;
  facts.write_mb_per_s = mb / std::max(watch.seconds(), 1e-9);
  const Result<ReadRates> rates = read_rates({files, names, bytes.size()});
  if (!rates) return rates.error();
  facts.warm_mb_per_s = mb * rates->warm;
  if (rates->cold) facts.cold_mb_per_s = mb * *rates->cold;
  return {};
}

Result<void> measure_small(OwnFiles& files, const std::string& prefix, std::size_t num_files,
                           StorageFacts& facts) {
  const std::vector<std::byte> bytes(kSmallFileBytes, std::byte{5});
  std::vector<std::string> names;
  for (std::size_t i = 0; i < num_files; ++i) {
    names.push_back(prefix + std::to_string(i));
    if (Result<void> wrote = files.write(names.back(), bytes); !wrote) return wrote;
  }
  const Result<ReadRates> rates = read_rates({files, names, bytes.size()});
  if (!rates) return rates.error();
  facts.warm_files_per_s = rates->warm;
  facts.cold_files_per_s = rates->cold;
  return {};
}

std::uint64_t address_space_bytes(MachineFiles& files) {
  const auto pages = leading_number(files.text("/proc/self/statm").value_or(""));
  return pages.value_or(0) * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

void lower_limit(MemoryFacts& facts, std::uint64_t limit_bytes, std::uint64_t used_bytes,
                 const char* by) {
  const std::uint64_t left = limit_bytes - std::min(limit_bytes, used_bytes);
  if (!facts.limit_bytes || limit_bytes < *facts.limit_bytes) {
    facts.limit_bytes = limit_bytes;
    facts.limited_by = by;
  }
  facts.available_bytes = std::min(facts.available_bytes, left);
}

}  // namespace

MemoryFacts read_memory_facts(Io& io, const std::string& root) {
  MachineFiles files(io, root);
  const MemoryCounters counters = read_memory(files);
  MemoryFacts facts;
  facts.total_bytes = counters.total_bytes.value_or(0);
  facts.available_bytes = available_bytes(files).value_or(facts.total_bytes);
  if (counters.limit_bytes)
    lower_limit(facts, *counters.limit_bytes, counters.group_bytes.value_or(0), "a control group");
  rlimit limit{};
  if (root.empty() && ::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    lower_limit(facts, limit.rlim_cur, address_space_bytes(files), "ulimit -v");
  return facts;
}

Result<StorageFacts> measure_storage(Io& io, const std::string& folder, std::uint64_t size_bytes) {
  const Result<File> root = open_file(io, folder, OpenFor::kFolder);
  if (!root) return root.error();
  StorageFacts facts;
  MachineFiles machine(io);
  facts.file_system = StorageFiles(machine, folder).file_system();
  io.free_space(root->handle(), facts.free_bytes);
  const std::string prefix = "storage.tmp." + std::to_string(::getpid()) + ".";
  OwnFiles files(io, *root);
  const std::uint64_t large_bytes = std::max<std::uint64_t>(size_bytes * 3 / 4, kSmallFileBytes);
  if (Result<void> done = measure_large(files, prefix, large_bytes, facts); !done)
    return done.error();
  const std::size_t num_small = std::max<std::size_t>(size_bytes / 4 / kSmallFileBytes, 4);
  if (Result<void> done = measure_small(files, prefix, num_small, facts); !done)
    return done.error();
  return facts;
}

Json machine_json(const MachineFacts& facts) {
  const StorageFacts& storage = facts.storage;
  Json gpus = Json::array();
  for (const cuda::DeviceInfo& gpu : facts.gpus.devices)
    gpus.push_back({{"name", gpu.name}, {"memory_bytes", gpu.memory_bytes}});
  return {{"cores", facts.cpus.allowed},
          {"cores_online", facts.cpus.online},
          {"cores_by_affinity", facts.cpus.by_affinity},
          {"cores_by_quota", facts.cpus.by_quota},
          {"memory_bytes", facts.memory.total_bytes},
          {"memory_available_bytes", facts.memory.available_bytes},
          {"memory_limit_bytes", facts.memory.limit_bytes},
          {"memory_limited_by", facts.memory.limited_by},
          {"storage",
           {{"file_system", storage.file_system},
            {"write_mb_per_s", storage.write_mb_per_s},
            {"warm_mb_per_s", storage.warm_mb_per_s},
            {"cold_mb_per_s", storage.cold_mb_per_s},
            {"warm_files_per_s", storage.warm_files_per_s},
            {"cold_files_per_s", storage.cold_files_per_s},
            {"free_bytes", storage.free_bytes}}},
          {"gpus", std::move(gpus)},
          {"no_gpu", facts.gpus.why_none},
          {"bus_gb_per_s", facts.bus_gb_per_s}};
}

}  // namespace stoker::observe
