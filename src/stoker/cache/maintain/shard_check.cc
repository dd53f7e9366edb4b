#include "stoker/cache/maintain/shard_check.h"

#include <utility>

namespace stoker::cache {

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
