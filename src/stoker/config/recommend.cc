#include "stoker/config/recommend.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "stoker/base/cpu_count.h"
#include "stoker/base/number_text.h"
#include "stoker/config/errors.h"
#include "stoker/config/nearest_name.h"

namespace stoker::config {
namespace {

struct KnownGpu {
  std::string_view name;
  std::uint64_t memory_mib;
  bool has_bf16;
};

constexpr std::array kGpus{KnownGpu{"t4", 15'360, false},        KnownGpu{"v100", 32'768, false},
                           KnownGpu{"rtx2080ti", 11'264, false}, KnownGpu{"rtx3060", 12'288, true},
                           KnownGpu{"rtx3070", 8'192, true},     KnownGpu{"rtx3080", 10'240, true},
                           KnownGpu{"rtx3090", 24'576, true},    KnownGpu{"rtx4060", 8'192, true},
                           KnownGpu{"rtx4070", 12'288, true},    KnownGpu{"rtx4080", 16'376, true},
                           KnownGpu{"rtx4090", 24'564, true},    KnownGpu{"rtx5090", 32'607, true},
                           KnownGpu{"a10", 23'028, true},        KnownGpu{"a100", 81'920, true},
                           KnownGpu{"l4", 23'034, true},         KnownGpu{"l40s", 46'068, true},
                           KnownGpu{"h100", 81'559, true},       KnownGpu{"h200", 143'771, true},
                           KnownGpu{"b200", 183'359, true}};

struct Sizes {
  int batch_size;
  int num_workers;
  int prefetch;
  int accumulation;
};

// Cards whose settings were found by their users; others go by memory.
struct TunedGpu {
  std::string_view name;
  Sizes sizes;
};
constexpr std::array kTuned{TunedGpu{"rtx4090", {32, 24, 32, 1}},
                            TunedGpu{"rtx3090", {24, 16, 24, 1}},
                            TunedGpu{"rtx3060", {8, 8, 8, 2}}};

struct MemoryRow {
  std::uint64_t at_least_mib;
  Sizes sizes;
};
constexpr std::array kByMemory{MemoryRow{20'000, {48, 16, 48, 1}},
                               MemoryRow{12'000, {32, 12, 32, 1}}, MemoryRow{8'000, {16, 8, 24, 1}},
                               MemoryRow{0, {8, 4, 16, 2}}};

// "NVIDIA GeForce RTX 4090" -> "rtx4090".
std::string short_name(std::string_view name) {
  std::string text;
  for (const char c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      text += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const std::string_view word : {"nvidia", "geforce", "tesla"})
    if (const std::size_t at = text.find(word); at != text.npos) text.erase(at, word.size());
  return text;
}

struct Choice {
  Sizes sizes;
  std::string reason;
};

Choice sizes_for(const GpuFacts& gpu) {
  const std::string name = short_name(gpu.name);
  for (const TunedGpu& tuned : kTuned)
    if (tuned.name == name)
      return {tuned.sizes, fmt::format("what users of the {} settled on", gpu.name)};
  const auto row = std::find_if(
      kByMemory.begin(), kByMemory.end(),
      [&](const MemoryRow& candidate) { return gpu.memory_mib >= candidate.at_least_mib; });
  return {row->sizes, fmt::format("{} has {} MiB of memory, at least {}", gpu.name,
                                  grouped(gpu.memory_mib), grouped(row->at_least_mib))};
}

std::vector<Recommendation> for_cpu(unsigned cores) {
  return {
      {"device", "cpu", "no GPU was found"},
      {"data.num_workers", fmt::format("{}", workers_beside_consumer(cores)),
       "one thread for each core allowed; of more than four one is the consumer's"},
      {"data.preprocessing_mode", "precompute", "features made once leave the cores to the model"},
      {"training.precision", "fp32", "a CPU gains nothing from a shorter format"}};
}

// Workers are threads, and more of them than cores only take turns.
Recommendation workers_for(const Sizes& sizes, const std::string& reason, unsigned cores) {
  const unsigned most = workers_beside_consumer(cores);
  const auto wanted = static_cast<unsigned>(sizes.num_workers);
  if (wanted <= most) return {"data.num_workers", fmt::format("{}", wanted), reason};
  return {"data.num_workers", fmt::format("{}", most),
          fmt::format("this machine allows {} cores; {} on one with more cores ({})", cores, wanted,
                      reason)};
}

}  // namespace

std::vector<Recommendation> recommend(const MachineFacts& machine) {
  const GpuFacts& gpu = machine.gpu;
  if (gpu.name.empty()) return for_cpu(machine.cores);
  const auto [sizes, reason] = sizes_for(gpu);
  std::vector<Recommendation> out;
  out.push_back({"data.batch_size", fmt::format("{}", sizes.batch_size), reason});
  out.push_back(workers_for(sizes, reason, machine.cores));
  out.push_back({"data.prefetch_buffer_size", fmt::format("{}", sizes.prefetch),
                 "batches ready ahead of time absorb an uneven disk"});
  out.push_back({"data.preprocessing_mode", "auto",
                 "uses what the cache holds and builds the rest while running"});
  out.push_back({"gpu.buffer_size", "50", "batches in device memory, bounded by data_gpu_memory"});
  out.push_back({"gpu.data_gpu_memory",
                 fmt::format("{}MiB", std::max<std::uint64_t>(gpu.memory_mib / 16, 512)),
                 "a sixteenth of the card for the feed leaves the rest to the model"});
  if (sizes.accumulation > 1)
    out.push_back({"training.gradient_accumulation_steps", fmt::format("{}", sizes.accumulation),
                   fmt::format("brings the effective batch to {} within the memory",
                               sizes.batch_size * sizes.accumulation)});
  out.push_back({"training.precision", gpu.has_bf16 ? "bf16" : "fp16",
                 gpu.has_bf16 ? "the card computes bf16 in its tensor cores"
                              : "the card has no bf16; fp16 is scaled on the device"});
  return out;
}

GpuFacts gpu_by_name(std::string_view name) {
  std::string wanted = short_name(name);
  if (!wanted.empty() && std::isdigit(static_cast<unsigned char>(wanted[0])) != 0)
    wanted = "rtx" + wanted;
  std::vector<std::string> names;
  for (const KnownGpu& gpu : kGpus) {
    if (gpu.name == wanted) return {std::string(gpu.name), gpu.memory_mib, gpu.has_bf16};
    names.emplace_back(gpu.name);
  }
  const auto nearest = nearest_name(wanted, names);
  raise({.code = &kConfigValue,
         .place = {.file = "--gpu"},
         .promised = fmt::format("one of {}", fmt::join(names, ", ")),
         .found = fmt::format("\"{}\"", name),
         .cure = nearest ? fmt::format("did you mean {}?", *nearest) : std::string()});
}

}  // namespace stoker::config
