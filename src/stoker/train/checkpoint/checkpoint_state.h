// state.json of a checkpoint: the seals of the other files beside what the trainer keeps, and a
// digest over itself.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "stoker/base/json.h"
#include "stoker/base/result.h"
#include "stoker/train/checkpoint/tensor_file.h"

namespace stoker::train {

inline constexpr std::string_view kStateName = "state.json";
inline constexpr std::string_view kModelName = "model.safetensors";
inline constexpr std::string_view kEmaName = "ema.safetensors";
inline constexpr std::string_view kOptimizerName = "optimizer.safetensors";
inline constexpr std::array kTensorNames{kModelName, kEmaName, kOptimizerName};
inline constexpr std::uint64_t kMaxStateBytes = std::uint64_t{4} << 20U;

struct CheckpointState {
  std::uint64_t step = 0;
  double figure = 0;  // not a number where it was none when written
  bool is_evaluated = false;
  std::map<std::string, FileSeal, std::less<>> files;  // of kTensorNames
  Json state = Json::object();
};

std::string render_state(const CheckpointState& state);
// E-CHECKPOINT-BAD, or E-CHECKPOINT-VERSION for a newer one, whose digest is right.
Result<CheckpointState> parse_state(std::string_view text, const std::string& file);

}  // namespace stoker::train
