#include "stoker/base/report/svg_canvas.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "stoker/base/report/markup.h"

namespace stoker {
namespace {

constexpr std::size_t kNumColours = 8;
constexpr double kLetterWidth = 6.4;       // of the 12 px font, about
constexpr double kTitleLetterWidth = 8.2;  // of the 15 px font, bold
constexpr double kTitleLine = 18.0;
constexpr double kLegendLine = 20.0;

// Colours keep a contrast of 3:1 and more on their ground and differ in lightness, not hue alone.
constexpr std::string_view kStyle =
    "<style>"
    ".stk{--ink:#1f2328;--soft:#656d76;--grid:#d8dee4;--ground:#ffffff;"
    "--c0:#0b62c4;--c1:#c2570c;--c2:#1a7f4b;--c3:#b02a6f;--c4:#6b4fc8;--c5:#8a6a00;--c6:#0f7f8f;"
    "--c7:#6e7781;direction:ltr;font:12px system-ui,-apple-system,'Segoe UI',Roboto,sans-serif}"
    "@media(prefers-color-scheme:dark){.stk{--ink:#e6edf3;--soft:#9aa4af;--grid:#333b45;"
    "--ground:#0f141a;--c0:#5aa9ff;--c1:#ff9d4d;--c2:#4ed58a;--c3:#ff7eb6;--c4:#b49bff;"
    "--c5:#e3c04b;--c6:#4fd3e3;--c7:#a9b4c0}}"
    ".stk text{fill:var(--ink)}.stk .t{font-size:15px;font-weight:600}"
    ".stk .k{fill:var(--soft)}.stk .l{fill:var(--soft);font-weight:500}.stk .e{text-anchor:end}"
    ".stk .m{text-anchor:middle}.stk .g{stroke:var(--grid);stroke-width:1}"
    ".stk .a{stroke:var(--soft);stroke-width:1}"
    ".stk .line{fill:none;stroke-width:2;stroke-linejoin:round;stroke-linecap:round}"
    ".stk .dot{stroke:var(--ground);stroke-width:.75;fill-opacity:.85}"
    ".stk .s0{--s:var(--c0)}.stk .s1{--s:var(--c1)}.stk .s2{--s:var(--c2)}.stk .s3{--s:var(--c3)}"
    ".stk .s4{--s:var(--c4)}.stk .s5{--s:var(--c5)}.stk .s6{--s:var(--c6)}.stk .s7{--s:var(--c7)}"
    ".stk .line{stroke:var(--s)}.stk .dot,.stk .fill{fill:var(--s)}"
    ".stk .area{fill-opacity:.8;stroke:var(--ground);stroke-width:.5}"
    ".stk .hit{fill:transparent}.stk .hit:hover{fill:var(--soft);fill-opacity:.15}"
    ".stk .s1.line{stroke-dasharray:7 4}.stk .s2.line{stroke-dasharray:2 4}"
    ".stk .s3.line{stroke-dasharray:9 3 2 3}.stk .s4.line{stroke-dasharray:12 5}"
    "</style>";

double to_scale(double value, AxisScale scale) {
  return scale == AxisScale::kLog ? std::log10(value) : value;
}

double share_of(double value, const AxisRange& range, AxisScale scale) {
  const double low = to_scale(range.low, scale);
  return (to_scale(value, scale) - low) / (to_scale(range.high, scale) - low);
}

// Words in as many lines as they need; a word longer than a line stays whole.
std::vector<std::string> lines_of(std::string_view text, std::size_t most_letters) {
  std::vector<std::string> lines(1);
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    std::string& line = lines.back();
    if (line.empty())
      line = word;
    else if (num_letters(line) + 1 + num_letters(word) <= most_letters)
      line += " " + std::string(word);
    else
      lines.emplace_back(word);
  }
  return lines;
}

}  // namespace

bool RangeFinder::accepts(double value) const {
  return std::isfinite(value) && (axis_.scale == AxisScale::kLinear || value > 0.0);
}

void RangeFinder::add(double value) {
  if (!accepts(value)) return;
  low_ = std::min(low_.value_or(value), value);
  high_ = std::max(high_.value_or(value), value);
}

AxisRange RangeFinder::range() const {
  const bool is_log = axis_.scale == AxisScale::kLog;
  double low = axis_.low.value_or(low_.value_or(is_log ? 0.1 : 0.0));
  double high = axis_.high.value_or(high_.value_or(1.0));
  if (is_log) {
    if (!(high > low)) high = low * 10.0;
    return {low, high};
  }
  if (!(high > low)) {
    const double air = low == 0.0 ? 1.0 : std::abs(low) * 0.1;
    return {axis_.low ? low : low - air, low + air};
  }
  const double air = 0.04 * (high - low);
  if (!axis_.high) high += air;
  // A range that nearly touches zero is read more honestly from zero.
  if (!axis_.low) low = low >= 0.0 && low < 0.35 * high ? 0.0 : low - air;
  return {low, high};
}

