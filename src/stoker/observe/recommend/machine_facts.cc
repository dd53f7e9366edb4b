#include "stoker/observe/recommend/machine_facts.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "stoker/observe/machine/storage_files.h"

namespace stoker::observe {
namespace {

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
