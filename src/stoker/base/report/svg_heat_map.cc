#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "stoker/base/invariant.h"
#include "stoker/base/report/heat_map.h"
#include "stoker/base/report/markup.h"
#include "stoker/base/report/png.h"
#include "stoker/base/report/svg_canvas.h"

namespace stoker {
namespace {

constexpr double kScaleWidth = 14.0;

// Values that are not finite take the lowest colour.
std::uint8_t colour_index(float value, const AxisRange& range) {
  if (!std::isfinite(value) || !(range.high > range.low)) return 0;
  const double share = (value - range.low) / (range.high - range.low);
  return static_cast<std::uint8_t>(std::lround(255.0 * std::clamp(share, 0.0, 1.0)));
}

std::string picture_of(const HeatMap& map, const AxisRange& range) {
  std::vector<std::uint8_t> pixels;
  pixels.reserve(map.values.size());
  // Pictures start at the top, values at the bottom.
  for (std::size_t row = map.num_rows; row-- > 0;)
    for (const float value : map.values.subspan(row * map.num_columns, map.num_columns))
      pixels.push_back(colour_index(value, range));
  return data_uri("image/png", png_from_palette({static_cast<std::uint32_t>(map.num_columns),
                                                 static_cast<std::uint32_t>(map.num_rows)},
                                                pixels, heat_palette()));
}

std::string scale_picture() {
  std::vector<std::uint8_t> pixels(256);
  for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<std::uint8_t>(255 - i);
  return data_uri("image/png", png_from_palette({1, 256}, pixels, heat_palette()));
}

void add_image(SvgCanvas& canvas, const PlotArea& at, const std::string& uri) {
  canvas.add(fmt::format(
      R"(<image x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" preserveAspectRatio="none" )"
      R"(style="image-rendering:pixelated" href="{}"/>)",
      at.left, at.top, at.width, at.height, uri));
}

void add_colour_scale(SvgCanvas& canvas, const HeatMap& map, const AxisRange& range) {
  const PlotArea& area = canvas.area();
  const PlotArea at{area.right() + 16.0, area.top, kScaleWidth, area.height};
  add_image(canvas, at, scale_picture());
  for (const Tick& tick : chart_ticks(range.low, range.high, AxisScale::kLinear, 5)) {
    const double share = (tick.value - range.low) / (range.high - range.low);
    canvas.add_text(at.right() + 6.0, at.bottom() - share * at.height + 4.0, "k", tick.text);
  }
  if (!map.value_label.empty()) canvas.add_text(at.right(), at.top - 8.0, "l e", map.value_label);
}

}  // namespace

AxisRange heat_range(const HeatMap& map) {
  ChartAxis axis;
  RangeFinder finder(axis);
  for (const float value : map.values) finder.add(value);
  AxisRange range{map.low ? *map.low : finder.smallest(), map.high ? *map.high : finder.largest()};
  if (!(range.high > range.low)) range.high = range.low + 1.0;
  return range;
}

std::string heat_map_chart(const ChartFrame& frame, const HeatMap& map) {
  check_invariant(map.values.size() == map.num_columns * map.num_rows,
                  "a heat map whose shape and values differ");
  if (map.values.empty()) return empty_chart(frame);
  const AxisRange range = heat_range(map);
  const CanvasOptions options{
      .x = {frame.x.low.value_or(0.0), frame.x.high.value_or(static_cast<double>(map.num_columns))},
      .y = {frame.y.low.value_or(0.0), frame.y.high.value_or(static_cast<double>(map.num_rows))},
      .legend = {},
      .right_margin = 72.0};
  SvgCanvas canvas(frame, options);
  add_image(canvas, canvas.area(), picture_of(map, range));
  add_colour_scale(canvas, map, range);
  return canvas.finish();
}

}  // namespace stoker
