#include "stoker/cache/build/manifest_writer.h"

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <string_view>
#include <utility>

#include "stoker/base/bytes.h"
#include "stoker/cache/build/shard_publish.h"
#include "stoker/cache/read/damage.h"

namespace stoker::cache {
namespace {

// A cache of up to so many shards withdraws one at a time. In a larger one a few more go with it:
// a manifest a shard would be rewritten thousands of times.
constexpr std::size_t kWithdrawnShare = 64;

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

// Whether the row belongs to a shard in the manifest, or to a kind that nobody asked for now.
bool stays_left_out(const Inspection& found, const LeftOut& row) {
  bool asked = false;
  for (const ShardState& state : found.shards) {
    const RecordMaker& maker = *state.plan.maker;
    if (maker.kind() != row.kind) continue;
    asked = true;
    const bool is_replaced = !state.is_complete;
    for (std::size_t i = 0; i < state.rows.size() && state.file; ++i)
      if (maker.id(state.plan.first_row + i) == row.id &&
          (is_replaced || state.rows[i] == RowState::kLeftOut))
        return true;
  }
  return !asked;
}

bool is_planned(const PlannedShard& plan, std::string_view id) {
  for (std::size_t i = 0; i < plan.num_rows; ++i)
    if (plan.maker->id(plan.first_row + i) == id) return true;
  return false;
}

}  // namespace

ManifestWriter::ManifestWriter(const File& folder, const Manifest& head, const Inspection& found)
    : folder_(folder), manifest_(head) {
  manifest_.shards.clear();
  if (!found.manifest_fault) published_ = encode_manifest(found.manifest);
  for (const ShardState& state : found.shards) take_over(state);
  for (const ShardState& state : found.shards)
    if (is_kept(state) && !state.is_listed) withdraw_overlapping(state.plan);
  withdrawn_.clear();
  for (const ShardLine& line : found.other_kinds) manifest_.shards.push_back(line);
  take_left_out(found);
  publish_manifest();
  remove_others(found);
}

void ManifestWriter::take_over(const ShardState& state) {
  if (!state.file) return;
  if (state.is_complete && (state.is_listed || adopt(state))) {
    kept_[state.plan.number] = line_of(state);
    manifest_.shards.push_back(line_of(state));
    return;
  }
  const ShardView& view = state.file->view();
  if (!state.is_listed || !is_of_kind(view, *state.plan.maker) || view.size() == 0) return;
  old_[state.plan.number] = {line_of(state), std::string(view[0].id),
                             std::string(view[view.size() - 1].id)};
  manifest_.shards.push_back(line_of(state));
}

void ManifestWriter::take_left_out(const Inspection& found) {
  for (const LeftOut& row : found.manifest.left_out)
    if (stays_left_out(found, row)) old_left_out_.push_back(row);
}

void ManifestWriter::remove_others(const Inspection& found) {
  for (const std::uint32_t number : found.other_numbers) {
    const std::string name = shard_file_name(number);
    if (Result<void> done = set_folder_aside(folder_, name); !done) raise(done.error());
    const SysResult removed = folder_.io().unlink_at(folder_.handle(), name, false);
    if (!removed.ok() && removed.error_number != ENOENT)
      raise(io_error("remove", folder_.path() + "/" + name, removed.error_number));
  }
}

// A shard no manifest names was never committed: every byte of it is checked before it is.
bool ManifestWriter::adopt(const ShardState& state) {
  std::vector<std::size_t> bad_records;
  const std::vector<Error> faults = check_open_shard(*state.file, bad_records);
  for (const Error& fault : faults)
    if (!proves_damage(fault)) raise(fault);
  return faults.empty();
}

// The predecessor, and any other old shard that holds rows of the range: a reader finds each id in
// one shard only. Says how many there were.
std::size_t ManifestWriter::withdraw_overlapping(const PlannedShard& plan) {
  const std::string_view first_id = plan.maker->id(plan.first_row);
  const std::string_view last_id = plan.maker->id(plan.first_row + plan.num_rows - 1);
  const auto is_in_the_way = [&](const auto& entry) {
    const auto& [line, old_first_id, old_last_id] = entry.second;
    const bool same_kind = line.kind == plan.maker->kind() && line.array == plan.maker->array();
    return line.number == plan.number ||
           (same_kind && old_first_id <= last_id && old_last_id >= first_id);
  };
  std::erase_if(manifest_.shards, [&](const ShardLine& line) {
    const auto at = old_.find(line.number);
    return at != old_.end() && is_in_the_way(*at);
  });
  // What makes room for a successor never comes back.
  std::erase_if(withdrawn_, is_in_the_way);
  return std::erase_if(old_, is_in_the_way);
}

void ManifestWriter::withdraw_for(const PlannedShard& plan) {
  if (withdraw_overlapping(plan) == 0) return;
  std::size_t num_more = manifest_.shards.size() / kWithdrawnShare;
  for (auto at = old_.upper_bound(plan.number); at != old_.end() && num_more > 0; --num_more) {
    const auto next = std::next(at);
    withdrawn_.insert(old_.extract(at));
    at = next;
  }
  std::erase_if(manifest_.shards,
                [&](const ShardLine& line) { return withdrawn_.contains(line.number); });
  publish_manifest();
}

void ManifestWriter::commit(ShardAssembly& shard) {
  const PlannedShard& plan = shard.state->plan;
  std::vector<MadeRecord*> records;
  std::vector<LeftOut> left_out;
  for (std::size_t i = 0; i < plan.num_rows; ++i) {
    AssemblyRow& row = shard.rows[i];
    if (!row.reject) {
      records.push_back(&row.record);
      continue;
    }
    left_out.push_back({plan.maker->kind(), std::string(plan.maker->id(plan.first_row + i)),
                        std::string(row.reject->code->name), row.record.source});
  }
  ShardHeader header;
  header.kind = plan.maker->kind();
  header.number = plan.number;
  header.num_records = static_cast<std::uint32_t>(records.size());
  header.settings = plan.maker->settings();
  const std::string array(plan.maker->array());
  header.array_name_hash = array.empty() ? 0 : hash64(array);
  const ShardLine line =
      publish_shard(folder_, header, array, records, [&] { withdraw_for(plan); }).take_or_raise();
  std::erase_if(old_left_out_, [&](const LeftOut& row) {
    return row.kind == plan.maker->kind() && is_planned(plan, row.id);
  });
  made_left_out_.insert(made_left_out_.end(), left_out.begin(), left_out.end());
  manifest_.shards.push_back(line);
  ++num_written_;
  ++num_pending_;
  if (num_pending_ * 16 >= manifest_.shards.size()) publish_manifest();
}

void ManifestWriter::finish() {
  for (auto& [number, old] : withdrawn_) manifest_.shards.push_back(old.line);
  withdrawn_.clear();
  publish_manifest();
}

void ManifestWriter::publish_manifest() {
  num_pending_ = 0;
  manifest_.left_out = old_left_out_;
  manifest_.left_out.insert(manifest_.left_out.end(), made_left_out_.begin(), made_left_out_.end());
  std::string text = encode_manifest(manifest_);
  if (text == published_) return;
  if (Result<void> done = set_folder_aside(folder_, std::string(kManifestName)); !done)
    raise(done.error());
  publish_file(folder_, std::string(kManifestName), view_bytes(text)).take_or_raise();
  published_ = std::move(text);
}

}  // namespace stoker::cache
