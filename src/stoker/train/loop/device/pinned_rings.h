// Page-locked memory that the host writes ahead of a GPU, or a GPU ahead of the host, in turns: the
// loop neither allocates nor waits while it keeps within their lengths.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "stoker/cuda/event.h"
#include "stoker/cuda/pinned_buffer.h"
#include "stoker/cuda/stream.h"
#include "stoker/train/loop/device/update_flat.h"
#include "stoker/train/loop/learner.h"

namespace stoker::train {

// What the host writes and kernels read. One thread.
class StagingRing {
 public:
  StagingRing(int device, std::size_t length);
  ~StagingRing();
  StagingRing(const StagingRing&) = delete;
  StagingRing& operator=(const StagingRing&) = delete;

  // Memory that no kernel reads any more; waits for the one that does. Grows where it must.
  std::byte* take(std::size_t size_bytes);
  // After the last kernel that reads what take() gave.
  void pass_to(cuda::StreamView stream);

 private:
  struct Part {
    cuda::PinnedBuffer memory;
    cuda::Event is_read;
  };
  std::vector<Part> parts_;
  std::size_t next_ = 0;
};

// Figures of updates, in order. One thread.
class FigureRing {
 public:
  FigureRing(int device, std::size_t length);
  ~FigureRing();
  FigureRing(const FigureRing&) = delete;
  FigureRing& operator=(const FigureRing&) = delete;

  // Where the next update writes its figures; waits where the device is a ring's length behind.
  DeviceFigures* next();
  // After the kernel that writes them.
  void submit(std::uint64_t update, cuda::StreamView stream);
  std::vector<UpdateFigures> take(Learner::Wait wait);
  void forget();  // what was submitted; waits for it

 private:
  struct Submitted {
    std::uint64_t update = 0;
    std::size_t slot = 0;
  };
  bool move_first(Learner::Wait wait);

  cuda::PinnedBuffer memory_;
  std::vector<cuda::Event> is_written_;
  std::deque<Submitted> submitted_;
  std::vector<UpdateFigures> taken_;
  std::size_t next_ = 0;
};

UpdateFigures figures_from(const DeviceFigures& figures, std::uint64_t update);

}  // namespace stoker::train
