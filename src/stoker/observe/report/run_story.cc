#include "stoker/observe/report/run_story.h"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <utility>

#include "stoker/audio/file/page_sound.h"
#include "stoker/base/io/paths.h"
#include "stoker/cache/maintain/cache_check.h"
#include "stoker/config/field_table.h"
#include "stoker/config/load.h"
#include "stoker/feed/records/record_places.h"
#include "stoker/feed/records/record_reader.h"
#include "stoker/observe/errors.h"
#include "stoker/observe/machine/json_lines.h"

namespace stoker::observe {
namespace {

constexpr std::array kMetricKeys{"loss",        "duration",     "prior",         "flow",
                                 "clips_per_s", "frames_per_s", "padding_share", "data_ms",
                                 "compute_ms",  "step_ms",      "stall_share",   "learning_rate"};
constexpr std::array kMachineKeys{"gpu_percent",
                                  "gpu_memory_bytes",
                                  "gpu_memory_total_bytes",
                                  "gpu_power_w",
                                  "gpu_clock_mhz",
                                  "gpu_temperature_c",
                                  "gpu_throttled",
                                  "cpu_cores",
                                  "own_cores",
                                  "other_cores",
                                  "cores_allowed",
                                  "disk_read_bytes_per_s",
                                  "disk_busy_share",
                                  "memory_available_bytes",
                                  "ready_batches"};
constexpr std::size_t kMostRejects = 20;
constexpr std::size_t kMostSounds = 4;
// Base64 makes four bytes of three; the rest of the page needs its room too.
constexpr std::uint64_t kMostSoundBytes = 360'000;
constexpr std::uint64_t kMostFileBytes = 4'000'000;  // of a sound before it is packed

// Lines over one of their members. Where that goes back, as the clock does when a machine starts
// again, what was before belongs to another time and is left out.
Result<FigureColumns> load_columns(Io& io, const std::string& path, std::string_view x_key,
                                   double x_unit, std::span<const char* const> keys) {
  const std::vector<std::string> names(keys.begin(), keys.end());
  FigureColumns columns(names);
  double last_x = -1e300;
  std::vector<std::optional<double>> values(keys.size());
  const Result<std::uint64_t> read = read_json_lines(io, path, [&](const Json& line) {
    const std::optional<double> x = number_in(line, x_key);
    if (!x) return;
    if (x_unit * *x < last_x) columns = FigureColumns(names);
    last_x = x_unit * *x;
    for (std::size_t i = 0; i < keys.size(); ++i) values[i] = number_in(line, keys[i]);
    columns.add(last_x, values);
  });
  if (!read) return read.error();
  return columns;
}

Result<FigureColumns> try_metrics(Io& io, const std::string& path) {
  return load_columns(io, path, "step", 1.0, kMetricKeys);
}

Result<FigureColumns> try_machine(Io& io, const std::string& path) {
  return load_columns(io, path, "at_ns", 1e-9, kMachineKeys);
}

// Nothing where it cannot be read or has no room.
std::optional<std::vector<std::byte>> packed_sound(const File& file, std::uint64_t most_bytes) {
  const Result<std::vector<std::byte>> whole = read_whole(file, kMostFileBytes);
  if (!whole) return std::nullopt;
  std::vector<std::byte> sound = audio::page_sound(*whole);
  if (sound.size() > most_bytes) return std::nullopt;
  return sound;
}

// Fills a story from a folder; each part by itself, so that one that is broken hides no other.
class StoryLoader {
 public:
  StoryLoader(Io& io, std::string folder) : io_(io), folder_(std::move(folder)) {
    story_.subject = folder_;
  }

  RunStory load() {
    const File opened = open_file(io_, folder_, OpenFor::kFolder).take_or_raise();
    for (const FolderEntry& entry : list_folder(opened).take_or_raise())
      names_.push_back(entry.name);
    part(std::string(feed::kRunRecordsName),
         [this](const std::string& path) { load_records(path); });
    part("metrics.jsonl", [this](const std::string& path) {
      story_.metrics = try_metrics(io_, path).take_or_raise();
    });
    part("machine.jsonl", [this](const std::string& path) {
      story_.machine = try_machine(io_, path).take_or_raise();
    });
    part("config.yaml", [this](const std::string& path) { load_config(path); });
    if (num_found_ == 0) {
      raise({.code = &kReportEmpty,
             .place = {.file = folder_},
             .promised = "records.ring, metrics.jsonl, machine.jsonl or config.yaml of a run",
             .found = "none of them"});
    }
    load_sounds();
    return std::move(story_);
  }

