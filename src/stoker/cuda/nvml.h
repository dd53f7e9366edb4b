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
};

// Thread-safe once open. `index` counts as nvidia-smi does, whatever CUDA_VISIBLE_DEVICES says.
class Nvml {
 public:
  // Null where there is no driver; `why` then says what is missing.
  static std::unique_ptr<Nvml> open(std::string* why = nullptr);
  ~Nvml();

  unsigned num_devices() const;
  std::string name(unsigned index) const;
  GpuSample sample(unsigned index) const;

 private:
  struct Library;
  explicit Nvml(std::unique_ptr<Library> library);
  std::unique_ptr<Library> library_;
};

}  // namespace stoker::cuda
