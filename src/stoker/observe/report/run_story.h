// Everything that a report tells of a run, gathered from whatever there is of it: records, figures
// of the trainer, samples of the machine, a diagnosis, rows of a benchmark.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stoker/base/io/io.h"
#include "stoker/observe/diagnose/diagnose.h"
#include "stoker/observe/report/figure_columns.h"

namespace stoker::observe {

enum class RunStatus : std::uint8_t { kUnknown, kRunning, kFinished, kKilled };

// A file that would have told more.
struct MissingPart {
  std::string file;
  std::string reason{};  // an error line; empty: it is not there
};

struct StorySetting {
  std::string path;
  std::string value;
  std::string usual;
};

struct StorySound {
  std::string file;              // its name
  std::vector<std::byte> bytes;  // as audio::page_sound() makes them
};

struct StoryReject {
  std::string file;
  std::string code;
  std::string message;
};

// One loader or setting of `stoker bench feed`.
struct BenchRow {
  std::string name;
  double clips_per_s = 0;
  std::string limit{};
  double limit_clips_per_s = 0;  // 0: none is known
  double share_of_limit = 0;
  double stall_share = 0;
  double interval_cv = 0;
  double p50_ms = 0;
  double p99_ms = 0;
};

struct RunStory {
  std::string subject{};  // the run's folder, or the data
  RunStatus status = RunStatus::kUnknown;
  std::optional<DiagnoseReport> watched{};
  std::uint64_t num_batches = 0;  // of the whole run; records are of the last ones
  FigureColumns metrics{};        // over the step
  FigureColumns machine{};        // over the steady clock's seconds
  std::vector<StorySound> sounds{};
  std::size_t num_more_sounds = 0;  // that would have made the page too large
  std::vector<StorySetting> settings{};
  std::vector<StoryReject> rejects{};  // the first of them
  std::size_t num_rejects = 0;
  std::vector<BenchRow> bench{};
  std::vector<MissingPart> missing{};
};

// Of a training's folder, running, finished or killed. What is not there or cannot be read is in
// `missing`; throws only where the folder itself cannot be read (E-REPORT-EMPTY: nothing of a run
// is in it).
RunStory load_run_story(Io& io, const std::string& folder);

// Of what `stoker diagnose` found.
RunStory story_of(DiagnoseReport report);

// The parts, for those who have only one of them. Lines that are cut or broken are left out.
FigureColumns load_metrics(Io& io, const std::string& path);
FigureColumns load_machine(Io& io, const std::string& path);

}  // namespace stoker::observe
