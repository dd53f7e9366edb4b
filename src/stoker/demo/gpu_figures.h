// What the first GPU of this machine gets: how fast batches reach it from each source, beside the
// limit of each; measured, and shown on the demo's page.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "stoker/base/report/html_report.h"

namespace stoker::demo {

struct DemoGpuPath {
  std::string name;  // "pcm: mel on GPU 0 from PCM16"
  double clips_per_s = 0;
  std::string limit;          // what it is up against
  double share_of_limit = 0;  // 0: no limit was measured
};

struct DemoGpu {
  std::string name;
  double mel_clips_per_s = 0;  // log-mel alone, samples in GPU memory
  std::vector<DemoGpuPath> paths;
};

// The data set must be checked already; builds its caches where they are missing. Throws what the
// benchmarks throw.
DemoGpu measure_demo_gpu(const std::string& data_folder, const std::stop_token& stop);

void add_gpu(HtmlReport& page, const DemoGpu& gpu);

// "1,234 clips/s, 91 % of: pinned H2D 55.0 GB/s", the share only where there is one.
std::string path_text(const DemoGpuPath& path);

}  // namespace stoker::demo
