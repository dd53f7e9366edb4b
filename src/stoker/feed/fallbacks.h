// The account of fallbacks: the first of a kind is logged, each is counted, and with `strict` each
// is an error.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/error.h"
#include "stoker/base/json.h"
#include "stoker/base/thread/sync.h"
#include "stoker/config/settings.h"

namespace stoker::feed {

struct FallbackCount {
  std::string from;    // "cache record"
  std::string to;      // "source"
  std::string reason;  // a code, "E-CACHE-CORRUPT"
  std::uint64_t count = 0;
};

// As every report has them: {"cache record -> source: E-CACHE-CORRUPT": 3}.
Json fallbacks_json(const std::vector<FallbackCount>& counts);

enum class FallbackPolicy { kAllow, kRefuse };

// kRefuse with run.strict.
FallbackPolicy policy_of(const config::Settings& settings);

// Thread-safe.
class Fallbacks {
 public:
  explicit Fallbacks(FallbackPolicy policy) : policy_(policy) {}

  bool are_allowed() const { return policy_ == FallbackPolicy::kAllow; }
  // Counts it; the first of a kind is written to the log as a warning with `what`.
  void take(const FallbackCount& kind, std::string_view what);
  // Counts it, with the error and what happens instead as the warning; raises the error where
  // fallbacks are refused. The reason is the error's code where `kind` names none.
  void take_or_raise(FallbackCount kind, const Error& error, std::string_view instead);
  std::vector<FallbackCount> counts() const;

 private:
  const FallbackPolicy policy_;
  mutable Mutex mutex_;
  std::map<std::string, FallbackCount> counts_ STOKER_GUARDED_BY(mutex_);
};

}  // namespace stoker::feed
