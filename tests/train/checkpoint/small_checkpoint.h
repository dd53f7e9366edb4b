// Checkpoints of a few hundred bytes that differ by step and by variant, and the runs that faults
// are planted in.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "stoker/base/io/paths.h"
#include "stoker/base/philox.h"
#include "stoker/train/checkpoint/checkpoint_folder.h"
#include "stoker/train/checkpoint/run_folder.h"

namespace stoker::train {

inline StoredTensor small_tensor(const std::string& name, TensorType type,
                                 std::vector<std::int64_t> shape, std::uint64_t seed) {
  std::size_t size_bytes = bytes_of(type);
  for (const std::int64_t length : shape) size_bytes *= static_cast<std::size_t>(length);
  StoredTensor tensor{name, type, std::move(shape), std::vector<std::byte>(size_bytes)};
  KeyedDraws draws({.seed = seed, .stage = "small tensor", .epoch = 0, .item = 0});
  for (std::byte& byte : tensor.values) byte = static_cast<std::byte>(draws.next_u32());
  return tensor;
}

inline TensorSet small_set(std::uint64_t seed) {
  return {.metadata = {{"format", "pt"}},
          .tensors = {small_tensor("text.weight", TensorType::kF32, {3, 2}, seed),
                      small_tensor("text.bias", TensorType::kBf16, {3}, seed + 1)}};
}

inline Checkpoint small_checkpoint(std::uint64_t step, double figure, std::uint64_t variant = 0) {
  const std::uint64_t seed = 1000 * step + 10 * variant;
  return {.step = step,
          .figure = figure,
          .is_evaluated = true,
          .model = small_set(seed),
          .ema = small_set(seed + 3),
          .optimizer = small_set(seed + 6),
          .state = {{"counters", Json{{"steps", step}}}, {"variant", variant}}};
}

inline bool is_same(const Checkpoint& a, const Checkpoint& b) {
  return a.step == b.step && a.figure == b.figure && a.is_evaluated == b.is_evaluated &&
         a.model == b.model && a.ema == b.ema && a.optimizer == b.optimizer &&
         a.state.dump() == b.state.dump();
}

inline std::vector<std::string> names_in(Io& io, const std::string& path) {
  const File folder = open_file(io, path, OpenFor::kFolder).take_or_raise();
  std::vector<std::string> names;
  const std::vector<FolderEntry> entries = list_folder(folder).take_or_raise();
  for (const FolderEntry& entry : entries) names.push_back(entry.name);
  return names;
}

// Saves `prior`, then what is to be interrupted.
struct Scenario {
  const char* name;
  std::vector<Checkpoint> prior;
  Checkpoint next;
};

inline constexpr KeepRule kOneLast{.num_last = 1};

inline std::vector<Scenario> scenarios() {
  const Checkpoint best = small_checkpoint(10, 0.5);
  const Checkpoint last = small_checkpoint(20, 0.9);
  return {{"the first one", {}, small_checkpoint(10, 0.5)},
          {"one more, one less", {best, last}, small_checkpoint(30, 0.7)},
          {"the same step again", {best, last}, small_checkpoint(20, 0.8, 1)}};
}

inline Result<void> open_and_save(Io& io, const std::string& run,
                                  const std::vector<Checkpoint>& checkpoints) {
  Result<RunFolder> folder = RunFolder::open(io, run);
  if (!folder) return folder.error();
  for (const Checkpoint& checkpoint : checkpoints)
    if (Result<void> saved = folder->save(checkpoint, kOneLast); !saved) return saved;
  return {};
}

// Why what is on disk is neither what was there before nor the new one, or why something with the
// name of a checkpoint is not whole; empty where all is well.
inline std::string fault_of_run(Io& io, const std::string& run, const Scenario& scenario) {
  const Result<FoundCheckpoint> found = load_checkpoint(io, run);
  if (!found) return scenario.prior.empty() ? "" : error_line(found.error());
  for (const std::string& name : names_in(io, run + "/checkpoints")) {
    if (!parse_checkpoint_name(name)) continue;
    const Result<FoundCheckpoint> any = load_checkpoint(io, run + "/checkpoints/" + name);
    if (!any) return error_line(any.error());
  }
  if (is_same(found->checkpoint, scenario.next)) return "";
  if (scenario.prior.empty() || !is_same(found->checkpoint, scenario.prior.back()))
    return "another checkpoint: " + found->folder;
  return "";
}

// Whether the best one is there, which no save of a scenario may touch.
inline std::string fault_of_best(Io& io, const std::string& run, const Scenario& scenario) {
  if (scenario.prior.empty()) return "";
  const Result<FoundCheckpoint> found = load_checkpoint(io, run + "/checkpoints/step-00000010");
  if (!found) return error_line(found.error());
  return is_same(found->checkpoint, scenario.prior.front()) ? "" : "another best one";
}

// A later start: left-overs go, a save works and is found.
inline std::string fault_of_next_start(Io& io, const std::string& run) {
  const Checkpoint later = small_checkpoint(40, 0.6);
  const Result<void> saved = open_and_save(io, run, {later});
  if (!saved) return error_line(saved.error());
  const Result<FoundCheckpoint> found = load_checkpoint(io, run);
  if (!found) return error_line(found.error());
  if (!is_same(found->checkpoint, later)) return "not the later one: " + found->folder;
  for (const std::string& name : names_in(io, run + "/checkpoints")) {
    const std::optional<CheckpointEntry> parsed = parse_checkpoint_name(name);
    if (!parsed || parsed->is_old) return "left over: " + name;
  }
  return "";
}

}  // namespace stoker::train
