// Has the GPU time the copies and kernels of a batch now and then, for the batch's record.
#pragma once

#include <cstdint>
#include <vector>

#include "stoker/cuda/event.h"
#include "stoker/feed/device/setup.h"
#include "stoker/feed/records/batch_recorder.h"

namespace stoker::feed {

// Around the copies of one batch, and around its kernels where it has any.
struct UploadMarks {
  cuda::Event copy_begin, copy_end, kernel_begin, kernel_end;
  bool has_kernels = false;
};

// A mark with a time holds its stream up by microseconds, and reading it is a call: a batch is
// timed when the last one was timed a millisecond ago or more. One thread.
class UploadTimer {
 public:
  UploadTimer(const DeviceSetup& setup, RunRecords records);

  // For the batch that is enqueued next; null: it is not timed.
  UploadMarks* begin(std::uint64_t sequence);
  // Notes the batches that are done by now.
  void collect();

 private:
  struct Timed {
    UploadMarks marks;
    std::uint64_t number = 0;
    std::int64_t begun_ns = 0;
    bool is_free = true;
  };
  void note(const Timed& timed) const;

  RunRecords records_;
  std::vector<Timed> all_;
  std::int64_t last_ns_ = 0;
};

}  // namespace stoker::feed
