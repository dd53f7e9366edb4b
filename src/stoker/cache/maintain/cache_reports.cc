#include "stoker/cache/maintain/cache_reports.h"

#include <utility>

#include "stoker/base/bytes.h"
#include "stoker/base/errors.h"
#include "stoker/base/io/output_file.h"
#include "stoker/cache/maintain/cache_check.h"
#include "stoker/data/from_settings.h"

namespace stoker::cache {
namespace {

Json entry_json(const EntryReason& entry) {
  Json json{{"kind", entry.kind},   {"state", entry.state}, {"reason", entry.reason},
            {"shard", entry.shard}, {"have", entry.have},   {"want", entry.want}};
  json["settings"] = Json::array();
  for (const SettingDifference& row : entry.settings)
    json["settings"].push_back(
        {{"group", row.group}, {"name", row.name}, {"have", row.have}, {"want", row.want}});
  return json;
}

Inspection look_at(Io& io, const std::string& path, const BuildTarget& target) {
  Result<File> folder = open_file(io, path, OpenFor::kFolder);
  if (!folder && folder.error().code == &kIoMissing) return inspect_nothing(target.makers);
  return inspect_cache(std::move(folder).take_or_raise(), target.makers);
}

}  // namespace

std::map<std::string, KindSize> kind_sizes(const Manifest& manifest) {
  std::map<std::string, KindSize> kinds;
  for (const ShardLine& line : manifest.shards) {
    const std::string kind(kind_name(line.kind));
    KindSize& size = kinds[line.array.empty() ? kind : kind + " " + line.array];
    size.records += line.num_records;
    size.size_bytes += line.size_bytes;
    ++size.shards;
  }
  return kinds;
}

Json info_json(const Manifest& manifest, const std::string& folder) {
  Json json{{"cache", folder},
            {"generation", manifest.generation()},
            {"path", manifest.path},
            {"features", manifest.features.hex()},
            {"text", manifest.text.hex()},
            {"left_out", manifest.left_out.size()}};
  for (const auto& [kind, size] : kind_sizes(manifest))
    json["kinds"][kind] = {
        {"records", size.records}, {"shards", size.shards}, {"bytes", size.size_bytes}};
  for (const Setting& setting : manifest.settings)
    json["settings"][setting.group][setting.name] = setting.value;
  return json;
}

ExplainedEntries explain_utterance(const config::Settings& settings, Io& io, const std::string& id,
                                   std::stop_token stop) {
  const WantedData data(settings, io, std::move(stop));
  const Inspection found = look_at(io, data.place.folder, data.target());
  return {.folder = data.place.folder,
          .entries = explain_entry(found, data.place.folder, data.target(), id)};
}

Json explain_json(const ExplainedEntries& explained, const std::string& id) {
  Json json{{"id", id}, {"cache", explained.folder}};
  json["entries"] = Json::array();
  for (const EntryReason& entry : explained.entries) json["entries"].push_back(entry_json(entry));
  return json;
}

Json precompute_json(const PrecomputeReport& report, double seconds) {
  Json json{{"cache", report.place.folder},
            {"rows", report.counts.rows},
            {"accepted", report.counts.accepted},
            {"filtered", report.counts.filtered},
            {"rejected", report.counts.rejected},
            {"built", report.build.rows_built},
            {"reused", report.build.rows_reused},
            {"bytes", report.build.size_bytes},
            {"clips_per_s", static_cast<double>(report.build.rows_built) / seconds},
            {"shards_written", report.build.shards_written},
            {"stopped", report.build.stopped},
            {"rejects_file", report.rejects_file},
            {"voices", report.voices}};
  for (const auto& [kind, counts] : report.build.kinds)
    json["kinds"][kind] = {{"built", counts.built}, {"reused", counts.reused}};
  return json;
}

data::IndexOptions check_options_of(const config::Settings& settings) {
  data::IndexOptions options = data::index_options_of(settings);
  options.check = data::FileCheck::kContent;
  if (settings.text.vocabulary != "phonemes")
    options.text = data::tokenizer_options_of(settings.text);
  return options;
}

Result<std::string> keep_rejects(const config::Settings& settings, Io& io,
                                 const data::Index& index) {
  if (index.rejects().empty()) return std::string();
  try {
    std::string path = cache_folder_of(settings, io) + "/rejects.jsonl";
    const std::string lines = data::rejects_jsonl(index.account().rejects());
    const Result<void> written = publish_output(io, path, view_bytes(lines));
    if (!written) return written.error();
    return path;
  } catch (const Failure& failure) {
    return failure.error();
  }
}

}  // namespace stoker::cache
