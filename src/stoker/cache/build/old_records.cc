#include "stoker/cache/build/old_records.h"

#include <algorithm>

#include "stoker/cache/read/sigbus_guard.h"

namespace stoker::cache {

OldRecords::OldRecords(const Inspection& found) {
  for (const ShardState& state : found.shards) {
    if (!state.file) continue;
    const ShardView& view = state.file->view();
    for (std::size_t i = 0; i < view.size(); ++i) places_.insert({view[i].id, {&*state.file, i}});
  }
}

bool OldRecords::Place::fits(const RecordMaker& maker, std::size_t row) const {
  const ShardView& view = shard->view();
  return is_of_kind(view, maker) && view.header().settings == maker.settings() &&
         !maker.shape_missed_by(row, view[index].at.shape);
}

bool OldRecords::Place::copy_payload(MadeRecord& out) const {
  std::vector<std::byte> scratch;
  Result<RecordHeader> header = shard->check_record(index, scratch);
  if (!header) return false;
  Result<std::span<const std::byte>> record = shard->record_bytes(index, scratch);
  if (!record) return false;
  const std::span<std::byte> to = out.reset(header->shape);
  const std::span<const std::byte> from = record->subspan(kRecordHeaderBytes, to.size());
  auto copy = [&] { std::copy(from.begin(), from.end(), to.begin()); };
  if (!guarded(shard->mapped_bytes(), copy)) return false;
  out.source = header->source;
  out.source_bytes = header->source_bytes;
  return true;
}

bool OldRecords::has(const RecordMaker& maker, std::size_t row) const {
  const auto [begin, end] = places_.equal_range(maker.id(row));
  return std::any_of(begin, end, [&](const auto& place) { return place.second.fits(maker, row); });
}

bool OldRecords::copy_into(const RecordMaker& maker, std::size_t row, const Digest128& source,
                           MadeRecord& out) const {
  const auto [begin, end] = places_.equal_range(maker.id(row));
  return std::any_of(begin, end, [&](const auto& place) {
    const Place& at = place.second;
    return at.fits(maker, row) && at.shard->view()[at.index].at.source == source &&
           at.copy_payload(out);
  });
}

bool OldRecords::copy_any_into(const RecordMaker& maker, std::size_t row, MadeRecord& out) const {
  const auto [begin, end] = places_.equal_range(maker.id(row));
  return std::any_of(begin, end, [&](const auto& place) {
    return place.second.fits(maker, row) && place.second.copy_payload(out);
  });
}

}  // namespace stoker::cache
