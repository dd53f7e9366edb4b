#include "stoker/cuda/nvml.h"

#include <dlfcn.h>

#include <array>
#include <utility>

namespace stoker::cuda {
namespace {

// NVML's own types, by its documented binary interface.
using NvmlDevice = void*;
using NvmlStatus = int;
struct NvmlUtilization {
  unsigned gpu;
  unsigned memory;
};
struct NvmlMemory {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};
constexpr unsigned kClockOfMultiprocessors = 1;
constexpr unsigned kSensorOfGpu = 0;

}  // namespace

struct Nvml::Library {
  ~Library() {
    if (shut_down != nullptr) shut_down();
    if (handle != nullptr) dlclose(handle);
  }

  template <class Function>
  bool find(Function*& function, const char* symbol) const {
    function = reinterpret_cast<Function*>(dlsym(handle, symbol));
    return function != nullptr;
  }
  bool find_all() {
    return find(init, "nvmlInit_v2") && find(num_devices, "nvmlDeviceGetCount_v2") &&
           find(device, "nvmlDeviceGetHandleByIndex_v2") && find(name, "nvmlDeviceGetName") &&
           find(utilization, "nvmlDeviceGetUtilizationRates") &&
           find(memory, "nvmlDeviceGetMemoryInfo") && find(power, "nvmlDeviceGetPowerUsage") &&
           find(clock, "nvmlDeviceGetClockInfo") && find(temperature, "nvmlDeviceGetTemperature") &&
           find(fan, "nvmlDeviceGetFanSpeed");
  }
  NvmlDevice at(unsigned index) const {
    NvmlDevice found = nullptr;
    return device(index, &found) == 0 ? found : nullptr;
  }

  void* handle = nullptr;
  NvmlStatus (*shut_down)() = nullptr;  // set once init succeeded
  NvmlStatus (*init)() = nullptr;
  NvmlStatus (*num_devices)(unsigned*) = nullptr;
  NvmlStatus (*device)(unsigned, NvmlDevice*) = nullptr;
  NvmlStatus (*name)(NvmlDevice, char*, unsigned) = nullptr;
  NvmlStatus (*utilization)(NvmlDevice, NvmlUtilization*) = nullptr;
  NvmlStatus (*memory)(NvmlDevice, NvmlMemory*) = nullptr;
  NvmlStatus (*power)(NvmlDevice, unsigned*) = nullptr;
  NvmlStatus (*clock)(NvmlDevice, unsigned, unsigned*) = nullptr;
  NvmlStatus (*temperature)(NvmlDevice, unsigned, unsigned*) = nullptr;
  NvmlStatus (*fan)(NvmlDevice, unsigned*) = nullptr;
};

Nvml::Nvml(std::unique_ptr<Library> library) : library_(std::move(library)) {}
Nvml::~Nvml() = default;

std::unique_ptr<Nvml> Nvml::open(std::string* why) {
  auto library = std::make_unique<Library>();
  const auto refuse = [&](std::string reason) -> std::unique_ptr<Nvml> {
    if (why != nullptr) *why = std::move(reason);
    return nullptr;
  };
  library->handle = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library->handle == nullptr) return refuse("libnvidia-ml.so.1 is not here: no NVIDIA driver");
  if (!library->find_all()) return refuse("libnvidia-ml.so.1 is too old");
  const NvmlStatus status = library->init();
  if (status != 0) return refuse("nvmlInit_v2 said " + std::to_string(status));
  library->find(library->shut_down, "nvmlShutdown");
  return std::unique_ptr<Nvml>(new Nvml(std::move(library)));
}

unsigned Nvml::num_devices() const {
  unsigned count = 0;
  return library_->num_devices(&count) == 0 ? count : 0;
}

std::string Nvml::name(unsigned index) const {
  std::array<char, 96> text{};
  NvmlDevice const device = library_->at(index);
  if (device == nullptr) return {};
  library_->name(device, text.data(), static_cast<unsigned>(text.size()));
  return text.data();
}

GpuSample Nvml::sample(unsigned index) const {
  NvmlDevice const device = library_->at(index);
  if (device == nullptr) return {};
  GpuSample out;
  if (NvmlUtilization use{}; library_->utilization(device, &use) == 0)
    out.utilization_percent = use.gpu;
  if (NvmlMemory memory{}; library_->memory(device, &memory) == 0) {
    out.memory_used_bytes = memory.used;
    out.memory_total_bytes = memory.total;
  }
  if (unsigned milliwatts = 0; library_->power(device, &milliwatts) == 0)
    out.power_w = milliwatts / 1000.0;
  unsigned value = 0;
  if (library_->clock(device, kClockOfMultiprocessors, &value) == 0) out.clock_mhz = value;
  if (library_->temperature(device, kSensorOfGpu, &value) == 0) out.temperature_c = value;
  if (library_->fan(device, &value) == 0) out.fan_percent = value;
  return out;
}

}  // namespace stoker::cuda
