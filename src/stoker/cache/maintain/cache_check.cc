#include "stoker/cache/maintain/cache_check.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "stoker/base/bytes.h"
#include "stoker/base/cpu_count.h"
#include "stoker/base/errors.h"
#include "stoker/base/io/output_file.h"
#include "stoker/cache/errors.h"
#include "stoker/data/errors.h"

namespace stoker::cache {
namespace {

bool has_data(const config::Settings& settings) {
  return !settings.data.path.empty() || !settings.data.sources.empty();
}

// Gives the number of rows that had to be left out.
std::uint64_t rebuild(const config::Settings& settings, WantedData& data, Io& io,
                      const CheckRequest& request, const VerifyReport& report) {
  PrecomputeOptions build;
  build.num_workers = request.verify.num_workers;
  build.rebuild = report.bad_shards;
  build.stop = request.verify.stop;
  build.progress = request.verify.progress;
  build.say = request.say;
  build.warn = request.warn;
  const PrecomputeReport done = precompute(settings, data, io, build);
  std::uint64_t num_left_out = 0;
  for (const BuildReject& reject : done.build.rejects) {
    if (reject.error.code == &kRowLeftOut) continue;
    if (request.warn) request.warn(error_line(reject.error));
    ++num_left_out;
  }
  return num_left_out;
}

File open_cache(Io& io, const std::string& path, bool is_made) {
  if (is_made) make_folders(io, path).take_or_raise();
  Result<File> folder = open_file(io, path, OpenFor::kFolder);
  if (folder) return std::move(folder).value();
  Error error = std::move(folder).error();
  if (error.code == &kIoMissing) error.code = &kNoCache;
  raise(std::move(error));
}

void check_with_data(const config::Settings& settings, Io& io, const CheckRequest& request,
                     CheckedCache& checked) {
  WantedData data(settings, io, request.verify.stop);
  checked.folder = data.place.folder;
  const File folder = open_cache(io, checked.folder, request.fix);
  checked.rows = data.index.counts();
  for (const data::Reject& reject : data.index.rejects()) checked.rejects.push_back(reject.error);
  checked.report = verify_cache(folder, data.target(), request.verify);
  if (!request.fix || checked.report.is_good()) return;
  const std::uint64_t num_left_out = rebuild(settings, data, io, request, checked.report);
  compare_after_fix(verify_cache(folder, data.target(), request.verify), num_left_out,
                    checked.report);
}

Json utterance_json(const BadUtterance& each) {
  return {{"id", each.id}, {"state", each.state}, {"why", each.why}, {"kinds", each.kinds}};
}

}  // namespace

unsigned build_workers(const config::Settings& settings) {
  const auto& asked = settings.loader.num_workers;
  if (asked.is_auto()) return count_cpus().allowed;
  return std::max(1U, static_cast<unsigned>(*asked));
}

std::string cache_folder_of(const config::Settings& settings, Io& io) {
  if (settings.cache.dir.empty() && !has_data(settings))
    raise({.code = &data::kDataSource,
           .promised = "a data set or the folder of a cache",
           .found = "neither"});
  const Manifest head = wanted_head(settings, SimdLevel::kScalar);
  return find_cache_location(settings, head.features, io).folder;
}

CheckedCache check_cache(const config::Settings& settings, Io& io, const CheckRequest& request) {
  CheckedCache checked;
  const bool needs_data = request.fix || request.verify.sources == SourceCheck::kContent;
  if (has_data(settings) || needs_data) {
    check_with_data(settings, io, request, checked);
  } else {
    checked.folder = cache_folder_of(settings, io);
    const File folder = open_file(io, checked.folder, OpenFor::kFolder).take_or_raise();
    checked.report = verify_bytes(folder, request.verify);
  }
  const VerifyReport& report = checked.report;
  checked.is_good = report.is_good() || (request.fix && report.failed == 0 && report.unread == 0);
  return checked;
}

std::string utterance_lines(const VerifyReport& report) {
  std::string lines;
  for (const BadUtterance& each : report.utterances) lines += utterance_json(each).dump() + "\n";
  return lines;
}

Result<std::string> keep_utterance_lines(Io& io, const CheckedCache& checked) {
  std::string path = fmt::format("{}/{}", checked.folder, kVerifyListName);
  if (checked.report.utterances.size() <= kMostShownUtterances) {
    io.unlink_at(AT_FDCWD, path, false);
    return std::string();
  }
  const std::string lines = utterance_lines(checked.report);
  const Result<void> written = publish_output(io, path, view_bytes(lines));
  if (!written) return written.error();
  return path;
}

Json check_json(const CheckedCache& checked, const std::string& list_file) {
  const VerifyReport& report = checked.report;
  Json json{{"cache", checked.folder}};
  if (checked.rows)
    json.update({{"rows", checked.rows->rows},
                 {"accepted", checked.rows->accepted},
                 {"filtered", checked.rows->filtered},
                 {"rejected", checked.rows->rejected}});
  json.update({{"checked", report.checked},
               {"ok_entries", report.ok_entries},
               {"stale", report.stale},
               {"corrupt", report.corrupt},
               {"missing", report.missing},
               {"unread", report.unread},
               {"fixed", report.fixed},
               {"failed", report.failed},
               {"left_out", report.left_out},
               {"bytes", report.size_bytes}});
  json["faults"] = Json::array();
  for (const Error& fault : report.faults) json["faults"].push_back(error_line(fault));
  json["num_utterances"] = report.utterances.size();
  json["utterances"] = Json::array();
  for (std::size_t i = 0; i < std::min(report.utterances.size(), kMostShownUtterances); ++i)
    json["utterances"].push_back(utterance_json(report.utterances[i]));
  if (!list_file.empty()) json["list"] = list_file;
  return json;
}

}  // namespace stoker::cache
