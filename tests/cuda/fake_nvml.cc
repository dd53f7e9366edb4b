// A driver's library with two GPUs in it: NVML's functions by their documented interface, with
// answers that tell the GPUs apart.
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <string>

namespace {

constexpr int kInvalid = 2;
constexpr int kNotSupported = 3;
// The last is a slice of the second.
const std::string kUuids[] = {"GPU-11", "GPU-22", "MIG-33"};

unsigned index_at(void* device) {
  return static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(device) - 1);
}

}  // namespace

extern "C" {

struct Utilization {
  unsigned gpu, memory;
};
struct Memory {
  unsigned long long total, free, used;
};
struct Process {
  unsigned pid;
  unsigned long long memory_bytes = 0;
  unsigned gpu_instance = 0, compute_instance = 0;
};

int nvmlInit_v2() { return 0; }
int nvmlShutdown() { return 0; }
int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = 2;
  return 0;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  if (index >= 2) return kInvalid;
  *device = reinterpret_cast<void*>(static_cast<std::uintptr_t>(index + 1));
  return 0;
}
int nvmlDeviceGetHandleByUUID(const char* uuid, void** device) {
  for (unsigned i = 0; i < 3; ++i) {
    if (kUuids[i] != uuid) continue;
    *device = reinterpret_cast<void*>(static_cast<std::uintptr_t>(i + 1));
    return 0;
  }
  return kInvalid;
}
int nvmlDeviceGetDeviceHandleFromMigDeviceHandle(void* slice, void** card) {
  if (index_at(slice) != 2) return kInvalid;
  return nvmlDeviceGetHandleByIndex_v2(1, card);
}
int nvmlDeviceGetName(void* device, char* text, unsigned size) {
  std::strncpy(text, index_at(device) == 0 ? "first" : "second", size);
  return 0;
}
int nvmlDeviceGetUtilizationRates(void* device, Utilization* use) {
  if (index_at(device) == 2) return kNotSupported;
  use->gpu = 40 + index_at(device);
  return 0;
}
int nvmlDeviceGetMemoryInfo(void* device, Memory* memory) {
  *memory = {.total = 1000, .free = 700, .used = 300};
  if (index_at(device) == 2) *memory = {.total = 100, .free = 90, .used = 10};
  return 0;
}
int nvmlDeviceGetPowerUsage(void*, unsigned* milliwatts) {
  *milliwatts = 250'500;
  return 0;
}
int nvmlDeviceGetClockInfo(void* device, unsigned, unsigned* mhz) {
  if (index_at(device) == 2) return kNotSupported;
  *mhz = 1980;
  return 0;
}
int nvmlDeviceGetTemperature(void*, unsigned, unsigned* celsius) {
  *celsius = 55;
  return 0;
}
// The second is cooled by water.
int nvmlDeviceGetFanSpeed(void* device, unsigned* percent) {
  if (index_at(device) != 0) return kNotSupported;
  *percent = 33;
  return 0;
}
int nvmlDeviceGetCurrentClocksThrottleReasons(void*, unsigned long long* reasons) {
  *reasons = 0x4;
  return 0;
}

int nvmlDeviceGetEnforcedPowerLimit(void*, unsigned* milliwatts) {
  *milliwatts = 700'000;
  return 0;
}
int nvmlDeviceGetMaxClockInfo(void*, unsigned, unsigned* mhz) {
  *mhz = 2010;
  return 0;
}
int nvmlDeviceGetPcieThroughput(void*, unsigned counter, unsigned* kb_per_s) {
  *kb_per_s = counter == 1 ? 12'000'000 : 500;
  return 0;
}
int nvmlDeviceGetCurrPcieLinkGeneration(void*, unsigned* generation) {
  *generation = 3;
  return 0;
}
int nvmlDeviceGetCurrPcieLinkWidth(void*, unsigned* width) {
  *width = 8;
  return 0;
}
int nvmlDeviceGetMaxPcieLinkGeneration(void*, unsigned* generation) {
  *generation = 5;
  return 0;
}
int nvmlDeviceGetMaxPcieLinkWidth(void*, unsigned*) { return kNotSupported; }
// The caller and two others on the first; on the second only numbers of another name space.
int nvmlDeviceGetComputeRunningProcesses_v3(void* device, unsigned* count, Process* processes) {
  const auto own = static_cast<unsigned>(getpid());
  *count = 3;
  for (unsigned i = 0; i < 3; ++i) processes[i] = {.pid = own + i + index_at(device)};
  return 0;
}

}  // extern "C"
