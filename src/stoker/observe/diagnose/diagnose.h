// Watches a feed with its consumer, tries what else the same data and machine can do, and judges:
// what `stoker diagnose` runs. Everything that it looks at can be replaced.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "stoker/base/io/io.h"
#include "stoker/config/settings.h"
#include "stoker/feed/open_feed.h"
#include "stoker/observe/diagnose/diagnosis.h"

namespace stoker::observe {

// What takes the batches while the feed is watched. One thread.
class WatchedConsumer {
 public:
  virtual ~WatchedConsumer() = default;
  // Does with the batch what a trainer does, and returns when it would ask for the next one. May
  // keep batches, and may tell the feed what else it did (Feed::note).
  virtual void step(feed::Batch batch, feed::Feed& feed) = 0;
  // Gives back what it keeps: the feed ends soon.
  virtual void rest() {}
};

// What the machine did meanwhile.
class MachineWatch {
 public:
  virtual ~MachineWatch() = default;
  virtual void begin() = 0;
  virtual std::optional<MachineWindow> end() = 0;  // since begin()
};

struct DiagnoseOptions {
  config::Settings settings{};  // device `auto` is resolved already
  Io* io = &system_io();
  // The consumer: its step by time or demand, or an object. Without any it takes all at once.
  std::optional<double> step_s{};
  std::optional<double> demand_clips_per_s{};
  WatchedConsumer* consumer = nullptr;
  MachineWatch* machine = nullptr;  // null: the machine itself
  // Put between the loader and the feed of every run.
  decltype(feed::OpenOptions::wrap) wrap{};
  double budget_s = 60;
  std::optional<std::uint64_t> num_batches{};  // watched at most
  bool applies = false;                        // the first cure that a setting does
  std::stop_token stop{};
  std::function<void(std::string_view)> say = [](std::string_view) {};
};

struct DiagnoseReport {
  Evidence evidence;
  Diagnosis diagnosis;
};

// Throws as open_feed() does. The verdict is `unknown` where hardly a batch came.
DiagnoseReport diagnose(const DiagnoseOptions& options);

// From the records that a training left or writes, without running anything. `path` is a run's
// folder or a file of records. Throws what reading them raises.
DiagnoseReport diagnose_run(const std::string& path, Io& io = system_io());
// The same from records; what they do not hold is taken to be as usual.
DiagnoseReport diagnose_records(std::vector<feed::BatchRecord> records);

// The settings with a cure's changes.
config::Settings with_cure(config::Settings settings, const Cure& cure);

}  // namespace stoker::observe
