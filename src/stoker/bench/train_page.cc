#include "stoker/bench/train_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <stdexcept>

#include "stoker/base/number_text.h"
#include "stoker/base/report/figures.h"
#include "stoker/bench/train_bench.h"

namespace stoker::bench {
namespace {

constexpr std::size_t kBins = 40;
constexpr double kPercent = 100;

std::string text_of(const std::optional<double>& value, const char* form, double factor = 1) {
  return value ? fmt::format(fmt::runtime(form), *value * factor) : std::string("-");
}

std::string count_of(const std::optional<double>& value) {
  return value ? grouped(static_cast<std::uint64_t>(*value)) : std::string("-");
}

std::string batch_text(const Json& row) {
  const Json& batch = row.at("batch_ms");
  return fmt::format("{:.2f} \u00b1 {:.2f}", batch.at("mean").number(), batch.at("std").number());
}

// With its standard error: few steps on a busy machine say little.
std::string use_text(const Json& row) {
  const std::optional<double> share = figure_at(row, "au"), error = figure_at(row, "au_error");
  if (!share || !error) return text_of(share, "{:.2f}", kPercent);
  return fmt::format("{:.2f} \u00b1 {:.2f}", kPercent * *share, kPercent * *error);
}

// Numbers of a list that may be absent; null is no point.
std::vector<double> values_at(const Json& row, std::string_view part, std::string_view key) {
  std::vector<double> values;
  try {
    for (const Json& each : row.at(part).at(key).elements()) values.push_back(each.number());
  } catch (const std::out_of_range&) {
    return {};
  }
  return values;
}

ChartSeries use_over_time(const Json& row) {
  ChartSeries series{
      .name = row_name(row), .x = {}, .y = values_at(row, "gpu_timeline", "util_percent")};
  for (std::size_t i = 0; i < series.y.size(); ++i) series.x.push_back(static_cast<double>(i));
  return series;
}

void add_timelines(HtmlReport& page, const std::vector<Json>& rows) {
  std::vector<ChartSeries> all;
  all.reserve(rows.size());
  for (const Json& row : rows) all.push_back(use_over_time(row));
  add_line_figure(
      page,
      {.title = "GPU use over time",
       .description = "The driver's utilisation, means of each second.",
       .x = {.label = "time (s)"},
       .y = {.label = "GPU (%)", .low = 0, .high = 100}},
      all,
      "Share of the time in which a kernel ran, as the driver tells it; the mean of each second.");
}

// The axis ends where the slowest hundredth begins: one stall would flatten all the rest.
void add_histogram(HtmlReport& page, const Json& row) {
  const std::vector<double> intervals_ms = values_at(row, "per_step", "interval_ms");
  if (intervals_ms.empty()) return;
  std::vector<double> sorted = intervals_ms;
  std::sort(sorted.begin(), sorted.end());
  const double high_ms = sorted[sorted.size() - 1 - sorted.size() / 100];
  add_histogram_figure(
      page,
      {.title = row_name(row) + ": time between steps",
       .description = "Number of steps by the time since the step before.",
       .x = {.label = "interval (ms)", .low = 0, .high = std::max(high_ms * 1.05, 1e-3)},
       .y = {.label = "steps"},
       .height = 260},
      intervals_ms, kBins,
      fmt::format("{} steps; {} ms, standard deviation over mean {}.", grouped(intervals_ms.size()),
                  batch_text(row), text_of(figure_at(row, "interval_cv"), "{:.3f}")));
}

}  // namespace

ReportTable train_table(const std::vector<Json>& rows) {
  ReportTable table{
      .caption = "Training with each loader",
      .header = {"loader", "GPU %", "lowest s", "CPU %", "batch ms", "std/mean", "of its shape",
                 "samples/s", "true frames/s", "data ms", "compute ms", "AU %", "speed-up"},
      .rows = {}};
  for (const Json& row : rows) {
    const auto at = [&row](std::string_view key) { return figure_at(row, key); };
    table.rows.push_back({row_name(row), text_of(at("gpu_util_mean"), "{:.1f}"),
                          text_of(at("gpu_util_min"), "{:.0f}"),
                          text_of(at("cpu_percent"), "{:.1f}"), batch_text(row),
                          text_of(at("interval_cv"), "{:.3f}"), text_of(at("shape_cv"), "{:.3f}"),
                          text_of(at("samples_per_s"), "{:.1f}"), count_of(at("frames_per_s")),
                          text_of(at("data_ms"), "{:.2f}"), text_of(at("compute_ms"), "{:.2f}"),
                          use_text(row), text_of(at("speed_up"), "{:.2f}x")});
  }
  return table;
}

std::string train_page(const std::vector<Json>& rows, const std::string& subtitle) {
  HtmlReport page("Training: naive and native loading", subtitle);
  page.open_section("The table");
  page.add_paragraph(
      "The same model, data and batches on the same machine, one loader after the other. AU is the "
      "time that the same steps take with batches already in memory, over the time they took.");
  page.add_table(train_table(rows));
  page.open_section("Over time");
  add_timelines(page, rows);
  for (const Json& row : rows) add_histogram(page, row);
  return page.finish();
}

}  // namespace stoker::bench
