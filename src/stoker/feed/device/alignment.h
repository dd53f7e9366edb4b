// How the parts of one block of device memory are laid one after the other.
#pragma once

#include <cstddef>

#include "stoker/base/checked.h"

namespace stoker::feed {

// What cudaMalloc itself gives, and more than any kernel asks for.
constexpr std::size_t device_aligned(std::size_t size_bytes) {
  return round_up(size_bytes, std::size_t{256});
}

}  // namespace stoker::feed
