// The account of fallbacks: each is said once, counted always, and an error with `strict`.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/thread/sync.h"
#include "stoker/config/settings.h"

namespace stoker::feed {

struct FallbackCount {
  std::string from;    // "cache record"
  std::string to;      // "source"
  std::string reason;  // a code, "E-CACHE-CORRUPT"
  std::uint64_t count = 0;
};

enum class FallbackPolicy { kAllow, kRefuse };

// `strict` refuses every fallback.
FallbackPolicy policy_of(const config::Settings& settings);

// Thread-safe.
class Fallbacks {
 public:
  explicit Fallbacks(FallbackPolicy policy) : policy_(policy) {}

  bool are_allowed() const { return policy_ == FallbackPolicy::kAllow; }
  // Counts it; the first of a kind is written to the log as a warning with `what`.
  void take(const FallbackCount& kind, std::string_view what);
  std::vector<FallbackCount> counts() const;

 private:
  const FallbackPolicy policy_;
  mutable Mutex mutex_;
  std::map<std::string, FallbackCount> counts_ STOKER_GUARDED_BY(mutex_);
};

}  // namespace stoker::feed
