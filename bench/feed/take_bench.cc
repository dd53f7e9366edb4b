// What a consumer pays for a batch that is ready: giving back the one it held and taking the next.
// Between them is a step of a tenth of a millisecond, in which the workers fill what was taken.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <vector>

#include "stoker/feed/feed.h"
#include "stoker/pipeline/pipeline.h"
#include "tests/feed/synthetic_source.h"
#include "tests/pipeline/counting_filler.h"

namespace stoker {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::microseconds kStep{100};
constexpr unsigned kDepth = 32;
constexpr int kTakes = 3000;

bool all_right = true;

void pass_step() {
  const steady_clock::time_point end = steady_clock::now() + kStep;
  while (steady_clock::now() < end) {
  }
}

double nanoseconds_at(std::vector<double>& sorted_s, double share) {
  return sorted_s.empty() ? 0
                          : 1e9 * sorted_s[static_cast<std::size_t>(
                                      share * static_cast<double>(sorted_s.size() - 1))];
}

// Times take() alone. The median is what counts: a mean would be that of the few for which a thread
// was woken. A batch out of order must not count.
template <class Take>
void time_takes(benchmark::State& state, Take take) {
  std::vector<double> times_s;
  std::uint64_t expected = 0;
  for (auto _ : state) {
    pass_step();
    const steady_clock::time_point begin = steady_clock::now();
    const std::uint64_t found = take();
    const steady_clock::time_point end = steady_clock::now();
    times_s.push_back(std::chrono::duration<double>(end - begin).count());
    state.SetIterationTime(times_s.back());
    if (found == expected++) continue;
    all_right = false;
    state.SkipWithError("not the next batch");
    return;
  }
  std::sort(times_s.begin(), times_s.end());
  state.counters["p50_ns"] = nanoseconds_at(times_s, 0.5);
  state.counters["p90_ns"] = nanoseconds_at(times_s, 0.9);
  state.counters["p99_ns"] = nanoseconds_at(times_s, 0.99);
}

void bench_slot(benchmark::State& state) {
  const auto filler =
      std::make_shared<pipeline::CountingFiller>(pipeline::CountingFiller::kEndless);
  pipeline::Pipeline pipeline(
      filler, {.num_workers = static_cast<unsigned>(state.range(0)), .depth = kDepth});
  pipeline::SlotLease held;
  time_takes(state, [&] {
    held.release();
    held = pipeline.next();
    return held.sequence();
  });
}

void bench_batch(benchmark::State& state) {
  feed::FeedSetup setup =
      feed::synthetic_setup(std::make_shared<feed::SyntheticSource>(feed::speech_like_rows(200)));
  setup.order.batch_frames = 10'000;
  setup.loading.num_workers = static_cast<unsigned>(state.range(0));
  setup.loading.depth = kDepth;
  feed::Feed feed(std::move(setup));
  std::optional<feed::Batch> held;
  std::uint64_t num_taken = 0;
  time_takes(state, [&] {
    held.reset();
    held = feed.next();
    if (!held) held = feed.next();
    return held ? num_taken++ : ~std::uint64_t{0};
  });
}

BENCHMARK(bench_slot)->Arg(1)->Arg(2)->Arg(15)->UseManualTime()->Iterations(kTakes);
BENCHMARK(bench_batch)->Arg(1)->Arg(2)->Arg(15)->UseManualTime()->Iterations(kTakes);

}  // namespace
}  // namespace stoker

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return stoker::all_right ? 0 : 1;
}
