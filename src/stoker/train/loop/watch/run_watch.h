// What a training leaves about its machine while it runs: machine.jsonl, the figures for
// TensorBoard, and a trace where one is asked for.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "stoker/base/thread/sync.h"
#include "stoker/observe/machine/machine_log.h"
#include "stoker/observe/machine/machine_sampler.h"
#include "stoker/observe/trace/trace_recorder.h"
#include "stoker/train/loop/run_start.h"

namespace stoker::train {

// One line every observe.sample_interval, on a thread of its own. Nothing that it does changes a
// step. Figures that cannot be read or written are told once and end nothing; a trace that cannot
// be opened ends the start.
class RunWatch {
 public:
  static constexpr const char* kThreadName = "run-watch";

  // E-TRAIN-SETTINGS for a trace without records, and what opening the trace gives.
  RunWatch(const config::Settings& settings, const StartedRun& run, const TrainingHooks& hooks);
  ~RunWatch();
  RunWatch(const RunWatch&) = delete;
  RunWatch& operator=(const RunWatch&) = delete;

  struct Reading {
    std::uint64_t number = 0;  // from 1 on
    observe::MachineWindow machine{};
    std::optional<std::uint32_t> num_ready{};
  };
  // The newest one; nothing where it is not newer than `number`.
  std::optional<Reading> newer_than(std::uint64_t number) const;
  // What went wrong since the last call, for the thread that may tell it.
  std::optional<Error> take_failure();

  // Ends lines and trace. Where there is a trace, what came of it.
  std::optional<observe::TraceSummary> finish();

 private:
  void start_trace(const config::Settings& settings, const StartedRun& run);
  void watch(const std::stop_token& stop);
  // A look at the GPU's bus takes milliseconds, and a disk may be slow: nobody waits for it.
  void read();
  std::optional<std::uint32_t> num_ready() const;

  const TrainingHooks& hooks_;
  std::chrono::nanoseconds every_;
  mutable Mutex mutex_;
  ConditionVariable ended_;
  std::optional<Error> failure_ STOKER_GUARDED_BY(mutex_);
  std::optional<Reading> latest_ STOKER_GUARDED_BY(mutex_);
  // Of the thread alone, while it runs.
  std::optional<feed::RecordReader> records_;
  std::optional<observe::MachineLog> log_;
  std::uint64_t num_readings_ = 0;
  std::chrono::nanoseconds read_at_{};
  std::unique_ptr<observe::MachineSampler> sampler_;
  std::unique_ptr<observe::TraceRecorder> trace_;
  Thread thread_;  // last: ends first
};

// What came of a trace: a line, warnings, and the keys of the result.
void tell_trace(const TrainingHooks& hooks, const std::string& path,
                const observe::TraceSummary& trace, Json& result);

// The page of the run, where observe.report names a file; after the run has ended, so that the page
// says so. A page that cannot be written is no reason to call the training a failure.
void write_report(const config::Settings& settings, const TrainingHooks& hooks, Json& result);

}  // namespace stoker::train
