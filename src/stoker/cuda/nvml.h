// What the driver's monitoring library says about a GPU; loaded when asked for, absent is no error.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace stoker::cuda {

// A field that the GPU does not report is absent.
struct GpuSample {
  std::optional<unsigned> utilization_percent{};  // share of time with a kernel running
  std::optional<std::uint64_t> memory_used_bytes{};
  std::optional<std::uint64_t> memory_total_bytes{};
  std::optional<double> power_w{};
  std::optional<unsigned> clock_mhz{};  // of the multiprocessors
  std::optional<unsigned> temperature_c{};
  std::optional<unsigned> fan_percent{};
  std::optional<std::uint64_t> throttle_reasons{};  // NVML's bits; 0: the clock is not held down
};

// What holds the clock down, in words; an idle GPU and clocks that somebody set count, too.
std::string throttle_text(std::uint64_t reasons);

// Thread-safe once open. `index` counts as nvidia-smi does, whatever CUDA_VISIBLE_DEVICES says.
class Nvml {
 public:
  static constexpr const char* kLibrary = "libnvidia-ml.so.1";

  // Null where there is no driver; `why` then says what is missing. Tests bring their own library.
  static std::unique_ptr<Nvml> open(std::string* why = nullptr, const char* file = kLibrary);
  ~Nvml();

  unsigned num_devices() const;
  std::string name(unsigned index) const;
  // Of the GPU with this PCI address ("0000:1b:00.0"), as DeviceInfo has it; nothing where the
  // driver knows none.
  std::optional<unsigned> index_of(const std::string& pci_address) const;
  GpuSample sample(unsigned index) const;

 private:
  struct Library;
  explicit Nvml(std::unique_ptr<Library> library);
  std::unique_ptr<Library> library_;
};

}  // namespace stoker::cuda
