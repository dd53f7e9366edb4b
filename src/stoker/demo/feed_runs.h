// The demo's race: the same consumer fed by the naive loader, by the native one from sound files,
// and by the native one from its cache.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "stoker/base/io/io.h"
#include "stoker/base/report/html_report.h"
#include "stoker/observe/statistics.h"

namespace stoker::demo {

struct DemoLoader {
  std::string name;                 // "naive", "native from files", "native from cache"
  std::vector<double> intervals_s;  // from batch to batch, as the consumer saw them
  observe::IntervalStatistics statistics{};
  double clips_per_s = 0;       // at the consumer's pace
  double most_clips_per_s = 0;  // as fast as possible
  double stall_share = 0;       // time the consumer waited
  double cpu_s_per_1000_clips = 0;
};

struct DemoRace {
  double step_ms = 0;  // of the consumer
  double build_s = 0;  // of the cache that the last loader reads
  std::vector<DemoLoader> loaders;
};

// Builds the cache of `data_folder`, then runs the loaders in the order of their names above.
DemoRace race_loaders(Io& io, const std::string& data_folder, const std::stop_token& stop);

void add_race(HtmlReport& page, const DemoRace& race);

}  // namespace stoker::demo
