// Keyed random draws: Philox4x32-10, a pure function of key and counter, so no draw depends on time
// or thread.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace stoker {

using PhiloxCounter = std::array<std::uint32_t, 4>;
using PhiloxKey = std::array<std::uint32_t, 2>;

// Ten rounds of Philox4x32 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011).
[[nodiscard]] PhiloxCounter philox4x32_10(PhiloxCounter counter, PhiloxKey key) noexcept;

// Names one stream of draws: (seed, stage) make the key, (epoch, item) the upper part of the
// counter.
struct DrawKey {
  std::uint64_t seed = 42;
  std::string_view stage;
  std::uint64_t epoch = 0;
  std::uint64_t item = 0;  // usually hash64(utterance id)
};

// A stream of draws for one DrawKey. Copyable; equal keys give equal streams on every machine.
class KeyedDraws {
 public:
  explicit KeyedDraws(const DrawKey& key) noexcept;

  std::uint32_t next_u32() noexcept;
  std::uint64_t next_u64() noexcept;
  // Uniform in [0, bound) without bias (rejection); precondition: bound > 0.
  std::uint64_t next_below(std::uint64_t bound) noexcept;
  // Uniform in [0, 1): 53 random bits.
  double next_unit() noexcept;
  // Uniform in [low, high).
  double next_between(double low, double high) noexcept;

 private:
  PhiloxKey key_;
  std::uint64_t epoch_;
  std::uint64_t item_;
  std::uint32_t block_ = 0;
  unsigned used_ = 4;
  PhiloxCounter words_{};
};

}  // namespace stoker
