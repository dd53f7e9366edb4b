// The rows of the feed's benchmark as JSON and as a table.
#pragma once

#include "stoker/bench/feed_bench.h"

namespace stoker::cli {

class CommandContext;

// One row stands at the top of the JSON object as well; several are told apart under `rows`.
void put_feed_report(CommandContext& context, const bench::FeedBenchReport& report);

// What a log of the tuner leads to when it is played again.
void put_tuner_replay(CommandContext& context, const feed::TunerReplay& replay);

}  // namespace stoker::cli
