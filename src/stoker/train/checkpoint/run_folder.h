// A run on disk: its lock, and its checkpoints, each published whole or not at all.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "stoker/base/io/io.h"
#include "stoker/base/json.h"
#include "stoker/train/checkpoint/tensor_file.h"

namespace stoker::train {

inline constexpr int kCheckpointFormat = 1;  // the "version" in state.json

// What state.json holds besides version, step and the digests of the other files, which the
// checkpoint adds itself: docs/format/checkpoint.md.
struct Checkpoint {
  std::uint64_t step = 0;
  double figure = 0;          // what "best" is judged by: the evaluation's loss, else the step's
  bool is_evaluated = false;  // `figure` is an evaluation's
  TensorSet model;
  TensorSet ema;
  TensorSet optimizer;
  Json state = Json::object();
};

struct KeepRule {
  std::uint64_t num_last = 5;  // newest ones; the best one is kept besides
};

// "step-00001200"
std::string checkpoint_name(std::uint64_t step);

// One process at a time: the lock dies with it. Not thread-safe, but save() may run on another
// thread than the one that made it.
class RunFolder {
 public:
  // Makes what is absent, takes the lock, removes what an interrupted save left. E-TRAIN-LOCKED
  // names the process that has it, E-IO-… what the file system says.
  static Result<RunFolder> open(Io& io, const std::string& path);
  RunFolder(RunFolder&&) noexcept;
  RunFolder& operator=(RunFolder&&) noexcept;
  ~RunFolder();

  const std::string& path() const;
  // Steps of the checkpoints that are there, ascending; whole or not. Not during a save.
  Result<std::vector<std::uint64_t>> steps() const;

  // Temporary folder, files, fsync, read again and compared, rename, fsync; then checkpoints that
  // the rule does not keep are removed. After an error, or a kill at any call, every checkpoint
  // that was there before still is, or has been replaced by this one. What cannot be removed is
  // logged and tried again by the next save; damaged ones stay.
  Result<void> save(const Checkpoint& checkpoint, const KeepRule& keep);

 private:
  struct State;
  explicit RunFolder(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

struct FoundCheckpoint {
  Checkpoint checkpoint;
  std::string folder;                    // of the step
  std::vector<std::string> passed_over;  // error lines of newer ones that are not whole
};

// kAverages: `ema` and `state` alone, which is all that speaking needs; other files are not opened.
enum class CheckpointParts { kAll, kAverages };

// `path`: a run folder, its checkpoints folder, or one step's folder. The newest whole one of
// several; one of a newer version is no reason to go back to an older one, but
// E-CHECKPOINT-VERSION. E-CHECKPOINT-MISSING where there is none; for one step's folder what is
// wrong with it. Needs no lock.
Result<FoundCheckpoint> load_checkpoint(Io& io, const std::string& path,
                                        CheckpointParts parts = CheckpointParts::kAll);

}  // namespace stoker::train
