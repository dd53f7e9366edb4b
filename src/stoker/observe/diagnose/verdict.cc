#include "stoker/observe/diagnose/verdict.h"

#include <fmt/core.h>

#include <array>
#include <cstddef>

#include "stoker/observe/diagnose/thresholds.h"

namespace stoker::observe {
namespace {

constexpr std::array<std::string_view, 5> kNames{"unknown", "healthy", "consumer", "starved",
                                                 "supply"};

std::string supply_clause(double supply_ratio) {
  constexpr double kWorthSaying = 1.05, kWhole = 3;
  if (supply_ratio < kWorthSaying) return ".";
  if (supply_ratio < kWhole)
    return fmt::format("; it could bring {:.1f} times as much.", supply_ratio);
  return fmt::format("; it could bring {:.0f} times as much.", supply_ratio);
}

}  // namespace

std::string_view name_of(LoopVerdict verdict) { return kNames[static_cast<std::size_t>(verdict)]; }

LoopVerdict verdict_of_stall(double stall_share) {
  return stall_share > kStarvedShare ? LoopVerdict::kStarved : LoopVerdict::kHealthy;
}

std::string verdict_sentence(LoopVerdict verdict, double stall_share, double supply_ratio) {
  switch (verdict) {
    case LoopVerdict::kHealthy:
      return "The feed is not your bottleneck" + supply_clause(supply_ratio);
    case LoopVerdict::kConsumer:
      return "The consumer loses time of its own. The feed is not your bottleneck" +
             supply_clause(supply_ratio);
    case LoopVerdict::kStarved:
      return fmt::format("The consumer waits for the feed {:.0f} % of its time.",
                         100 * stall_share);
    case LoopVerdict::kSupply:
      return "The consumer takes batches as fast as they come: this is the supply, not a verdict.";
    case LoopVerdict::kUnknown:
      break;
  }
  return "Too few batches were seen for a verdict.";
}

}  // namespace stoker::observe
