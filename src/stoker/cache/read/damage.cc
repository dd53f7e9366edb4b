#include "stoker/cache/read/damage.h"

#include <algorithm>
#include <array>
#include <utility>

#include "stoker/base/errors.h"
#include "stoker/cache/errors.h"

namespace stoker::cache {

bool is_passing(const Error& error) noexcept {
  if (error.code == nullptr) return false;
  if (error.code->exit == ExitCode::kMemory) return true;
  constexpr std::array<const ErrorCode*, 3> kPassing{&kIoAccess, &kIoFailed, &kIoReadOnly};
  return std::find(kPassing.begin(), kPassing.end(), error.code) != kPassing.end();
}

bool proves_damage(const Error& error) noexcept {
  return error.code != nullptr && !is_passing(error) && error.code != &kCacheVersion;
}

std::vector<Error> check_shard_bytes(const std::string& file, std::span<const std::byte> bytes) {
  Result<ShardView> view = ShardView::open_whole(file, bytes);
  if (!view) return {std::move(view).error()};
  std::vector<Error> faults;
  for (std::size_t i = 0; i < view->size(); ++i) {
    const RecordEntry entry = (*view)[i];
    Result<RecordHeader> header = view->check_record(
        i, bytes.subspan(entry.at.at_bytes, entry.end_bytes() - entry.at.at_bytes));
    if (!header) faults.push_back(std::move(header).error());
  }
  return faults;
}

std::vector<Error> check_open_shard(const ShardFile& shard, std::vector<std::size_t>& bad_records) {
  std::vector<Error> faults;
  std::vector<std::byte> scratch;
  for (std::size_t i = 0; i < shard.view().size(); ++i) {
    Result<RecordHeader> header = shard.check_record(i, scratch);
    if (header) continue;
    faults.push_back(std::move(header).error());
    bad_records.push_back(i);
  }
  return faults;
}

}  // namespace stoker::cache
