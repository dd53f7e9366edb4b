#include "stoker/feed/fallbacks.h"

#include "stoker/base/log.h"

namespace stoker::feed {

Json fallbacks_json(const std::vector<FallbackCount>& counts) {
  Json out = Json::object();
  for (const FallbackCount& each : counts)
    out[each.from + " -> " + each.to + ": " + each.reason] = each.count;
  return out;
}

FallbackPolicy policy_of(const config::Settings& settings) {
  return settings.run.strict ? FallbackPolicy::kRefuse : FallbackPolicy::kAllow;
}

void Fallbacks::take(const FallbackCount& kind, std::string_view what) {
  bool is_first = false;
  {
    const Lock lock(mutex_);
    FallbackCount& counted =
        counts_.try_emplace(kind.from + kind.to + kind.reason, kind).first->second;
    is_first = counted.count == 0;
    ++counted.count;
  }
  if (!is_first) return;
  log(LogLevel::kWarning, what, {{"from", kind.from}, {"to", kind.to}, {"reason", kind.reason}});
}

void Fallbacks::take_or_raise(FallbackCount kind, const Error& error, std::string_view instead) {
  if (!are_allowed()) raise(Error(error));
  if (kind.reason.empty()) kind.reason = error.code->name;
  take(kind, error_line(error) + "; " + std::string(instead));
}

std::vector<FallbackCount> Fallbacks::counts() const {
  const Lock lock(mutex_);
  std::vector<FallbackCount> all;
  all.reserve(counts_.size());
  for (const auto& [key, count] : counts_) all.push_back(count);
  return all;
}

}  // namespace stoker::feed
