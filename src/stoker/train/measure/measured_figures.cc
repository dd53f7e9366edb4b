#include "stoker/train/measure/measured_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "stoker/observe/statistics.h"

namespace stoker::train {
namespace {

constexpr double kMsPerSecond = 1e3;
constexpr std::size_t kBlocks = 20;

double rate(std::uint64_t count, double seconds) {
  return seconds > 0 ? static_cast<double>(count) / seconds : 0;
}

std::map<std::size_t, std::vector<double>> intervals_by_shape(const MeasuredWindow& window) {
  std::map<std::size_t, std::vector<double>> by_shape;
  for (const MeasuredStep& step : window.steps) by_shape[step.shape].push_back(step.interval_s);
  return by_shape;
}

// To the microsecond's tenth: thousands of steps are kept.
Json rounded_ms(double seconds) { return std::round(seconds * 1e7) / 1e4; }

std::string shapes_text(const StepShapes& shapes) {
  std::string text;
  for (const feed::BatchShape& shape : shapes)
    text += fmt::format("{}{}x{}x{}", text.empty() ? "" : "+", shape.num_rows, shape.num_frames,
                        shape.num_tokens);
  return text;
}

double sum_of(const MeasuredWindow& window, double MeasuredStep::*field) {
  double sum = 0;
  for (const MeasuredStep& step : window.steps) sum += step.*field;
  return sum;
}

}  // namespace

std::size_t ShapeNumbers::number(const StepShapes& shapes) {
  std::vector<std::uint32_t> key;
  for (const feed::BatchShape& shape : shapes)
    key.insert(key.end(), {shape.num_rows, shape.num_frames, shape.num_tokens});
  const auto [found, is_new] = numbers_.try_emplace(std::move(key), all_.size());
  if (is_new) all_.push_back(shapes);
  return found->second;
}

Json ShapeNumbers::json() const {
  Json out = Json::array();
  for (const StepShapes& shapes : all_) out.push_back(shapes_text(shapes));
  return out;
}

double MeasuredWindow::seconds() const { return sum_of(*this, &MeasuredStep::interval_s); }

feed::BatchCounts MeasuredWindow::counts() const {
  feed::BatchCounts sum;
  for (const MeasuredStep& step : steps) sum += step.counts;
  return sum;
}

std::vector<double> MeasuredWindow::intervals_s() const {
  std::vector<double> all;
  all.reserve(steps.size());
  for (const MeasuredStep& step : steps) all.push_back(step.interval_s);
  return all;
}

std::optional<AcceleratorUse> accelerator_use(const MeasuredWindow& fed,
                                              const MeasuredWindow& resident) {
  const auto by_shape = intervals_by_shape(resident);
  double resident_s = 0, fed_s = 0, resident_squares = 0, fed_squares = 0;
  for (const auto& [shape, intervals] : intervals_by_shape(fed)) {
    const auto found = by_shape.find(shape);
    if (found == by_shape.end()) continue;
    const double own_s = observe::mean_of(found->second) * static_cast<double>(intervals.size());
    resident_s += own_s;
    resident_squares += own_s * own_s / static_cast<double>(found->second.size());
    for (const double each : intervals) {
      fed_s += each;
      fed_squares += each * each;
    }
  }
  if (fed_s <= 0) return std::nullopt;
  const double share = resident_s / fed_s;
  const double resident_error = shape_cv(resident) * std::sqrt(resident_squares) / resident_s;
  const double fed_error = shape_cv(fed) * std::sqrt(fed_squares) / fed_s;
  return AcceleratorUse{.share = share,
                        .error = share * std::hypot(resident_error, fed_error),
                        .coverage = fed_s / fed.seconds()};
}

double shape_cv(const MeasuredWindow& window) {
  std::vector<double> relative;
  for (const auto& [shape, intervals] : intervals_by_shape(window)) {
    const double median_s = observe::median_of(intervals);
    if (median_s <= 0) continue;
    for (const double each : intervals) relative.push_back(each / median_s);
  }
  return observe::summarize_intervals(relative).cv();
}

std::vector<double> block_rates(const MeasuredWindow& window, std::size_t num_blocks) {
  std::vector<double> rates;
  const std::size_t num_steps = window.steps.size();
  num_blocks = std::min(num_blocks, num_steps);
  for (std::size_t block = 0; block < num_blocks; ++block) {
    double block_s = 0;
    std::uint64_t num_frames = 0;
    const std::size_t end = (block + 1) * num_steps / num_blocks;
    for (std::size_t i = block * num_steps / num_blocks; i < end; ++i) {
      block_s += window.steps[i].interval_s;
      num_frames += window.steps[i].counts.true_frames;
    }
    rates.push_back(rate(num_frames, block_s));
  }
  return rates;
}

Json window_json(const MeasuredWindow& window) {
  const feed::BatchCounts counts = window.counts();
  const double all_s = window.seconds();
  const observe::IntervalStatistics intervals = observe::summarize_intervals(window.intervals_s());
  const double steps = std::max<double>(1, static_cast<double>(window.steps.size()));
  const double data_s = sum_of(window, &MeasuredStep::data_s);
  const auto num_skipped = std::count_if(window.steps.begin(), window.steps.end(),
                                         [](const MeasuredStep& step) { return step.is_skipped; });
  return Json{{"steps", window.steps.size()},
              {"batches", counts.num_batches},
              {"clips", counts.num_clips},
              {"true_frames", counts.true_frames},
              {"padded_frames", counts.all_frames},
              {"padding_share", counts.padding_share()},
              {"measured_s", all_s},
              {"clock", window.has_device_clock ? "device" : "host"},
              {"samples_per_s", rate(counts.num_clips, all_s)},
              {"frames_per_s", rate(counts.true_frames, all_s)},
              {"block_frames_per_s", block_rates(window, kBlocks)},
              {"batch_ms",
               {{"mean", intervals.mean_ms},
                {"std", intervals.std_ms},
                {"min", intervals.min_ms},
                {"max", intervals.max_ms}}},
              {"interval_cv", intervals.cv()},
              {"shape_cv", shape_cv(window)},
              {"p50_ms", intervals.p50_ms},
              {"p99_ms", intervals.p99_ms},
              {"data_ms", kMsPerSecond * data_s / steps},
              {"compute_ms", kMsPerSecond * sum_of(window, &MeasuredStep::compute_s) / steps},
              {"stall_share", all_s > 0 ? std::min(1.0, data_s / all_s) : 0.0},
              {"skipped_steps", num_skipped}};
}

Json steps_json(const MeasuredWindow& window) {
  Json interval_ms = Json::array(), shape = Json::array(), data_ms = Json::array(),
       compute_ms = Json::array(), true_frames = Json::array();
  for (const MeasuredStep& step : window.steps) {
    interval_ms.push_back(rounded_ms(step.interval_s));
    shape.push_back(step.shape);
    data_ms.push_back(rounded_ms(step.data_s));
    compute_ms.push_back(rounded_ms(step.compute_s));
    true_frames.push_back(step.counts.true_frames);
  }
  return Json{{"interval_ms", std::move(interval_ms)},
              {"shape", std::move(shape)},
              {"data_ms", std::move(data_ms)},
              {"compute_ms", std::move(compute_ms)},
              {"true_frames", std::move(true_frames)}};
}

}  // namespace stoker::train
