// What a listener would notice at once: silence, a constant, samples stuck at full scale.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "stoker/base/digest/digest.h"
#include "stoker/base/error.h"

namespace stoker::data {

class SampleStatistics {
 public:
  void add(std::span<const float> samples);

  Digest128 digest() const noexcept { return digest_.finish(); }
  // E-DATA-SILENT, E-DATA-CONSTANT or E-DATA-CLIPPED without a place, or nothing.
  std::optional<Error> oddity() const;

 private:
  DigestStream digest_;
  std::uint64_t num_samples_ = 0;
  std::uint64_t num_full_scale_ = 0;
  float lowest_ = 0;
  float highest_ = 0;
};

}  // namespace stoker::data