 private:
  // A file that is absent or broken is missing, and nothing else happens.
  void part(const std::string& name, const std::function<void(const std::string&)>& load) {
    if (std::find(names_.begin(), names_.end(), name) == names_.end()) {
      story_.missing.push_back({name});
      return;
    }
    ++num_found_;
    try {
      load(folder_ + "/" + name);
    } catch (const Failure& failure) {
      story_.missing.push_back({name, error_line(failure.error())});
    }
  }

  void load_records(const std::string& path) {
    const feed::RecordReader reader = feed::RecordReader::open(path, io_).take_or_raise();
    std::vector<feed::BatchRecord> records;
    static_cast<void>(reader.read_since(0, records).take_or_raise());
    story_.num_batches = reader.num_written().take_or_raise();
    story_.status = reader.has_ended().take_or_raise() ? RunStatus::kFinished
                    : reader.is_written()              ? RunStatus::kRunning
                                                       : RunStatus::kKilled;
    if (records.empty()) {
      story_.missing.push_back({std::string(feed::kRunRecordsName), "no batch was handed out yet"});
      return;
    }
    story_.watched = diagnose_records(std::move(records));
  }

  void load_config(const std::string& path) {
    const config::Settings settings = config::load_settings({.file = path}).settings;
    const config::Settings usual;
    for (const config::FieldInfo& field : config::all_fields()) {
      const std::string value = field.json(settings), by_default = field.json(usual);
      if (value != by_default) story_.settings.push_back({field.path, value, by_default});
    }
    if (!settings.observe.text2audio_output_dir.empty())
      sounds_folder_ = settings.observe.text2audio_output_dir;
    if (settings.data.path.empty() && settings.cache.dir.empty()) return;
    try {
      load_rejects(cache::cache_folder_of(settings, io_) + "/rejects.jsonl");
    } catch (const Failure& failure) {
      story_.missing.push_back({"rejects.jsonl", error_line(failure.error())});
    }
  }

  // A cache without rejects has no such file.
  void load_rejects(const std::string& path) {
    const Result<std::optional<FileInfo>> info = info_if_present(io_, AT_FDCWD, path);
    if (!info || !*info) return;
    static_cast<void>(read_json_lines(io_, path, [this](const Json& line) {
                        ++story_.num_rejects;
                        if (story_.rejects.size() == kMostRejects) return;
                        story_.rejects.push_back({text_in(line, "file"), text_in(line, "code"),
                                                  "expected " + text_in(line, "promised") +
                                                      ", found " + text_in(line, "found")});
                      }).take_or_raise());
  }

  // The newest; names hold the step, so that their order is that of time.
  void load_sounds() {
    const std::string folder = sounds_folder_.empty() ? folder_ + "/samples" : sounds_folder_;
    const Result<std::optional<FileInfo>> info = info_if_present(io_, AT_FDCWD, folder);
    if (!info || !*info) return;
    Result<File> opened = open_file(io_, folder, OpenFor::kFolder);
    if (!opened) return;
    const File open = std::move(opened).take_or_raise();
    std::vector<std::string> files;
    for (const FolderEntry& entry : list_folder(open).take_or_raise())
      if (entry.name.ends_with(".wav")) files.push_back(entry.name);
    std::uint64_t left_bytes = kMostSoundBytes;
    for (auto name = files.rbegin(); name != files.rend(); ++name) {
      Result<File> file = open_beneath(open, *name, OpenFor::kRead);
      if (!file) continue;
      std::optional<std::vector<std::byte>> sound;
      if (story_.sounds.size() < kMostSounds) sound = packed_sound(*file, left_bytes);
      if (!sound) {
        ++story_.num_more_sounds;
        continue;
      }
      left_bytes -= sound->size();
      story_.sounds.push_back({*name, std::move(*sound)});
    }
  }

  Io& io_;
  std::string folder_;
  std::vector<std::string> names_;
  std::string sounds_folder_;
  std::size_t num_found_ = 0;
  RunStory story_;
};

}  // namespace

FigureColumns load_metrics(Io& io, const std::string& path) {
  return try_metrics(io, path).take_or_raise();
}

FigureColumns load_machine(Io& io, const std::string& path) {
  return try_machine(io, path).take_or_raise();
}

RunStory load_run_story(Io& io, const std::string& folder) {
  return StoryLoader(io, folder).load();
}

RunStory story_of(DiagnoseReport report) {
  RunStory story;
  story.subject = report.evidence.setup.data;
  story.num_batches = report.evidence.watch.records.size();
  story.watched = std::move(report);
  return story;
}

}  // namespace stoker::observe
