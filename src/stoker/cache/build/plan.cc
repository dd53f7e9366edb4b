#include "stoker/cache/build/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "stoker/base/checked.h"
#include "stoker/base/invariant.h"
#include "stoker/cache/errors.h"

namespace stoker::cache {
namespace {

constexpr std::uint32_t kFirstArraySlot = 3;

std::vector<std::string_view> array_names(std::span<const RecordMaker* const> makers) {
  std::vector<std::string_view> names;
  for (const RecordMaker* maker : makers)
    if (maker->kind() == RecordKind::kArray) names.push_back(maker->array());
  std::sort(names.begin(), names.end());
  if (names.size() <= kShardsPerChunk - kFirstArraySlot) return names;
  Error error;
  error.code = &kCachePlace;
  error.promised = fmt::format("at most {} named arrays", kShardsPerChunk - kFirstArraySlot);
  error.found = fmt::format("{}", names.size());
  error.cure = "put the rest into another cache";
  raise(std::move(error));
}

}  // namespace

std::uint32_t slot_of(RecordKind kind, std::size_t array_rank) noexcept {
  switch (kind) {
    case RecordKind::kMel:
      return 0;
    case RecordKind::kTokens:
      return 1;
    case RecordKind::kPcm:
      return 2;
    case RecordKind::kArray:
      break;
  }
  return kFirstArraySlot + static_cast<std::uint32_t>(array_rank);
}

std::vector<PlannedShard> plan_shards(std::span<const RecordMaker* const> makers) {
  const std::vector<std::string_view> names = array_names(makers);
  std::vector<PlannedShard> shards;
  for (const RecordMaker* maker : makers) {
    const auto rank = static_cast<std::size_t>(
        std::lower_bound(names.begin(), names.end(), maker->array()) - names.begin());
    const std::uint32_t slot = slot_of(maker->kind(), rank);
    const std::size_t num_rows = maker->num_rows();
    for (std::size_t row = 0; row < num_rows; row += kRecordsPerShard) {
      const auto chunk = static_cast<std::uint32_t>(row / kRecordsPerShard);
      shards.push_back(
          {maker, chunk * kShardsPerChunk + slot, row, std::min(kRecordsPerShard, num_rows - row)});
    }
    for (std::size_t row = 1; row < num_rows; ++row)
      check_invariant(maker->id(row - 1) < maker->id(row), "rows of a maker out of order");
  }
  std::sort(shards.begin(), shards.end(),
            [](const PlannedShard& a, const PlannedShard& b) { return a.number < b.number; });
  return shards;
}

std::uint64_t expected_shard_bytes(const PlannedShard& shard) {
  std::uint64_t total = kShardHeaderBytes + kFooterBytes + kAlignBytes;
  for (std::size_t row = shard.first_row; row < shard.first_row + shard.num_rows; ++row)
    total += round_up<std::uint64_t>(kRecordHeaderBytes + shard.maker->expected_bytes(row),
                                     kAlignBytes) +
             kIndexEntryBytes + shard.maker->id(row).size();
  return total;
}

}  // namespace stoker::cache
