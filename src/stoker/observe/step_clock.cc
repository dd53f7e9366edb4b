#include "stoker/observe/step_clock.h"

#include <algorithm>

namespace stoker::observe {
namespace {

constexpr double kSPerNs = 1e-9;

// The GPU's clock may tick backwards by a tick between two multiprocessors.
double seconds_between(std::uint64_t from_ns, std::uint64_t to_ns) {
  return to_ns > from_ns ? kSPerNs * static_cast<double>(to_ns - from_ns) : 0;
}

StepTimes times_of(const std::vector<StepMark>& marks) {
  StepTimes times;
  for (std::size_t i = 0; i < marks.size(); ++i) {
    const StepMark& now = marks[i];
    times.steps_s.push_back(seconds_between(now.begin_ns, now.end_ns));
    if (i == 0) continue;
    times.gaps_s.push_back(seconds_between(marks[i - 1].end_ns, now.begin_ns));
    times.intervals_s.push_back(seconds_between(marks[i - 1].end_ns, now.end_ns));
  }
  return times;
}

}  // namespace

void StepTimes::append(const StepTimes& later) {
  steps_s.insert(steps_s.end(), later.steps_s.begin(), later.steps_s.end());
  gaps_s.insert(gaps_s.end(), later.gaps_s.begin(), later.gaps_s.end());
  intervals_s.insert(intervals_s.end(), later.intervals_s.begin(), later.intervals_s.end());
}

double StepTimes::wait_s(double usual_gap_s) const {
  double waited_s = 0;
  for (const double gap_s : gaps_s) waited_s += std::max(0.0, gap_s - usual_gap_s);
  return waited_s;
}

StepClock::StepClock(int device, std::size_t steps_ahead)
    : group_steps_(std::max<std::size_t>(1, steps_ahead / kGroupsAhead)),
      marks_(device, kMostSteps * sizeof(StepMark)) {
  for (std::size_t i = 0; i < kGroupsAhead; ++i) ended_.emplace_back(device);
  cuda::Stream stream(device);
  cuda::system_device_api().fill_bytes(marks_.data(), 0, marks_.size_bytes(),
                                       stream.view().handle());
  stream.synchronize();
}

StepMark* StepClock::begin() { return marks_.as<StepMark>() + num_begun_; }

void StepClock::end(cuda::StreamView stream) {
  if (++num_begun_ % group_steps_ != 0) return;
  cuda::Event& oldest = ended_[num_begun_ / group_steps_ % ended_.size()];
  oldest.synchronize();
  oldest.record(stream);
}

StepTimes StepClock::finish(cuda::StreamView stream) {
  std::vector<StepMark> marks(num_begun_);
  if (marks.empty()) return {};
  cuda::DeviceApi& api = cuda::system_device_api();
  const std::size_t size_bytes = marks.size() * sizeof(StepMark);
  api.copy({.to = marks.data(),
            .from = marks_.data(),
            .size_bytes = size_bytes,
            .kind = cuda::CopyKind::kToHost},
           stream.handle());
  api.fill_bytes(marks_.data(), 0, size_bytes, stream.handle());
  api.synchronize(stream.handle());
  num_begun_ = 0;
  return times_of(marks);
}

}  // namespace stoker::observe
