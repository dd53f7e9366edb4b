// A table of values as a picture with axes and a colour scale: as SVG text or as a PNG.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stoker/base/report/svg.h"
#include "stoker/base/report/svg_canvas.h"

namespace stoker {

// A picture of values[row * num_columns + column], row 0 at the bottom, with a colour scale.
// x and y of the frame give the range that the picture covers (default: 0 … count).
struct HeatMap {
  std::size_t num_columns = 0;
  std::size_t num_rows = 0;
  std::span<const float> values{};
  std::optional<float> low{};  // the colour scale; absent: from the data
  std::optional<float> high{};
  std::string value_label{};  // "log magnitude"
};

// Where the colours begin and end; never an empty range.
AxisRange heat_range(const HeatMap& map);

// No values give a frame that says "no data".
std::string heat_map_chart(const ChartFrame& frame, const HeatMap& map);

// Sized by the map, whatever the frame says: a cell is a whole number of pixels and the plot 800 to
// 2,000 wide and at least 400 high; neighbours are averaged where there are more columns.
// Precondition: there are values.
std::vector<std::byte> heat_map_png(const ChartFrame& frame, const HeatMap& map);

struct HeatPanel {
  ChartFrame frame;
  HeatMap map;
};

// Several maps in one picture, the first at the top; the same number of columns puts their x axes
// above each other. Precondition: there is a panel, and each has values.
std::vector<std::byte> heat_maps_png(std::span<const HeatPanel> panels);

}  // namespace stoker
