// A driver's library with two GPUs in it: NVML's functions by their documented interface, with
// answers that tell the GPUs apart.
#include <cstdint>
#include <cstring>
#include <string>

namespace {

constexpr int kInvalid = 2;
constexpr int kNotSupported = 3;
const std::string kAddresses[] = {"0000:1b:00.0", "0000:9a:00.0"};

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
int nvmlDeviceGetHandleByPciBusId_v2(const char* address, void** device) {
  for (unsigned i = 0; i < 2; ++i)
    if (kAddresses[i] == address) return nvmlDeviceGetHandleByIndex_v2(i, device);
  return kInvalid;
}
int nvmlDeviceGetIndex(void* device, unsigned* index) {
  *index = index_at(device);
  return 0;
}
int nvmlDeviceGetName(void* device, char* text, unsigned size) {
  std::strncpy(text, index_at(device) == 0 ? "first" : "second", size);
  return 0;
}
int nvmlDeviceGetUtilizationRates(void* device, Utilization* use) {
  use->gpu = 40 + index_at(device);
  return 0;
}
int nvmlDeviceGetMemoryInfo(void*, Memory* memory) {
  *memory = {.total = 1000, .free = 700, .used = 300};
  return 0;
}
int nvmlDeviceGetPowerUsage(void*, unsigned* milliwatts) {
  *milliwatts = 250'500;
  return 0;
}
int nvmlDeviceGetClockInfo(void*, unsigned, unsigned* mhz) {
  *mhz = 1980;
  return 0;
}
int nvmlDeviceGetTemperature(void*, unsigned, unsigned* celsius) {
  *celsius = 55;
  return 0;
}
int nvmlDeviceGetFanSpeed(void*, unsigned*) { return kNotSupported; }
int nvmlDeviceGetCurrentClocksThrottleReasons(void*, unsigned long long* reasons) {
  *reasons = 0x4;
  return 0;
}

}  // extern "C"
