#include <algorithm>
#include <array>
#include <cmath>

#include "stoker/base/invariant.h"
#include "stoker/base/report/heat_map.h"
#include "stoker/base/report/pixel_canvas.h"
#include "stoker/base/report/svg_canvas.h"

namespace stoker {
namespace {

// Of the plot alone: below the first a picture is hard to look at, above the second hard to show.
constexpr std::size_t kLeastWidth = 800;
constexpr std::size_t kMostWidth = 2000;
constexpr std::size_t kLeastHeight = 400;

constexpr std::size_t kLeft = 110;
constexpr std::size_t kTop = 64;
constexpr std::size_t kRight = 130;
constexpr std::size_t kBottom = 64;
constexpr std::size_t kTickLength = 6;
constexpr std::size_t kScaleGap = 24;
constexpr std::size_t kScaleWidth = 20;

// A cell is a whole number of pixels, unless there are more cells than pixels.
std::size_t plot_width(std::size_t num_columns) {
  if (num_columns >= kMostWidth) return kMostWidth;
  return num_columns * std::max<std::size_t>(1, (kLeastWidth + num_columns - 1) / num_columns);
}

std::size_t plot_height(std::size_t num_rows) {
  return num_rows * std::max<std::size_t>(1, (kLeastHeight + num_rows - 1) / num_rows);
}

// The mean of the cells that fall on one column of pixels.
double value_at(const HeatMap& map, std::size_t row, std::size_t x, std::size_t width) {
  const std::size_t first = x * map.num_columns / width;
  const std::size_t last = std::max(first + 1, (x + 1) * map.num_columns / width);
  double sum = 0;
  for (std::size_t column = first; column < last; ++column)
    sum += map.values[row * map.num_columns + column];
  return sum / static_cast<double>(last - first);
}

// Where a map goes in the picture, axes and scale included.
PixelBox panel_box(const HeatMap& map, std::size_t top) {
  check_invariant(!map.values.empty() && map.values.size() == map.num_columns * map.num_rows,
                  "a heat map whose shape and values differ");
  return {0, top, kLeft + plot_width(map.num_columns) + kRight,
          kTop + plot_height(map.num_rows) + kBottom};
}

class HeatPicture {
 public:
  HeatPicture(PixelCanvas& canvas, const HeatPanel& panel, const PixelBox& box)
      : canvas_(canvas),
        frame_(panel.frame),
        map_(panel.map),
        range_(heat_range(panel.map)),
        plot_{box.left + kLeft, box.top + kTop, box.width - kLeft - kRight,
              box.height - kTop - kBottom} {}

  void draw() {
    canvas_.text(plot_.left, plot_.top - 44, frame_.title);
    draw_cells();
    draw_x_axis();
    draw_y_axis();
    draw_scale();
  }

 private:
  void draw_cells() {
    const std::size_t cell_height = plot_.height / map_.num_rows;
    for (std::size_t row = 0; row < map_.num_rows; ++row) {
      const std::size_t top = plot_.bottom() - (row + 1) * cell_height;
      for (std::size_t x = 0; x < plot_.width; ++x)
        canvas_.fill_shade({plot_.left + x, top, 1, cell_height},
                           share_of(value_at(map_, row, x, plot_.width), range_));
    }
  }

  // Values that are not finite take the lowest colour.
  static double share_of(double value, const AxisRange& range) {
    return std::isfinite(value) ? (value - range.low) / (range.high - range.low) : 0.0;
  }

  void draw_x_axis() {
    const AxisRange range{frame_.x.low.value_or(0.0),
                          frame_.x.high.value_or(static_cast<double>(map_.num_columns))};
    const auto num_wanted = static_cast<unsigned>(plot_.width / 110);
    for (const Tick& tick : chart_ticks(range.low, range.high, AxisScale::kLinear, num_wanted)) {
      const std::size_t x = plot_.left + pixels_of(share_of(tick.value, range), plot_.width - 1);
      canvas_.fill({x, plot_.bottom(), 1, kTickLength}, Ink::kSoft);
      canvas_.text(x, plot_.bottom() + kTickLength + 4, tick.text, TextAlign::kMiddle);
    }
    canvas_.text(plot_.left + plot_.width / 2, plot_.bottom() + kTickLength + 28, frame_.x.label,
                 TextAlign::kMiddle);
  }

  void draw_y_axis() {
    const AxisRange range{frame_.y.low.value_or(0.0),
                          frame_.y.high.value_or(static_cast<double>(map_.num_rows))};
    for (const Tick& tick : chart_ticks(range.low, range.high, AxisScale::kLinear, 6))
      draw_tick(plot_.left - kTickLength, share_of(tick.value, range), tick.text);
    canvas_.text_upwards(20, plot_.top + plot_.height / 2, frame_.y.label);
  }

  // A tick with its number to the left of it.
  void draw_tick(std::size_t x, double share, std::string_view text) {
    const std::size_t y = plot_.bottom() - 1 - pixels_of(share, plot_.height - 1);
    canvas_.fill({x, y, kTickLength, 1}, Ink::kSoft);
    canvas_.text(x - 4, y - PixelCanvas::kLetterHeight / 2, text, TextAlign::kRight);
  }

  void draw_scale() {
    const PixelBox scale{plot_.right() + kScaleGap, plot_.top, kScaleWidth, plot_.height};
    for (std::size_t y = 0; y < scale.height; ++y)
      canvas_.fill_shade({scale.left, scale.bottom() - 1 - y, scale.width, 1},
                         static_cast<double>(y) / static_cast<double>(scale.height - 1));
    for (const Tick& tick : chart_ticks(range_.low, range_.high, AxisScale::kLinear, 5)) {
      const std::size_t y =
          scale.bottom() - 1 - pixels_of(share_of(tick.value, range_), scale.height - 1);
      canvas_.fill({scale.right(), y, kTickLength, 1}, Ink::kSoft);
      canvas_.text(scale.right() + kTickLength + 4, y - PixelCanvas::kLetterHeight / 2, tick.text);
    }
    canvas_.text(scale.right(), plot_.top - 26, map_.value_label, TextAlign::kRight);
  }

  static std::size_t pixels_of(double share, std::size_t num_pixels) {
    return static_cast<std::size_t>(
        std::lround(std::clamp(share, 0.0, 1.0) * static_cast<double>(num_pixels)));
  }

  PixelCanvas& canvas_;
  const ChartFrame& frame_;
  const HeatMap& map_;
  AxisRange range_;
  PixelBox plot_;
};

}  // namespace

std::vector<std::byte> heat_map_png(const ChartFrame& frame, const HeatMap& map) {
  const std::array panels{HeatPanel{frame, map}};
  return heat_maps_png(panels);
}

std::vector<std::byte> heat_maps_png(std::span<const HeatPanel> panels) {
  std::vector<PixelBox> boxes;
  PixelBox whole;
  for (const HeatPanel& panel : panels) {
    boxes.push_back(panel_box(panel.map, whole.height));
    whole.width = std::max(whole.width, boxes.back().width);
    whole.height = boxes.back().bottom();
  }
  PixelCanvas canvas(
      {static_cast<std::uint32_t>(whole.width), static_cast<std::uint32_t>(whole.height)});
  for (std::size_t i = 0; i < panels.size(); ++i) HeatPicture(canvas, panels[i], boxes[i]).draw();
  return canvas.png();
}

}  // namespace stoker
