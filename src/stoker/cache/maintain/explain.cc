#include "stoker/cache/maintain/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "stoker/cache/errors.h"
#include "stoker/cache/read/damage.h"
#include "stoker/config/nearest_name.h"

namespace stoker::cache {
namespace {

std::string_view group_of(RecordKind kind) {
  return kind == RecordKind::kTokens ? "text" : "features";
}

std::optional<std::size_t> find_row(const ShardState& state, std::string_view id) {
  for (std::size_t i = 0; i < state.plan.num_rows; ++i)
    if (state.plan.maker->id(state.plan.first_row + i) == id) return i;
  return std::nullopt;
}

void explain_settings(const Inspection& found, const BuildTarget& target, const ShardState& state,
                      EntryReason& out) {
  out.state = "stale";
  const std::string_view group = group_of(state.plan.maker->kind());
  for (SettingDifference& row : compare_settings(found.manifest, target.head))
    if (row.group == group) out.settings.push_back(std::move(row));
  out.have = state.file->view().header().settings.hex();
  out.want = state.plan.maker->settings().hex();
  if (out.settings.empty()) {
    out.reason = "made by another vocabulary or another version of the code";
    return;
  }
  const SettingDifference& first = out.settings.front();
  out.reason = fmt::format("made with other settings: {} was {}, now {}", first.name, first.have,
                           first.want);
  if (out.settings.size() > 1) out.reason += fmt::format(", and {} more", out.settings.size() - 1);
}

void explain_source(const ShardState& state, std::size_t row, EntryReason& out) {
  out.state = "stale";
  const RecordMaker& maker = *state.plan.maker;
  const std::size_t maker_row = state.plan.first_row + row;
  const bool is_text = maker.kind() == RecordKind::kTokens;
  out.reason = is_text ? "the transcript changed" : "the content of its source changed";
  const auto at = state.file->view().find(maker.id(maker_row));
  if (at) out.have = state.file->view()[*at].at.source.hex();
  Result<Digest128> now = maker.source_digest(maker_row);
  out.want = now ? now->hex() : error_line(now.error());
}

void explain_bytes(const ShardState& state, std::size_t row, EntryReason& out) {
  const auto at = state.file->view().find(state.plan.maker->id(state.plan.first_row + row));
  std::vector<std::byte> scratch;
  Result<RecordHeader> header = Error{};
  if (at) header = state.file->check_record(*at, scratch);
  if (header) return;
  out.state = "corrupt";
  out.reason = error_line(header.error());
}

EntryReason explain_row(const Inspection& found, const BuildTarget& target, const ShardState& state,
                        std::size_t row) {
  EntryReason out;
  out.kind = kind_text(state.plan.maker->kind(), state.plan.maker->array());
  out.shard = shard_file_name(state.plan.number);
  out.state = "fresh";
  switch (state.rows[row]) {
    case RowState::kFresh:
      if (state.is_listed) {
        explain_bytes(state, row, out);
      } else {
        out.state = "missing";
        out.reason = "its shard is not committed";
      }
      break;
    case RowState::kLeftOut:
      out.state = "left out";
      for (const LeftOut& left_out : found.manifest.left_out)
        if (left_out.id == state.plan.maker->id(state.plan.first_row + row))
          out.reason = "bad when it was built: " + left_out.code;
      break;
    case RowState::kSettings:
      explain_settings(found, target, state, out);
      break;
    case RowState::kSource:
      explain_source(state, row, out);
      break;
    case RowState::kGone:
      out.state = "stale";
      out.reason = "its source cannot be read now";
      break;
    case RowState::kShape:
      out.state = "corrupt";
      out.reason = "no record of this row has its type or shape";
      break;
    case RowState::kMissing:
      out.state = !state.fault ? "missing" : proves_damage(*state.fault) ? "corrupt" : "unread";
      out.reason = state.fault ? error_line(*state.fault) : "not in the cache yet";
      break;
  }
  return out;
}

// The id that was probably meant, or one to see what ids look like.
std::string advice_on_id(const Inspection& found, std::string_view id) {
  std::vector<std::string> ids;
  for (const ShardState& state : found.shards)
    for (std::size_t i = 0; i < state.plan.num_rows; ++i)
      ids.emplace_back(state.plan.maker->id(state.plan.first_row + i));
  if (const auto nearest = config::nearest_name(id, ids))
    return fmt::format("did you mean {}?", *nearest);
  if (ids.empty()) return "stoker data check FOLDER says why no row is left";
  return fmt::format(
      "ids are the first column of the metadata, such as {}; a rejected row has none", ids.front());
}

}  // namespace

std::string kind_text(RecordKind kind, std::string_view array) {
  return array.empty() ? std::string(kind_name(kind)) : fmt::format("array {}", array);
}

std::vector<EntryReason> explain_entry(const File& folder, const BuildTarget& target,
                                       std::string_view id) {
  return explain_entry(inspect_cache(folder, target.makers), folder.path(), target, id);
}

std::vector<EntryReason> explain_entry(const Inspection& found, const std::string& place,
                                       const BuildTarget& target, std::string_view id) {
  std::vector<EntryReason> reasons;
  for (const ShardState& state : found.shards)
    if (const std::optional<std::size_t> row = find_row(state, id))
      reasons.push_back(explain_row(found, target, state, *row));
  if (!reasons.empty()) return reasons;
  Error error;
  error.code = &kShardMissing;
  error.place.file = place;
  error.promised = "an id of the data set";
  error.found = fmt::format("\"{}\"", id);
  error.cure = advice_on_id(found, id);
  raise(std::move(error));
}

}  // namespace stoker::cache
