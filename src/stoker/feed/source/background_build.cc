#include "stoker/feed/source/background_build.h"

#include <sys/resource.h>

#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/log.h"
#include "stoker/cache/build/precompute.h"

namespace stoker::feed {
namespace {

constexpr int kLowPriority = 15;

void build(const config::Settings& settings, Io& io, SimdLevel level, const std::stop_token& stop) {
  setpriority(PRIO_PROCESS, 0, kLowPriority);  // of this thread alone, and of those it starts
  try {
    cache::PrecomputeOptions options;
    options.when_locked = cache::WhenLocked::kRefuse;
    options.begin_at = level;
    options.stop = stop;
    cache::precompute(settings, io, options);
  } catch (const std::exception& exception) {
    if (stop.stop_requested()) return;
    log(LogLevel::kWarning, "the cache is not completed while running",
        {{"why", exception.what()}});
  }
}

}  // namespace

BackgroundBuild::BackgroundBuild(config::Settings settings, Io& io, SimdLevel level)
    : thread_("stoker-build", [own = std::move(settings), &io, level](const std::stop_token& stop) {
        build(own, io, level, stop);
      }) {}

}  // namespace stoker::feed
