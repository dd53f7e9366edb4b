#include "stoker/train/model/model_shape.h"
namespace stoker::train {
ModelShape shape_of(config::ModelSize, std::int64_t num_tokens, std::int64_t num_mels) {
  return {.num_tokens = num_tokens, .num_mels = num_mels};
}
std::uint64_t count_parameters(const ModelShape&) { return 0; }
}  // namespace stoker::train
