// Cards by name with their public figures, for settings of a machine that has one of them; and what
// myxtts recommended for three of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace stoker::observe {

struct KnownGpu {
  std::string_view name;  // "rtx4090"
  std::uint64_t memory_mib;
  double bf16_tflops;  // dense, sums in fp32; of fp16 where the card has no bf16
  double memory_gb_per_s;
  double bus_gb_per_s;  // of PCIe, one direction
  bool has_bf16;
};

// A card by its short or long name ("rtx4090", "RTX 3060", "NVIDIA H200"); nothing where it is not
// in the table.
std::optional<KnownGpu> find_gpu(std::string_view name);
// Throws E-CONFIG-VALUE with the nearest name.
KnownGpu gpu_by_name(std::string_view name);

// What users of myxtts settled on, for the cards it names.
struct OriginalSizes {
  int batch_size;
  int num_workers;
  int prefetch;
  int accumulation;
};
std::optional<OriginalSizes> original_sizes(std::string_view gpu_name);

}  // namespace stoker::observe
