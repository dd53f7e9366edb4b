#include "stoker/feed/assembly/buffer_plan.h"

#include <time.h>

#include <algorithm>

#include "stoker/base/clock.h"
#include "stoker/base/number_text.h"

namespace stoker::feed {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

// Small models take a small batch in about this time; slower ones are covered for longer.
constexpr nanoseconds kShortStep = milliseconds(1);
// The smallest model trains on no more in a second, on the fastest card measured
// (bench/results/train-speed.json).
constexpr double kMostFramesPerS = 8.5e6;
// A garbage collector, a page of cold storage or a neighbour on the core take as much on any
// machine; where threads are seen to be late, worse than what a short look shows must be expected.
constexpr nanoseconds kLeastPause = milliseconds(30);
constexpr int kPausesPerJitter = 4;
constexpr std::uint64_t kFewest = 4;
constexpr nanoseconds kNap = microseconds(500);

nanoseconds shortest_step(std::uint64_t batch_frames) {
  const std::chrono::duration<double> trained(static_cast<double>(batch_frames) / kMostFramesPerS);
  return std::max(kShortStep, std::chrono::duration_cast<nanoseconds>(trained));
}

}  // namespace

BufferPlan plan_buffer(const BufferFacts& facts) {
  const nanoseconds pause = std::max(kLeastPause, kPausesPerJitter * facts.jitter);
  const nanoseconds step = shortest_step(facts.batch_frames);
  const auto covered = static_cast<std::uint64_t>((pause + step - nanoseconds(1)) / step);
  const std::uint64_t wanted = std::max(kFewest, covered + facts.num_workers);
  const std::uint64_t most = facts.memory_bytes / std::max<std::uint64_t>(1, facts.slot_bytes);
  BufferPlan plan{static_cast<unsigned>(std::clamp(most, kFewest, wanted)),
                  std::to_string(covered) + " for a pause of " +
                      std::to_string(std::chrono::duration_cast<milliseconds>(pause).count()) +
                      " ms, " + std::to_string(facts.num_workers) + " being filled"};
  if (most < wanted) plan.reason += "; as many as " + bytes_text(facts.memory_bytes) + " hold";
  return plan;
}

nanoseconds measure_jitter(nanoseconds time) {
  nanoseconds latest{};
  const nanoseconds end = system_clock().now() + time;
  for (nanoseconds now = system_clock().now(); now < end;) {
    const timespec nap{.tv_sec = 0, .tv_nsec = kNap.count()};
    clock_nanosleep(CLOCK_MONOTONIC, 0, &nap, nullptr);
    const nanoseconds woken = system_clock().now();
    latest = std::max(latest, woken - now - kNap);
    now = woken;
  }
  return latest;
}

}  // namespace stoker::feed
