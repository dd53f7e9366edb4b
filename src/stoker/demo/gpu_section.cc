#include "stoker/demo/gpu_section.h"

#include <fmt/format.h>

#include <array>

#include "stoker/base/number_text.h"

namespace stoker::demo {
namespace {

std::string rate_text(double clips_per_s) {
  return grouped(static_cast<std::uint64_t>(clips_per_s)) + " clips/s";
}

std::string share_text(const DemoGpuWay& way) {
  return way.share_of_limit > 0
             ? fmt::format("{:.0f} % of: {}", 100 * way.share_of_limit, way.limit)
             : way.limit;
}

}  // namespace

std::string way_text(const DemoGpuWay& way) {
  return rate_text(way.clips_per_s) + (way.limit.empty() ? "" : ", " + share_text(way));
}

void add_gpu(HtmlReport& page, const DemoGpu& gpu) {
  page.open_section("Onto the GPU");
  page.add_paragraph(
      fmt::format("The same data set as batches in the memory of the {}, by each way there is; a "
                  "consumer takes them as fast as they come. Each figure stands beside the limit "
                  "that was measured with it.",
                  gpu.name));
  const std::array figures{KeyFigure{.label = "log-mel on the GPU, samples already there",
                                     .value = rate_text(gpu.mel_clips_per_s)}};
  page.add_key_figures(figures);
  ReportTable table{.caption = "batches on the GPU",
                    .header = {"way", "clips a second", "share of the limit"}};
  for (const DemoGpuWay& way : gpu.ways) {
    table.rows.push_back(
        {way.name, grouped(static_cast<std::uint64_t>(way.clips_per_s)), share_text(way)});
  }
  page.add_table(table);
}

}  // namespace stoker::demo
