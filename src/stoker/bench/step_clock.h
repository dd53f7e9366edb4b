// Times a consumer's steps on the GPU itself: how long each took, and what it waited for before.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "stoker/cuda/event.h"

namespace stoker::bench {

struct StepTimes {
  std::vector<double> steps_s;      // from the batch being there to the end of the work
  std::vector<double> intervals_s;  // from the end of one step to the end of the next
  double wait_s = 0;  // from the end of one step to the next batch being there, summed

  double busy_s() const;
  double median_step_s() const;  // 0 without a step
};

// One thread, one stream.
class StepClock {
 public:
  // `steps_ahead`: how many steps the host may be ahead of the GPU.
  StepClock(int device, std::size_t steps_ahead);

  void begin(cuda::StreamView stream);
  void end(cuda::StreamView stream);  // waits while the host is too far ahead
  // Waits for every step; what was timed since the last call.
  StepTimes finish();

 private:
  struct Marks {
    explicit Marks(int device)
        : begin(device, cuda::EventUse::kTiming), end(device, cuda::EventUse::kTiming) {}
    cuda::Event begin;
    cuda::Event end;
  };
  Marks& marks(std::uint64_t step) { return marks_[step % marks_.size()]; }
  void read_oldest();

  std::size_t steps_ahead_;
  std::deque<Marks> marks_;
  std::uint64_t num_begun_ = 0, num_read_ = 0, first_ = 0;
  StepTimes times_;
};

}  // namespace stoker::bench
