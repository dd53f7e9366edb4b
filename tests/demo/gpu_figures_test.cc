// What the demo says of a GPU.
#include "stoker/demo/gpu_figures.h"

#include <gtest/gtest.h>

namespace stoker::demo {
namespace {

TEST(GpuFiguresTest, EveryPathIsShownWithItsLimit) {
  const DemoGpu gpu{.name = "Card X",
                    .mel_clips_per_s = 1'234'567,
                    .paths = {{"cached: mels", 400'000, "bus 55.0 GB/s", 0.91},
                              {"resident", 900'000, "none", 0}}};
  HtmlReport page("t", "s");
  add_gpu(page, gpu);
  const std::string html = page.finish();
  for (const char* wanted : {"Card X", "1,234,567 clips/s", "400,000", "91 % of: bus 55.0 GB/s",
                             "resident", "900,000"}) {
    EXPECT_NE(html.find(wanted), std::string::npos) << wanted;
  }
}

TEST(GpuFiguresTest, APathIsOneLine) {
  EXPECT_EQ(path_text({"cached", 400'000, "bus", 0.914}), "400,000 clips/s, 91 % of: bus");
  EXPECT_EQ(path_text({"resident", 1'000, "none", 0}), "1,000 clips/s, none");
  EXPECT_EQ(path_text({"x", 1'000, "", 0}), "1,000 clips/s");
}

}  // namespace
}  // namespace stoker::demo
