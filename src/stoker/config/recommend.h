// Settings for a machine, each with the reason it was chosen.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stoker::config {

// What is known of the card; `name` empty: there is none.
struct GpuFacts {
  std::string name;
  std::uint64_t memory_mib = 0;
  bool has_bf16 = false;  // compute capability 8.0 and above
};

struct MachineFacts {
  GpuFacts gpu;
  unsigned cores = 1;
};

struct Recommendation {
  std::string path;
  std::string value;  // as it would be written
  std::string reason;
};

std::vector<Recommendation> recommend(const MachineFacts& machine);

// A card by its short name ("rtx4090", "RTX 3060", "h200"). Throws ConfigError E-CONFIG-VALUE with
// the nearest name for one that is not in the table.
GpuFacts gpu_by_name(std::string_view name);

}  // namespace stoker::config
