#include "stoker/base/report/svg_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "stoker/base/report/markup.h"

namespace stoker {
namespace {

constexpr std::size_t kMostTooltips = 60;

// The index of the value nearest to `x` in ascending values.
std::size_t nearest_index(const std::vector<double>& values, double x) {
  const auto after = std::lower_bound(values.begin(), values.end(), x);
  if (after == values.begin()) return 0;
  if (after == values.end()) return values.size() - 1;
  const auto index = static_cast<std::size_t>(after - values.begin());
  return x - values[index - 1] < values[index] - x ? index - 1 : index;
}

std::string tooltip_at(const ChartFrame& frame, std::span<const ChartSeries> series, double x) {
  std::string text = fmt::format("{}: {}", frame.x.label, short_figure(x));
  for (const ChartSeries& one : series) {
    if (one.x.empty()) continue;
    text += fmt::format("; {}: {}", one.name, short_figure(one.y[nearest_index(one.x, x)]));
  }
  return text;
}

// With "…" where it would run out of the chart; its table has it whole.
std::string shortened(std::string_view text, std::size_t most_letters) {
  if (num_letters(text) <= most_letters) return std::string(text);
  std::size_t end = 0, letters = 0;
  while (letters + 1 < most_letters) {
    ++end;
    while (end < text.size() && (text[end] & 0xC0) == 0x80) ++end;
    ++letters;
  }
  return std::string(text.substr(0, end)) + "…";
}

const ChartSeries* longest_of(std::span<const ChartSeries> series) {
  const auto longest = std::max_element(
      series.begin(), series.end(),
      [](const ChartSeries& a, const ChartSeries& b) { return a.x.size() < b.x.size(); });
  return longest == series.end() ? nullptr : &*longest;
}

}  // namespace

std::string short_figure(double value) {
  if (!std::isfinite(value)) return "–";
  if (std::abs(value) >= 1000.0) return figure_text(value, 0);
  return fmt::format("{:.4g}", value);
}

BarLayout::BarLayout(const ChartFrame& given, std::span<const std::string> given_labels)
    : frame(given), labels(given_labels) {
  std::size_t widest = 0;
  for (const std::string& label : labels) widest = std::max(widest, num_letters(label));
  beside = std::max(64.0, 28.0 + 6.6 * static_cast<double>(widest));
  is_above = beside > 0.4 * frame.width;
  const double pitch = is_above ? 46.0 : 28.0;
  if (frame.height == 0)
    frame.height = static_cast<unsigned>(118.0 + pitch * static_cast<double>(labels.size()));
}

CanvasOptions BarLayout::options(const AxisRange& x, std::span<const std::string> legend) const {
  return {.x = x,
          .y = {},
          .legend = legend,
          .left_margin = is_above ? 16.0 : beside,
          .right_margin = 56.0,
          .has_y_ticks = false};
}

double BarLayout::put_label(SvgCanvas& canvas, std::size_t bar) const {
  const PlotArea& area = canvas.area();
  const double pitch = area.height / static_cast<double>(labels.size());
  const double middle = area.top + pitch * (static_cast<double>(bar) + 0.5);
  const double top = is_above ? middle : middle - 9.0;
  const auto most_letters = static_cast<std::size_t>((frame.width - 24.0) / 6.6);
  if (is_above)
    canvas.add_text(area.left + 2.0, top - 6.0, "", shortened(labels[bar], most_letters));
  else
    canvas.add_text(area.left - 8.0, top + 13.0, "e", labels[bar]);
  return top;
}

void add_tooltips(SvgCanvas& canvas, const ChartFrame& frame, std::span<const ChartSeries> series) {
  const ChartSeries* longest = longest_of(series);
  if (longest == nullptr || longest->x.size() <= kFewPoints) return;
  for (const ChartSeries& one : series)
    if (!std::is_sorted(one.x.begin(), one.x.end())) return;
  const PlotArea& area = canvas.area();
  const std::size_t count = std::min(kMostTooltips, longest->x.size());
  const double width = area.width / static_cast<double>(count);
  for (std::size_t i = 0; i < count; ++i) {
    const double left = area.left + width * static_cast<double>(i);
    canvas.add(fmt::format(
        R"(<rect class="hit" x="{:.1f}" y="{:.0f}" width="{:.1f}" height="{:.0f}"><title>{}</title>)"
        "</rect>",
        left, area.top, width, area.height,
        escape_markup(tooltip_at(frame, series, canvas.value_at(left + 0.5 * width)))));
  }
}

}  // namespace stoker
