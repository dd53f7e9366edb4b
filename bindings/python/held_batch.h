// A batch of the feed in Python's hands, and the list of all that are: who holds which, taken
// where.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "stoker/base/thread/sync.h"
#include "stoker/feed/batch.h"
#include "tensor.h"

namespace stoker::python {

// A line of the program, "train.py:12".
struct CodeLine {
  std::string file;
  int line = 0;
};
// Of the Python frame that runs now. Precondition: the GIL is held.
CodeLine current_line();

struct HeldPlace {
  std::uint64_t epoch = 0;
  std::uint64_t index = 0;
  CodeLine taken;
};

// Thread-safe.
class HeldList {
 public:
  std::uint32_t add(HeldPlace place);
  void remove(std::uint32_t entry);
  std::vector<HeldPlace> now() const;  // oldest first

 private:
  struct Entry {
    bool is_held = false;
    std::uint64_t order = 0;
    HeldPlace place;
  };
  mutable Mutex mutex_;
  std::vector<Entry> entries_ STOKER_GUARDED_BY(mutex_);
  std::uint64_t num_added_ STOKER_GUARDED_BY(mutex_) = 0;
};

// "3 batches are held: epoch 0 batch 4 (train.py:12), …"; empty where none is.
std::string held_text(const std::vector<HeldPlace>& held);

// Ends in any thread. In a process that was forked from the feed's own it is forgotten, not given
// back: the threads that would take it are not there.
class HeldBatch final : public Memory {
 public:
  HeldBatch(feed::Batch batch, std::shared_ptr<HeldList> list, CodeLine taken);
  ~HeldBatch() override;

  feed::Batch& batch() { return *batch_; }
  const feed::Batch& batch() const { return *batch_; }
  void wait(cuda::StreamView stream) override { batch_->wait(stream); }
  void wait_briefly(cuda::StreamView stream) const override { batch_->wait_briefly(stream); }
  void add_reader(cuda::StreamView stream) override { batch_->add_reader(stream); }

 private:
  std::unique_ptr<feed::Batch> batch_;
  std::shared_ptr<HeldList> list_;
  std::uint32_t entry_;
  int process_;
};

// What `_engine.Batch` is: the lease until it is released, and what is asked for often.
struct PythonBatch {
  std::shared_ptr<HeldBatch> held;
  nb::object ids = {};  // made once
};

}  // namespace stoker::python
