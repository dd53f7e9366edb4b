// Measures for the demo what the first GPU of this machine gets.
#pragma once

#include <stop_token>
#include <string>

#include "stoker/demo/gpu_section.h"

namespace stoker::demo {

// The data set must be checked already; builds its caches where they are missing. Throws what the
// benchmarks throw.
DemoGpu measure_demo_gpu(const std::string& data_folder, const std::stop_token& stop);

}  // namespace stoker::demo
