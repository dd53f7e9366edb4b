// What the demo says of a GPU: how fast batches reach it by each way, beside the bus.
#pragma once

#include <string>
#include <vector>

#include "stoker/base/report/html_report.h"

namespace stoker::demo {

struct DemoGpuWay {
  std::string name;  // "mel on GPU 0 from PCM16"
  double clips_per_s = 0;
  std::string limit;          // what it is up against
  double share_of_limit = 0;  // 0: no limit was measured
};

struct DemoGpu {
  std::string name;
  double mel_clips_per_s = 0;  // log-mel alone, samples in GPU memory
  std::vector<DemoGpuWay> ways;
};

void add_gpu(HtmlReport& page, const DemoGpu& gpu);

// "1,234 clips/s, 91 % of: pinned H2D 55.0 GB/s", the share only where there is one.
std::string way_text(const DemoGpuWay& way);

}  // namespace stoker::demo
