#include "stoker/cuda/status_text.h"

namespace stoker::cuda {

std::string status_text(int status) { return "CUDA status " + std::to_string(status); }

void forget_last_error() noexcept {}

}  // namespace stoker::cuda
