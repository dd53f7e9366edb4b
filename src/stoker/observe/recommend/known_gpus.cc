#include "stoker/observe/recommend/known_gpus.h"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <vector>

#include "stoker/config/errors.h"
#include "stoker/config/nearest_name.h"

namespace stoker::observe {
namespace {

// From the makers' data sheets.
constexpr double kGen3 = 15.75, kGen4 = 31.5, kGen5 = 63;
constexpr std::array kGpus{KnownGpu{"t4", 15'360, 65, 320, kGen3, false},
                           KnownGpu{"v100", 32'768, 125, 900, kGen3, false},
                           KnownGpu{"rtx2080ti", 11'264, 54, 616, kGen3, false},
                           KnownGpu{"rtx3060", 12'288, 25.5, 360, kGen4, true},
                           KnownGpu{"rtx3070", 8'192, 40.6, 448, kGen4, true},
                           KnownGpu{"rtx3080", 10'240, 59.5, 760, kGen4, true},
                           KnownGpu{"rtx3090", 24'576, 71, 936, kGen4, true},
                           KnownGpu{"rtx4060", 8'192, 30.2, 272, kGen4 / 2, true},
                           KnownGpu{"rtx4070", 12'288, 58.3, 504, kGen4, true},
                           KnownGpu{"rtx4080", 16'376, 97.5, 717, kGen4, true},
                           KnownGpu{"rtx4090", 24'564, 165.2, 1008, kGen4, true},
                           KnownGpu{"rtx5090", 32'607, 209.5, 1792, kGen5, true},
                           KnownGpu{"a10", 23'028, 125, 600, kGen4, true},
                           KnownGpu{"a100", 81'920, 312, 2039, kGen4, true},
                           KnownGpu{"l4", 23'034, 121, 300, kGen4, true},
                           KnownGpu{"l40s", 46'068, 362, 864, kGen4, true},
                           KnownGpu{"h100", 81'559, 989, 3350, kGen5, true},
                           KnownGpu{"h200", 143'771, 989, 4800, kGen5, true},
                           KnownGpu{"b200", 183'359, 2250, 8000, kGen5, true}};

struct NamedSizes {
  std::string_view name;
  OriginalSizes sizes;
};
constexpr std::array kOriginal{NamedSizes{"rtx4090", {32, 24, 32, 1}},
                               NamedSizes{"rtx3090", {24, 16, 24, 1}},
                               NamedSizes{"rtx3060", {8, 8, 8, 2}}};

// "NVIDIA GeForce RTX 4090" -> "rtx4090".
std::string short_name(std::string_view name) {
  std::string text;
  for (const char c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      text += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const std::string_view word : {"nvidia", "geforce", "tesla"})
    if (const std::size_t at = text.find(word); at != text.npos) text.erase(at, word.size());
  const bool is_number = !text.empty() && std::isdigit(static_cast<unsigned char>(text[0])) != 0;
  return is_number ? "rtx" + text : text;
}

}  // namespace

std::optional<KnownGpu> find_gpu(std::string_view name) {
  const std::string wanted = short_name(name);
  for (const KnownGpu& gpu : kGpus)
    if (gpu.name == wanted) return gpu;
  return std::nullopt;
}

KnownGpu gpu_by_name(std::string_view name) {
  if (const std::optional<KnownGpu> found = find_gpu(name)) return *found;
  std::vector<std::string> names;
  names.reserve(kGpus.size());
  for (const KnownGpu& gpu : kGpus) names.emplace_back(gpu.name);
  const auto nearest = config::nearest_name(short_name(name), names);
  raise({.code = &config::kConfigValue,
         .place = {.file = "--gpu"},
         .promised = fmt::format("one of {}", fmt::join(names, ", ")),
         .found = fmt::format("\"{}\"", name),
         .cure = nearest ? fmt::format("did you mean {}?", *nearest) : std::string()});
}

std::optional<OriginalSizes> original_sizes(std::string_view gpu_name) {
  for (const NamedSizes& each : kOriginal)
    if (each.name == short_name(gpu_name)) return each.sizes;
  return std::nullopt;
}

}  // namespace stoker::observe
