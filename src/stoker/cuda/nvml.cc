#include "stoker/cuda/nvml.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
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
constexpr unsigned kPcieTx = 0;
constexpr unsigned kPcieRx = 1;
struct NvmlProcess {
  unsigned pid;
  unsigned long long memory_bytes;
  unsigned gpu_instance;
  unsigned compute_instance;
};

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
    find(device_of_uuid, "nvmlDeviceGetHandleByUUID");
    find(card_of_slice, "nvmlDeviceGetDeviceHandleFromMigDeviceHandle");
    find(throttle, "nvmlDeviceGetCurrentClocksThrottleReasons");
    find(power_limit, "nvmlDeviceGetEnforcedPowerLimit");
    find(max_clock, "nvmlDeviceGetMaxClockInfo");
    find(pcie_throughput, "nvmlDeviceGetPcieThroughput");
    find(pcie_generation, "nvmlDeviceGetCurrPcieLinkGeneration");
    find(pcie_width, "nvmlDeviceGetCurrPcieLinkWidth");
    find(max_pcie_generation, "nvmlDeviceGetMaxPcieLinkGeneration");
    find(max_pcie_width, "nvmlDeviceGetMaxPcieLinkWidth");
    find(processes, "nvmlDeviceGetComputeRunningProcesses_v3");
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
  NvmlStatus (*device_of_uuid)(const char*, NvmlDevice*) = nullptr;
  NvmlStatus (*card_of_slice)(NvmlDevice, NvmlDevice*) = nullptr;
  NvmlStatus (*throttle)(NvmlDevice, unsigned long long*) = nullptr;
  NvmlStatus (*power_limit)(NvmlDevice, unsigned*) = nullptr;
  NvmlStatus (*max_clock)(NvmlDevice, unsigned, unsigned*) = nullptr;
  NvmlStatus (*pcie_throughput)(NvmlDevice, unsigned, unsigned*) = nullptr;
  NvmlStatus (*pcie_generation)(NvmlDevice, unsigned*) = nullptr;
  NvmlStatus (*pcie_width)(NvmlDevice, unsigned*) = nullptr;
  NvmlStatus (*max_pcie_generation)(NvmlDevice, unsigned*) = nullptr;
  NvmlStatus (*max_pcie_width)(NvmlDevice, unsigned*) = nullptr;
  NvmlStatus (*processes)(NvmlDevice, unsigned*, NvmlProcess*) = nullptr;
};

namespace {

// The value that such a function gives; nothing where the driver lacks it or the GPU refuses.
template <class Function, class... Before>
std::optional<unsigned> asked(Function* function, Before... before) {
  unsigned value = 0;
  const bool is_known = function != nullptr && function(before..., &value) == 0;
  return is_known ? std::optional(value) : std::nullopt;
}

template <class Value>
std::optional<double> scaled(std::optional<Value> value, double by) {
  return value ? std::optional(static_cast<double>(*value) * by) : std::nullopt;
}

// In a container the driver's process numbers are the host's: ours is not among them then.
std::optional<unsigned> num_others(NvmlStatus (*list)(NvmlDevice, unsigned*, NvmlProcess*),
                                   NvmlDevice device) {
  std::array<NvmlProcess, 64> processes{};
  auto count = static_cast<unsigned>(processes.size());
  if (list == nullptr || list(device, &count, processes.data()) != 0) return std::nullopt;
  if (count == 0) return 0U;
  const auto own = static_cast<unsigned>(getpid());
  const bool is_listed = std::any_of(processes.begin(), processes.begin() + count,
                                     [&](const NvmlProcess& each) { return each.pid == own; });
  return is_listed ? std::optional(count - 1) : std::nullopt;
}

}  // namespace

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

std::optional<NvmlGpu> Nvml::at(unsigned index) const {
  NvmlDevice const device = library_->at(index);
  return device == nullptr ? std::nullopt
                           : std::optional(NvmlGpu{.device = device, .card = device});
}

std::optional<NvmlGpu> Nvml::find(const std::string& uuid) const {
  NvmlGpu gpu;
  if (library_->device_of_uuid == nullptr ||
      library_->device_of_uuid(uuid.c_str(), &gpu.device) != 0)
    return std::nullopt;
  const bool is_slice = uuid.starts_with("MIG-") && library_->card_of_slice != nullptr &&
                        library_->card_of_slice(gpu.device, &gpu.card) == 0;
  if (!is_slice) gpu.card = gpu.device;
  return gpu;
}

GpuSample Nvml::sample(unsigned index) const {
  const std::optional<NvmlGpu> gpu = at(index);
  return gpu ? sample(*gpu) : GpuSample{};
}

GpuSample Nvml::sample(const NvmlGpu& gpu) const {
  GpuSample out;
  if (NvmlUtilization use{}; library_->utilization(gpu.device, &use) == 0)
    out.utilization_percent = use.gpu;
  if (NvmlMemory memory{}; library_->memory(gpu.device, &memory) == 0) {
    out.memory_used_bytes = memory.used;
    out.memory_total_bytes = memory.total;
  }
  out.power_w = scaled(asked(library_->power, gpu.card), 1e-3);
  out.clock_mhz = asked(library_->clock, gpu.card, kClockOfMultiprocessors);
  out.temperature_c = asked(library_->temperature, gpu.card, kSensorOfGpu);
  out.fan_percent = asked(library_->fan, gpu.card);
  if (unsigned long long reasons = 0;
      library_->throttle != nullptr && library_->throttle(gpu.card, &reasons) == 0)
    out.throttle_reasons = reasons;
  return out;
}

GpuLink Nvml::link(const NvmlGpu& gpu) const {
  constexpr double kMbPerKb = 1e-3;
  return {.power_limit_w = scaled(asked(library_->power_limit, gpu.card), 1e-3),
          .max_clock_mhz = asked(library_->max_clock, gpu.card, kClockOfMultiprocessors),
          .pcie_rx_mb_per_s = scaled(asked(library_->pcie_throughput, gpu.card, kPcieRx), kMbPerKb),
          .pcie_tx_mb_per_s = scaled(asked(library_->pcie_throughput, gpu.card, kPcieTx), kMbPerKb),
          .pcie_generation = asked(library_->pcie_generation, gpu.card),
          .pcie_width = asked(library_->pcie_width, gpu.card),
          .max_pcie_generation = asked(library_->max_pcie_generation, gpu.card),
          .max_pcie_width = asked(library_->max_pcie_width, gpu.card),
          .num_other_processes = num_others(library_->processes, gpu.device)};
}

}  // namespace stoker::cuda
