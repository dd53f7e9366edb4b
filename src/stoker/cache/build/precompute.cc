#include "stoker/cache/build/precompute.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <utility>

#include "stoker/base/bytes.h"
#include "stoker/base/io/output_file.h"
#include "stoker/base/thread/sync.h"
#include "stoker/cache/build/shard_publish.h"
#include "stoker/cache/errors.h"
#include "stoker/cache/read/damage.h"
#include "stoker/config/settings_text.h"
#include "stoker/data/from_settings.h"
#include "stoker/data/summary.h"

namespace stoker::cache {
namespace {

std::optional<Manifest> manifest_in(Io& io, const std::string& path) {
  Result<File> folder = open_file(io, path, OpenFor::kFolder);
  if (!folder) return std::nullopt;
  Result<Manifest> manifest = load_manifest(*folder);
  if (!manifest && !proves_damage(manifest.error())) raise(std::move(manifest).error());
  if (!manifest) return std::nullopt;
  return std::move(manifest).value();
}

// What does not decide a byte of the cache is left at its default, so that caches built with other
// thread counts have the same file.
std::string config_text(config::Settings settings) {
  const config::Settings defaults;
  settings.run = defaults.run;
  settings.batch = defaults.batch;
  settings.loader = defaults.loader;
  settings.gpu = defaults.gpu;
  settings.training = defaults.training;
  settings.optimizer = defaults.optimizer;
  settings.observe = defaults.observe;
  settings.cache.dir.clear();
  return config::settings_yaml(settings);
}

void publish_if_changed(const File& folder, const std::string& name, const std::string& text) {
  Result<File> file = open_beneath(folder, name, OpenFor::kRead);
  if (file) {
    Result<std::vector<std::byte>> bytes = read_whole(*file, std::uint64_t{1} << 30U);
    if (bytes && view_text(*bytes) == text) return;
  }
  set_folder_aside(folder, name).take_or_raise();
  publish_file(folder, name, view_bytes(text)).take_or_raise();
}

void write_rejects(const File& folder, const PrecomputeOptions& options, const std::string& lines) {
  if (options.rejects_file.empty()) return publish_if_changed(folder, "rejects.jsonl", lines);
  if (options.write_rejects) return options.write_rejects(lines);
  publish_output(folder.io(), options.rejects_file, view_bytes(lines)).take_or_raise();
}

// Rejects of the index and of the build as one list; a row is named once. A build knows the id of a
// row that it left out before, and not its file.
std::vector<data::Reject> all_rejects(const WantedData& data,
                                      const std::vector<BuildReject>& built) {
  std::vector<data::Reject> rejects(data.index.rejects().begin(), data.index.rejects().end());
  std::map<std::string_view, std::size_t> rows;
  for (std::size_t i = 0; i < data.index.size(); ++i) rows[data.index[i].id] = i;
  std::set<std::string> seen;
  for (const BuildReject& built_reject : built) {
    if (!seen.insert(built_reject.id).second) continue;
    data::Reject& reject = rejects.emplace_back();
    reject.id = built_reject.id;
    reject.error = built_reject.error;
    const auto row = rows.find(reject.id);
    if (row == rows.end()) continue;
    reject.line = data.index[row->second].line;
    if (reject.error.code == &kRowLeftOut)
      reject.error.place.file = std::string(data.index[row->second].file);
  }
  return rejects;
}

void tell(const std::function<void(const std::string&)>& door, const std::string& line) {
  if (door && !line.empty()) door(line);
}

LockOptions lock_options_of(const PrecomputeOptions& options) {
  LockOptions lock;
  lock.when_locked = options.when_locked;
  lock.break_lock = options.break_lock;
  lock.stop = options.stop;
  lock.on_wait = [&options](const std::string& holder) {
    tell(options.say, fmt::format("waiting for another builder: {}", holder));
  };
  return lock;
}

Error unwritable(Error error) {
  if (error.code->exit == ExitCode::kStorage) error.code = &kCachePlace;
  return error;
}

}  // namespace

WantedData::WantedData(const config::Settings& settings, Io& io, std::stop_token stop,
                       std::optional<SimdLevel> begin_at)
    : index(data::open_index(data::index_options_of(settings), io, std::move(stop))) {
  place = find_cache_location(settings, data::FeatureIdentity(settings).features, io);
  const std::optional<Manifest> have = manifest_in(io, place.folder);
  const SimdLevel level =
      level_for(have ? &*have : nullptr, place.folder, begin_at).take_or_raise();
  use_level(settings, level, io);
}

void WantedData::use_level(const config::Settings& settings, SimdLevel level, Io& io) {
  target_.reset();  // refers to the spec
  spec_ = std::make_unique<data::FeatureSpec>(settings, index, level);
  target_ = std::make_unique<CacheTarget>(settings, *spec_, io);
}

void check_cache_settings(const Manifest& have, const Manifest& want, const CacheLocation& place,
                          const PrecomputeOptions& options) {
  const std::vector<SettingDifference> differences = compare_settings(have, want);
  if (differences.empty()) return;
  const bool features_differ = have.features != want.features;
  const bool refuse = options.overwrite == Overwrite::kNo &&
                      (place.kind == LocationKind::kExplicit || features_differ);
  if (refuse || options.overwrite == Overwrite::kYes)
    for (const std::string& line : difference_table(differences)) tell(options.say, line);
  if (refuse) raise(settings_error(place.folder, differences));
  if (options.overwrite == Overwrite::kNo)
    tell(options.say, "the text settings changed: tokens are made again, features stay");
}

std::uint64_t rejects_left(const config::DataSettings& settings, const data::IndexCounts& counts) {
  if (settings.bad_inputs == config::BadInputs::kFail) return 0;
  const auto by_share =
      static_cast<std::uint64_t>(settings.max_bad_fraction * static_cast<double>(counts.rows));
  const std::uint64_t allowed =
      std::max(by_share, static_cast<std::uint64_t>(settings.max_bad_rows));
  return allowed - std::min(allowed, counts.rejected);
}

namespace {

// Another builder may have begun the cache, at another level, while this one waited for the lock.
void look_again(const config::Settings& settings, const File& folder, Io& io,
                const PrecomputeOptions& options, WantedData& data) {
  Result<Manifest> have = load_manifest(folder);
  if (!have && !proves_damage(have.error())) raise(std::move(have).error());
  if (!have) return;
  const SimdLevel level = level_for(&*have, folder.path(), options.begin_at).take_or_raise();
  if (level != data.level()) data.use_level(settings, level, io);
  check_cache_settings(*have, data.target().head, data.place, options);
}

void tell_damage(const PrecomputeOptions& options, const BuildReport& report) {
  for (const Error& fault : report.damage) tell(options.warn, error_line(fault));
  for (const Error& fault : report.unread) tell(options.warn, error_line(fault));
}

File open_place(const CacheLocation& place, Io& io, const PrecomputeOptions& options) {
  if (place.kind == LocationKind::kFallback)
    tell(options.say,
         fmt::format("the data folder cannot be written; the cache goes to {}", place.folder));
  if (Result<void> made = make_folders(io, place.folder); !made) raise(unwritable(made.error()));
  File folder = open_file(io, place.folder, OpenFor::kFolder).take_or_raise();
  tell(options.warn, mode_warning(folder));
  return folder;
}

}  // namespace

PrecomputeReport precompute(const config::Settings& settings, Io& io,
                            const PrecomputeOptions& options) {
  WantedData data(settings, io, options.stop, options.begin_at);
  return precompute(settings, data, io, options);
}

PrecomputeReport precompute(const config::Settings& settings, WantedData& data, Io& io,
                            const PrecomputeOptions& options) {
  PrecomputeReport report;
  report.place = data.place;
  report.voices = data::voices_text(data.index);
  const File folder = open_place(data.place, io, options);
  const CacheLock lock = CacheLock::take(folder, lock_options_of(options)).take_or_raise();
  look_again(settings, folder, io, options, data);

  std::vector<BuildReject> rejects;
  BuildOptions build;
  build.num_workers = options.num_workers;
  build.max_rejects = rejects_left(settings.data, data.index.counts());
  build.rebuild = options.rebuild;
  build.check_bytes = options.check_bytes;
  build.stop = options.stop;
  build.progress = options.progress;
  build.on_reject = [&](const BuildReject& reject) { rejects.push_back(reject); };
  report.rejects_file =
      options.rejects_file.empty() ? data.place.folder + "/rejects.jsonl" : options.rejects_file;
  try {
    report.build = build_cache(folder, data.target(), build);
  } catch (const DataError&) {
    write_rejects(folder, options, data::rejects_jsonl(all_rejects(data, rejects)));
    throw;
  }
  tell_damage(options, report.build);
  write_rejects(folder, options, data::rejects_jsonl(all_rejects(data, report.build.rejects)));
  publish_if_changed(folder, "config.yaml", config_text(settings));
  data.index.check_unchanged().take_or_raise();
  report.counts = data.index.counts();
  report.counts.accepted -= std::min(report.counts.accepted, report.build.num_rejected_rows);
  report.counts.rejected += report.build.num_rejected_rows;
  return report;
}

}  // namespace stoker::cache
