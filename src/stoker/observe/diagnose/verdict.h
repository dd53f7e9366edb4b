// One rule for everybody who says whether a loop waits for its data: the diagnosis, the performance
// monitor and the trainer's summary.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace stoker::observe {

enum class LoopVerdict : std::uint8_t {
  kUnknown,   // nothing was timed
  kHealthy,   // the feed is not the bottleneck
  kConsumer,  // nor is it here, but the consumer loses time of its own
  kStarved,   // the consumer waits for the feed
  kSupply,    // a consumer without steps: only the supply is known
};

std::string_view name_of(LoopVerdict verdict);  // "unknown", "healthy", …

// `stall_share`: the time a loop waits for its data by all its time.
LoopVerdict verdict_of_stall(double stall_share);

// "The feed is not your bottleneck; it could bring 14 times as much." `supply_ratio` 0: not known.
std::string verdict_sentence(LoopVerdict verdict, double stall_share, double supply_ratio);

}  // namespace stoker::observe
