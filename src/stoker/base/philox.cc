#include "stoker/base/philox.h"

#include "stoker/base/digest.h"
#include "stoker/base/invariant.h"

namespace stoker {
namespace {

constexpr std::uint32_t kMultiplier0 = 0xD2511F53;
constexpr std::uint32_t kMultiplier1 = 0xCD9E8D57;
constexpr std::uint32_t kWeyl0 = 0x9E3779B9;
constexpr std::uint32_t kWeyl1 = 0xBB67AE85;

PhiloxCounter one_round(const PhiloxCounter& c, const PhiloxKey& k) noexcept {
  const std::uint64_t product0 = std::uint64_t{kMultiplier0} * c[0];
  const std::uint64_t product1 = std::uint64_t{kMultiplier1} * c[2];
  return {static_cast<std::uint32_t>(product1 >> 32U) ^ c[1] ^ k[0],
          static_cast<std::uint32_t>(product1),
          static_cast<std::uint32_t>(product0 >> 32U) ^ c[3] ^ k[1],
          static_cast<std::uint32_t>(product0)};
}

}  // namespace

PhiloxCounter philox4x32_10(PhiloxCounter counter, PhiloxKey key) noexcept {
  for (int round = 0; round < 10; ++round) {
    counter = one_round(counter, key);
    key = {key[0] + kWeyl0, key[1] + kWeyl1};
  }
  return counter;
}

// The key mixes seed and stage name; the counter holds (block, epoch, item), so the streams of
// different epochs and items never overlap.
KeyedDraws::KeyedDraws(const DrawKey& key) noexcept : epoch_(key.epoch), item_(key.item) {
  const std::uint64_t mixed = key.seed ^ hash64(key.stage);
  key_ = {static_cast<std::uint32_t>(mixed), static_cast<std::uint32_t>(mixed >> 32U)};
}

std::uint32_t KeyedDraws::next_u32() noexcept {
  if (used_ == 4) {
    words_ =
        philox4x32_10({block_, static_cast<std::uint32_t>(epoch_),
                       static_cast<std::uint32_t>(item_), static_cast<std::uint32_t>(item_ >> 32U)},
                      key_);
    ++block_;
    used_ = 0;
  }
  return words_[used_++];
}

std::uint64_t KeyedDraws::next_u64() noexcept {
  const std::uint64_t low = next_u32();
  return (std::uint64_t{next_u32()} << 32U) | low;
}

std::uint64_t KeyedDraws::next_below(std::uint64_t bound) noexcept {
  check_invariant(bound > 0, "next_below(0)");
  const std::uint64_t refuse_below = (0 - bound) % bound;  // 2^64 mod bound
  for (;;) {
    const std::uint64_t draw = next_u64();
    if (draw >= refuse_below) return draw % bound;
  }
}

double KeyedDraws::next_unit() noexcept { return static_cast<double>(next_u64() >> 11U) * 0x1p-53; }

double KeyedDraws::next_between(double low, double high) noexcept {
  return low + (high - low) * next_unit();
}

}  // namespace stoker
