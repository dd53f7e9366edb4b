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
  // Only newer drivers have them.
  void find_optional() {
    find(device_at_address, "nvmlDeviceGetHandleByPciBusId_v2");
    find(index_of, "nvmlDeviceGetIndex");
    find(throttle, "nvmlDeviceGetCurrentClocksThrottleReasons");
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
  NvmlStatus (*device_at_address)(const char*, NvmlDevice*) = nullptr;
  NvmlStatus (*index_of)(NvmlDevice, unsigned*) = nullptr;
  NvmlStatus (*throttle)(NvmlDevice, unsigned long long*) = nullptr;
};

std::string throttle_text(std::uint64_t reasons) {
  constexpr std::array<const char*, 9> kNames{
      "idle",          "application clocks", "power cap",       "hardware slowdown",
      "sync boost",    "heat (software)",    "heat (hardware)", "power brake",
      "display clocks"};
  std::string text;
  for (std::size_t bit = 0; bit < 64; ++bit) {
    if ((reasons >> bit & 1U) == 0) continue;
    text += text.empty() ? "" : ", ";
    text += bit < kNames.size() ? kNames[bit] : "bit " + std::to_string(bit);
  }
  return text;
}

Nvml::Nvml(std::unique_ptr<Library> library) : library_(std::move(library)) {}
Nvml::~Nvml() = default;

std::unique_ptr<Nvml> Nvml::open(std::string* why, const char* file) {
  auto library = std::make_unique<Library>();
  const auto refuse = [&](std::string reason) -> std::unique_ptr<Nvml> {
    if (why != nullptr) *why = std::move(reason);
    return nullptr;
  };
  library->handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (library->handle == nullptr)
    return refuse(std::string(file) + " is not here: no NVIDIA driver");
  if (!library->find_all()) return refuse(std::string(file) + " is too old");
  library->find_optional();
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

std::optional<unsigned> Nvml::index_of(const std::string& pci_address) const {
  if (library_->device_at_address == nullptr || library_->index_of == nullptr) return std::nullopt;
  NvmlDevice device = nullptr;
  unsigned found = 0;
  const bool is_known = library_->device_at_address(pci_address.c_str(), &device) == 0 &&
                        library_->index_of(device, &found) == 0;
  return is_known ? std::optional(found) : std::nullopt;
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
  if (unsigned long long reasons = 0;
      library_->throttle != nullptr && library_->throttle(device, &reasons) == 0)
    out.throttle_reasons = reasons;
  return out;
}

}  // namespace stoker::cuda
