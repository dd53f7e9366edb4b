#include "stoker/bench/step_clock.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace stoker::bench {
namespace {

constexpr double kMsPerS = 1e3;

}  // namespace

double StepTimes::busy_s() const { return std::accumulate(steps_s.begin(), steps_s.end(), 0.0); }

double StepTimes::median_step_s() const {
  if (steps_s.empty()) return 0;
  std::vector<double> sorted = steps_s;
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  return *middle;
}

StepClock::StepClock(int device, std::size_t steps_ahead) : steps_ahead_(steps_ahead) {
  // One that is being written, and one before the oldest not yet read.
  for (std::size_t i = 0; i < steps_ahead + 2; ++i) marks_.emplace_back(device);
}

void StepClock::begin(cuda::StreamView stream) { marks(num_begun_).begin.record(stream); }

void StepClock::end(cuda::StreamView stream) {
  marks(num_begun_).end.record(stream);
  ++num_begun_;
  while (num_begun_ - num_read_ > steps_ahead_) read_oldest();
}

void StepClock::read_oldest() {
  const Marks& now = marks(num_read_);
  now.end.synchronize();
  times_.steps_s.push_back(now.end.ms_since(now.begin) / kMsPerS);
  if (num_read_ > first_) {
    const Marks& before = marks(num_read_ - 1);
    times_.wait_s += now.begin.ms_since(before.end) / kMsPerS;
    times_.intervals_s.push_back(now.end.ms_since(before.end) / kMsPerS);
  }
  ++num_read_;
}

StepTimes StepClock::finish() {
  while (num_read_ < num_begun_) read_oldest();
  first_ = num_read_;
  return std::exchange(times_, {});
}

}  // namespace stoker::bench
