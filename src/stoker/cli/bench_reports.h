// Parts of `stoker bench` that are long enough for files of their own.
#pragma once

#include <string>

#include "stoker/base/error.h"
#include "stoker/bench/feed_bench.h"
#include "stoker/observe/report/run_story.h"

namespace stoker::cli {

class CommandContext;

// The rows of `bench feed` as JSON and as a table. One row is at the top of the JSON object as
// well; several are told apart under `rows`.
void put_feed_report(CommandContext& context, const bench::FeedBenchReport& report);

// The rows as a report shows them: what was measured on `data`.
observe::RunStory story_of_rows(const bench::FeedBenchReport& report, const std::string& data);

// What a log of the tuner leads to when it is played again.
void put_tuner_replay(CommandContext& context, const feed::TunerReplay& replay);

struct MelDeviceArguments {
  std::string preset = "hifigan";  // or "all"
  std::string variant = "auto";
  int device = 0;
};

// `bench mel --device cuda`.
ExitCode run_device_mel_bench(CommandContext& context, const MelDeviceArguments& arguments);

}  // namespace stoker::cli
