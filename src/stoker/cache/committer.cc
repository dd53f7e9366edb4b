#include "stoker/cache/committer.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "stoker/base/bytes.h"
#include "stoker/cache/shard_check.h"
#include "stoker/cache/shard_publish.h"

namespace stoker::cache {
namespace {

ShardLine line_of(const ShardState& state) {
  const ShardView& view = state.file->view();
  return {state.plan.number,
          view.header().kind,
          std::string(state.plan.maker->array()),
          view.header().num_records,
          state.file->size_bytes(),
          view.header().settings,
          view.digest()};
}

// Of a shard that stays, or of a kind that nobody asked for now.
bool is_kept(const Inspection& found, const LeftOut& row) {
  bool asked = false;
  for (const ShardState& state : found.shards) {
    const RecordMaker& maker = *state.plan.maker;
    if (maker.kind() != row.kind) continue;
    asked = true;
    for (std::size_t i = 0; i < state.rows.size(); ++i)
      if (state.rows[i] == RowState::kLeftOut && maker.id(state.plan.first_row + i) == row.id)
        return state.is_complete;
  }
  return !asked;
}

}  // namespace

Committer::Committer(const File& folder, const Manifest& head, const Inspection& found)
    : folder_(folder), manifest_(head) {
  manifest_.shards.clear();
  manifest_.left_out.clear();
  if (!found.manifest_fault) published_ = encode_manifest(found.manifest);
  for (const ShardState& state : found.shards)
    if (state.is_complete && (state.is_listed || adopt(state)))
      manifest_.shards.push_back(line_of(state));
  for (const ShardLine& line : found.other_kinds) manifest_.shards.push_back(line);
  for (const LeftOut& row : found.manifest.left_out)
    if (is_kept(found, row)) manifest_.left_out.push_back(row);
  publish_manifest();
  for (const std::uint32_t number : found.other_numbers) {
    const SysResult removed =
        folder_.io().unlink_at(folder_.handle(), shard_file_name(number), false);
    if (!removed.ok() && removed.error_number != ENOENT)
      raise(
          io_error("remove", folder_.path() + "/" + shard_file_name(number), removed.error_number));
  }
}

// A shard no manifest names was never committed: every byte of it is checked before it is.
bool Committer::adopt(const ShardState& state) {
  std::vector<std::size_t> bad_records;
  return check_open_shard(*state.file, bad_records).empty();
}

void Committer::commit(ShardAssembly& shard) {
  const PlannedShard& plan = shard.state->plan;
  std::vector<MadeRecord*> records;
  for (std::size_t i = 0; i < plan.num_rows; ++i) {
    AssemblyRow& row = shard.rows[i];
    if (!row.reject) {
      records.push_back(&row.record);
      continue;
    }
    manifest_.left_out.push_back({plan.maker->kind(),
                                  std::string(plan.maker->id(plan.first_row + i)),
                                  std::string(row.reject->code->name), row.record.source});
  }
  ShardHeader header;
  header.kind = plan.maker->kind();
  header.number = plan.number;
  header.num_records = static_cast<std::uint32_t>(records.size());
  header.settings = plan.maker->settings();
  const std::string array(plan.maker->array());
  header.array_name_hash = array.empty() ? 0 : hash64(array);
  manifest_.shards.push_back(publish_shard(folder_, header, array, records).take_or_raise());
  ++num_written_;
  ++num_pending_;
  if (num_pending_ * 16 >= manifest_.shards.size()) publish_manifest();
}

void Committer::finish() { publish_manifest(); }

void Committer::publish_manifest() {
  num_pending_ = 0;
  std::string text = encode_manifest(manifest_);
  if (text == published_) return;
  publish_file(folder_, std::string(kManifestName), view_bytes(text)).take_or_raise();
  published_ = std::move(text);
}

}  // namespace stoker::cache
