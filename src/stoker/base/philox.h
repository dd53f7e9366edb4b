// Keyed random draws: Philox4x32-10, a pure function of key and counter, so no draw depends on time
// or thread. All of it can run inside a GPU kernel too.
#pragma once

#include <array>
#include <cstdint>
#include <source_location>
#include <string_view>

#include "stoker/base/digest/digest.h"
#include "stoker/base/invariant.h"

namespace stoker {

using PhiloxCounter = std::array<std::uint32_t, 4>;
using PhiloxKey = std::array<std::uint32_t, 2>;

// Ten rounds of Philox4x32 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011).
[[nodiscard]] constexpr PhiloxCounter philox4x32_10(PhiloxCounter counter, PhiloxKey key) noexcept {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t product0 = std::uint64_t{0xD2511F53} * counter[0];
    const std::uint64_t product1 = std::uint64_t{0xCD9E8D57} * counter[2];
    counter = {static_cast<std::uint32_t>(product1 >> 32U) ^ counter[1] ^ key[0],
               static_cast<std::uint32_t>(product1),
               static_cast<std::uint32_t>(product0 >> 32U) ^ counter[3] ^ key[1],
               static_cast<std::uint32_t>(product0)};
    key = {key[0] + 0x9E3779B9U, key[1] + 0xBB67AE85U};
  }
  return counter;
}

// Mixes seed and stage name.
[[nodiscard]] inline PhiloxKey philox_key(std::uint64_t seed, std::string_view stage) noexcept {
  const std::uint64_t mixed = seed ^ hash64(stage);
  return {static_cast<std::uint32_t>(mixed), static_cast<std::uint32_t>(mixed >> 32U)};
}

// The seed of a run that names none; every default is this one.
inline constexpr std::uint64_t kDefaultSeed = 42;

// Names one stream of draws: (seed, stage) make the key, (epoch, item) the upper part of the
// counter.
struct DrawKey {
  std::uint64_t seed = kDefaultSeed;
  std::string_view stage;
  std::uint64_t epoch = 0;
  std::uint64_t item = 0;  // usually hash64(utterance id)
};

// A stream of draws for one DrawKey. Copyable; equal keys give equal streams on every machine. The
// counter holds (block, epoch, item), so the streams of different epochs and items never overlap.
class KeyedDraws {
 public:
  explicit KeyedDraws(const DrawKey& key) noexcept
      : KeyedDraws(philox_key(key.seed, key.stage), key.epoch, key.item) {}
  constexpr KeyedDraws(PhiloxKey key, std::uint64_t epoch, std::uint64_t item) noexcept
      : key_(key), epoch_(epoch), item_(item) {}

  constexpr std::uint32_t next_u32() noexcept {
    if (used_ == 4) {
      words_ = philox4x32_10(
          {block_, static_cast<std::uint32_t>(epoch_), static_cast<std::uint32_t>(item_),
           static_cast<std::uint32_t>(item_ >> 32U)},
          key_);
      ++block_;
      used_ = 0;
    }
    return words_[used_++];
  }

  constexpr std::uint64_t next_u64() noexcept {
    const std::uint64_t low = next_u32();
    return (std::uint64_t{next_u32()} << 32U) | low;
  }

  // Uniform in [0, bound) without bias (rejection); precondition: bound > 0.
  constexpr std::uint64_t next_below(std::uint64_t bound) noexcept {
#ifndef __CUDA_ARCH__  // a kernel cannot stop the process
    if (bound == 0) invariant_broken("next_below(0)", std::source_location::current());
#endif
    const std::uint64_t refuse_below = (0 - bound) % bound;  // 2^64 mod bound
    for (;;) {
      const std::uint64_t draw = next_u64();
      if (draw >= refuse_below) return draw % bound;
    }
  }

  // Uniform in [0, 1): 53 random bits.
  constexpr double next_unit() noexcept { return static_cast<double>(next_u64() >> 11U) * 0x1p-53; }

  // Uniform in [low, high).
  constexpr double next_between(double low, double high) noexcept {
    return low + (high - low) * next_unit();
  }

 private:
  PhiloxKey key_;
  std::uint64_t epoch_;
  std::uint64_t item_;
  std::uint32_t block_ = 0;
  unsigned used_ = 4;
  PhiloxCounter words_{};
};

}  // namespace stoker
