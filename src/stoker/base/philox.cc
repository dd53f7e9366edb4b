#include "stoker/base/philox.h"

#include "stoker/base/digest/digest.h"

namespace stoker {

PhiloxKey philox_key(std::uint64_t seed, std::string_view stage) noexcept {
  const std::uint64_t mixed = seed ^ hash64(stage);
  return {static_cast<std::uint32_t>(mixed), static_cast<std::uint32_t>(mixed >> 32U)};
}

}  // namespace stoker
