#include "stoker/data/id_table.h"

#include <algorithm>
#include <utility>

#include "stoker/base/digest/digest.h"

namespace stoker::data {
namespace {

constexpr std::size_t kFirstSlots = 1024;
// Spreads a 32-bit tag over the table (Fibonacci hashing).
constexpr std::uint64_t kSpread = 0x9E3779B97F4A7C15ULL;

}  // namespace

std::uint64_t IdTable::hash_of(std::string_view id) noexcept { return hash64(id); }

std::size_t IdTable::place_of(std::uint64_t hash) const noexcept {
  return static_cast<std::size_t>(((hash >> 32U) * kSpread) >> 20U) & (slots_.size() - 1);
}

void IdTable::grow() {
  const std::vector<Slot> old =
      std::exchange(slots_, std::vector<Slot>(std::max(kFirstSlots, slots_.size() * 2)));
  for (const Slot& slot : old) {
    if (slot.row == kFree) continue;
    std::size_t at = place_of(std::uint64_t{slot.tag} << 32U);
    while (slots_[at].row != kFree) at = (at + 1) & (slots_.size() - 1);
    slots_[at] = slot;
  }
}

std::uint32_t NameTable::number_of(std::string_view name) {
  const auto [at, fresh] =
      numbers_.emplace(std::string(name), static_cast<std::uint32_t>(names_.size()));
  if (fresh) names_.emplace_back(name);
  return at->second;
}

}  // namespace stoker::data
