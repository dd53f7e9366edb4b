#include "stoker/cache/maintain/damage.h"

#include <algorithm>
#include <array>

#include "stoker/base/errors.h"
#include "stoker/cache/errors.h"

namespace stoker::cache {

bool is_passing(const Error& error) noexcept {
  if (error.code == nullptr) return false;
  if (error.code->exit == ExitCode::kMemory) return true;
  constexpr std::array<const ErrorCode*, 4> kPassing{&kIoAccess, &kIoFailed, &kIoReadOnly,
                                                     &kIoLocked};
  return std::any_of(kPassing.begin(), kPassing.end(),
                     [&](const ErrorCode* code) { return code->name == error.code->name; });
}

bool proves_damage(const Error& error) noexcept {
  return error.code != nullptr && !is_passing(error) && error.code->name != kCacheVersion.name;
}

}  // namespace stoker::cache
