// Times a consumer's steps on the GPU itself: how long each took, and the time before it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "stoker/cuda/device_buffer.h"
#include "stoker/cuda/event.h"
#include "stoker/cuda/stream.h"

namespace stoker::observe {

// When a step's first block began and its last one ended, by the GPU's own clock. It is in device
// memory, so that taking the time needs nothing from the bus that the feed fills.
struct StepMark {
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;
};

struct StepTimes {
  std::vector<double> steps_s;      // from a step's first block to the end of its last
  std::vector<double> gaps_s;       // from the end of one step to the beginning of the next
  std::vector<double> intervals_s;  // from the end of one step to the end of the next

  void append(const StepTimes& later);
  // What the gaps have in them beyond `usual_gap_s`, which any two kernels in a row need.
  double wait_s(double usual_gap_s) const;
};

// One thread, one stream. Steps write their own times into device memory: an event with a time
// holds the GPU up, for 1.5 us on an H200 and for 7 us while the bus is busy.
class StepClock {
 public:
  // `steps_ahead`: how many steps the host may be ahead of the GPU.
  StepClock(int device, std::size_t steps_ahead);

  bool is_full() const { return num_begun_ == kMostSteps; }
  // For the next step, which the stream gets now; not when full.
  StepMark* begin();
  void end(cuda::StreamView stream);  // waits while the host is too far ahead
  // Waits for every step; what was timed since the last call.
  StepTimes finish(cuda::StreamView stream);

 private:
  static constexpr std::size_t kMostSteps = std::size_t{1} << 20U;
  static constexpr std::size_t kGroupsAhead = 2;

  std::size_t group_steps_;  // after which the host looks: an event after each would be felt
  cuda::DeviceBuffer marks_;
  std::vector<cuda::Event> ended_;  // of the last groups, as a ring
  std::size_t num_begun_ = 0;
};

}  // namespace stoker::observe
