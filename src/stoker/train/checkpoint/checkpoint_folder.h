// One checkpoint's folder: its names, writing it whole, reading it, removing it.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/train/checkpoint/checkpoint_state.h"
#include "stoker/train/checkpoint/run_folder.h"

namespace stoker::train {

inline constexpr std::string_view kCheckpointsName = "checkpoints";
// A checkpoint that is being replaced by another of its step has this behind its name until the
// other one is in place.
inline constexpr std::string_view kOldSuffix = ".old";

struct CheckpointEntry {
  std::string name;
  std::uint64_t step = 0;
  bool is_old = false;
};
// Nothing for other names.
std::optional<CheckpointEntry> parse_checkpoint_name(std::string_view name);
// Newest first; of two with one step the replaced one last.
Result<std::vector<CheckpointEntry>> list_checkpoints(const File& checkpoints);

// A new folder `name` in `checkpoints` with all files: synced, read again and compared. What is
// there after an error is for the caller to remove.
Result<void> write_checkpoint(const File& checkpoints, const std::string& name,
                              const Checkpoint& checkpoint);

Result<CheckpointState> read_state(const File& folder);
Result<Checkpoint> read_checkpoint(const File& folder, CheckpointParts parts);
// Every byte of every file, with little memory.
Result<void> verify_checkpoint(const File& folder);
// Whether an error of those above says that the checkpoint is damaged, and not that the process
// lacks memory, handles or permission to look.
bool says_damage(const Error& error);

// With all that it holds, by way of a temporary name: a half-removed folder looks like litter.
Result<void> remove_checkpoint(const File& checkpoints, const std::string& name);

// What the rule judges by.
struct CheckpointMark {
  std::uint64_t step = 0;
  double figure = 0;
  bool is_evaluated = false;
};
// `saved` and the newest by step; besides the lowest figure, an evaluation's where there is one,
// the newer of equal ones.
std::set<std::uint64_t> steps_to_keep(const std::vector<CheckpointMark>& marks, std::uint64_t saved,
                                      const KeepRule& rule);

}  // namespace stoker::train
