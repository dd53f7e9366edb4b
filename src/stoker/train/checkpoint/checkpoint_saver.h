// Saves checkpoints on a thread of its own, so that training goes on meanwhile.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "stoker/base/error.h"
#include "stoker/train/checkpoint/run_folder.h"

namespace stoker::train {

struct SaverStats {
  std::uint64_t num_saved = 0;
  std::uint64_t num_failed = 0;
  std::optional<std::uint64_t> last_step{};  // that is on disk
  std::optional<Error> last_error{};         // of the last try, where it failed
  double last_save_s = 0;
};

// One thread calls it. A save that fails stops nothing: it is counted and logged as a warning, and
// the next submit() tries again with the newer checkpoint.
class CheckpointSaver {
 public:
  CheckpointSaver(RunFolder folder, const KeepRule& keep);
  ~CheckpointSaver();  // waits for the save in progress

  // Takes the checkpoint; where one is still being written, waits for it first, so that at most two
  // are in memory.
  void submit(Checkpoint checkpoint);
  // Waits until nothing is being written.
  void wait();
  SaverStats stats() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace stoker::train
