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

// What changes seldom or takes the driver milliseconds to find out.
struct GpuLink {
  std::optional<double> power_limit_w{};
  std::optional<unsigned> max_clock_mhz{};   // of the multiprocessors
  std::optional<double> pcie_rx_mb_per_s{};  // into the GPU, over the last 20 ms
  std::optional<double> pcie_tx_mb_per_s{};
  std::optional<unsigned> pcie_generation{};  // now: an idle link may be slower
  std::optional<unsigned> pcie_width{};
  std::optional<unsigned> max_pcie_generation{};  // of GPU and slot together
  std::optional<unsigned> max_pcie_width{};
  std::optional<unsigned> num_other_processes{};  // that compute on it; absent where this process
                                                  // cannot be told from them
};

// Reasons that somebody must mend: the power cap, heat, the power supply. Not an idle GPU.
inline constexpr std::uint64_t kHardThrottles = 0x4U | 0x8U | 0x20U | 0x40U | 0x80U;

// What holds the clock down, in words; an idle GPU and clocks that somebody set count, too.
std::string throttle_text(std::uint64_t reasons);

// A GPU, or a slice of one (MIG) whose clocks, power and bus are those of the whole card.
struct NvmlGpu {
  void* device = nullptr;
  void* card = nullptr;
};

// Thread-safe once open. `index` counts as nvidia-smi does, whatever CUDA_VISIBLE_DEVICES says.
class Nvml {
 public:
  static constexpr const char* kLibrary = "libnvidia-ml.so.1";

  // Null where there is no driver; `why` then says what is missing. Tests bring their own library.
  static std::unique_ptr<Nvml> open(std::string* why = nullptr, const char* file = kLibrary);
  ~Nvml();

  unsigned num_devices() const;
  std::string name(unsigned index) const;
  // Nothing where the driver does not give it out.
  std::optional<NvmlGpu> at(unsigned index) const;
  // By what CUDA itself says, as DeviceInfo has it: "GPU-8f…" or, of a slice, "MIG-8f…". Nothing
  // where the driver knows none.
  std::optional<NvmlGpu> find(const std::string& uuid) const;
  GpuSample sample(unsigned index) const;
  GpuSample sample(const NvmlGpu& gpu) const;
  // Waits about 40 ms for the bus.
  GpuLink link(const NvmlGpu& gpu) const;

 private:
  struct Library;
  explicit Nvml(std::unique_ptr<Library> library);
  std::unique_ptr<Library> library_;
};

}  // namespace stoker::cuda