std::size_t num_letters(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string series_class(std::size_t index) { return fmt::format("s{}", index % kNumColours); }

SvgCanvas::SvgCanvas(const ChartFrame& frame, const CanvasOptions& options)
    : frame_(frame), options_(options) {
  area_.left = options.left_margin + (frame.y.label.empty() ? 0.0 : 14.0);
  area_.width = frame.width - area_.left - options.right_margin;
  area_.top = add_legend(options.legend, add_title());
  area_.height = frame.height - area_.top - (frame.x.label.empty() ? 30.0 : 50.0);
  add_x_axis();
  add_y_axis();
}

double SvgCanvas::x_of(double value) const {
  return area_.left + area_.width * share_of(value, options_.x, frame_.x.scale);
}

double SvgCanvas::value_at(double x) const {
  const double share = (x - area_.left) / area_.width;
  const double low = to_scale(options_.x.low, frame_.x.scale);
  const double value = low + share * (to_scale(options_.x.high, frame_.x.scale) - low);
  return frame_.x.scale == AxisScale::kLog ? std::pow(10.0, value) : value;
}

double SvgCanvas::y_of(double value) const {
  return area_.bottom() - area_.height * share_of(value, options_.y, frame_.y.scale);
}

void SvgCanvas::add_text(double x, double y, std::string_view css_class, std::string_view text) {
  add(fmt::format(R"(<text x="{:.1f}" y="{:.1f}" class="{}">{}</text>)", x, y, css_class,
                  escape_chart_text(text)));
}

double SvgCanvas::add_title() {
  if (!frame_.shows_title) return 20.0;
  double y = 24.0;
  const auto most_letters = static_cast<std::size_t>((frame_.width - 32.0) / kTitleLetterWidth);
  for (const std::string& line : lines_of(frame_.title, most_letters)) {
    add_text(16.0, y, "t", line);
    y += kTitleLine;
  }
  return y;
}

double SvgCanvas::add_legend(std::span<const std::string> legend, double top) {
  if (legend.size() < 2) return top;
  double x = area_.left;
  double y = top - 5.0;
  for (std::size_t i = 0; i < legend.size(); ++i) {
    const double width = 17.0 + kLetterWidth * static_cast<double>(num_letters(legend[i]));
    if (x > area_.left && x + width > frame_.width) {
      x = area_.left;
      y += kLegendLine;
    }
    add(fmt::format(
        R"(<rect x="{:.1f}" y="{:.0f}" width="12" height="12" rx="3" class="fill {}"/>)", x, y,
        options_.last_is_rest && i + 1 == legend.size() ? kRestClass : series_class(i)));
    add_text(x + 17.0, y + 10.0, "k", legend[i]);
    x += width + 18.0;
  }
  return y + 5.0 + kLegendLine;
}

void SvgCanvas::add_x_axis() {
  const auto num_wanted = static_cast<unsigned>(std::max(2.0, area_.width / 90.0));
  for (const Tick& tick :
       chart_ticks(options_.x.low, options_.x.high, frame_.x.scale, num_wanted)) {
    const double x = x_of(tick.value);
    add(fmt::format(R"(<path class="g" d="M{0:.1f} {1:.1f}V{2:.1f}"/>)", x, area_.top,
                    area_.bottom()));
    add_text(x, area_.bottom() + 17.0, "k m", tick.text);
  }
  add(fmt::format(R"(<path class="a" d="M{:.1f} {:.1f}H{:.1f}"/>)", area_.left, area_.bottom(),
                  area_.right()));
  if (!frame_.x.label.empty())
    add_text(area_.left + area_.width / 2.0, area_.bottom() + 38.0, "l m", frame_.x.label);
}

void SvgCanvas::add_y_axis() {
  if (options_.has_y_ticks) {
    const auto num_wanted = static_cast<unsigned>(std::max(2.0, area_.height / 48.0));
    for (const Tick& tick :
         chart_ticks(options_.y.low, options_.y.high, frame_.y.scale, num_wanted)) {
      const double y = y_of(tick.value);
      add(fmt::format(R"(<path class="g" d="M{:.1f} {:.1f}H{:.1f}"/>)", area_.left, y,
                      area_.right()));
      add_text(area_.left - 8.0, y + 4.0, "k e", tick.text);
    }
  }
  if (frame_.y.label.empty()) return;
  const double middle = area_.top + area_.height / 2.0;
  add(fmt::format(R"x(<text class="l m" transform="translate(18 {:.1f}) rotate(-90)">{}</text>)x",
                  middle, escape_chart_text(frame_.y.label)));
}

std::string SvgCanvas::finish() const {
  const std::string spoken =
      frame_.description.empty() ? frame_.title : frame_.title + ". " + frame_.description;
  return fmt::format(
      R"(<svg xmlns="http://www.w3.org/2000/svg" class="stk" viewBox="0 0 {0} {1}" width="{0}" )"
      R"x(height="{1}" style="max-width:100%;height:auto;background:var(--ground)" role="img" )x"
      R"(aria-label="{2}">{3}{4}</svg>)",
      frame_.width, frame_.height, escape_markup(spoken), kStyle, body_);
}

std::string empty_chart(const ChartFrame& frame) {
  ChartFrame plain = frame;
  plain.x.scale = AxisScale::kLinear;
  plain.y.scale = AxisScale::kLinear;
  SvgCanvas canvas(plain, {.x = {}, .y = {}, .legend = {}});
  const PlotArea& area = canvas.area();
  canvas.add_text(area.left + area.width / 2.0, area.top + area.height / 2.0, "l m", "no data");
  return canvas.finish();
}

}  // namespace stoker
