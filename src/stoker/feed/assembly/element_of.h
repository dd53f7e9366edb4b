// The cache's name for the number format of a batch.
#pragma once

#include "stoker/cache/format/element_type.h"
#include "stoker/config/mel_dtype.h"

namespace stoker::feed {

constexpr cache::ElementType element_of(config::MelDtype dtype) {
  switch (dtype) {
    case config::MelDtype::kF32:
      return cache::ElementType::kF32;
    case config::MelDtype::kBf16:
      return cache::ElementType::kBf16;
    case config::MelDtype::kF16:
      break;
  }
  return cache::ElementType::kF16;
}

}  // namespace stoker::feed
