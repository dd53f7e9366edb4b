#include "stoker/observe/report/figure_columns.h"

#include <algorithm>
#include <utility>

#include "stoker/base/invariant.h"

namespace stoker::observe {

void FigureColumns::join(Column& into, const Column& from) {
  into.sum_x += from.sum_x;
  into.last_x = from.last_x;
  into.num_lines += from.num_lines;
  for (std::size_t i = 0; i < into.figures.size(); ++i) {
    Figure& figure = into.figures[i];
    const Figure& other = from.figures[i];
    if (other.count == 0) continue;
    figure.highest = figure.count == 0 ? other.highest : std::max(figure.highest, other.highest);
    figure.sum += other.sum;
    figure.count += other.count;
  }
}

void FigureColumns::join_neighbours() {
  std::vector<Column> joined;
  for (std::size_t i = 0; i < columns_.size(); i += 2) {
    joined.push_back(std::move(columns_[i]));
    if (i + 1 < columns_.size()) join(joined.back(), columns_[i + 1]);
  }
  columns_ = std::move(joined);
  lines_per_column_ *= 2;
}

void FigureColumns::add(double x, std::span<const std::optional<double>> values) {
  check_invariant(values.size() == names_.size(), "as many figures as names");
  Column line{x, x, 1, std::vector<Figure>(names_.size())};
  for (std::size_t i = 0; i < values.size(); ++i)
    if (values[i]) line.figures[i] = {*values[i], *values[i], 1};
  ++num_lines_;
  if (!columns_.empty() && columns_.back().num_lines < lines_per_column_) {
    join(columns_.back(), line);
    return;
  }
  if (columns_.size() == kMostColumns) join_neighbours();
  columns_.push_back(std::move(line));
}

std::optional<std::size_t> FigureColumns::index_of(std::string_view name) const {
  const auto found = std::find(names_.begin(), names_.end(), name);
  if (found == names_.end()) return std::nullopt;
  return static_cast<std::size_t>(found - names_.begin());
}

bool FigureColumns::has(std::string_view name) const { return mean(name).has_value(); }

std::optional<double> FigureColumns::mean(std::string_view name) const {
  const std::optional<std::size_t> index = index_of(name);
  if (!index) return std::nullopt;
  double sum = 0;
  std::uint64_t count = 0;
  for (const Column& column : columns_) {
    sum += column.figures[*index].sum;
    count += column.figures[*index].count;
  }
  return count == 0 ? std::nullopt : std::optional(sum / static_cast<double>(count));
}

std::optional<double> FigureColumns::highest(std::string_view name) const {
  const std::optional<std::size_t> index = index_of(name);
  std::optional<double> most;
  for (const Column& column : columns_) {
    if (!index || column.figures[*index].count == 0) continue;
    most = std::max(most.value_or(column.figures[*index].highest), column.figures[*index].highest);
  }
  return most;
}

std::optional<double> FigureColumns::first(std::string_view name) const {
  const ChartSeries all = means(name, {});
  return all.y.empty() ? std::nullopt : std::optional(all.y.front());
}

std::optional<double> FigureColumns::last(std::string_view name) const {
  const ChartSeries all = means(name, {});
  return all.y.empty() ? std::nullopt : std::optional(all.y.back());
}

ChartSeries FigureColumns::means(std::string_view name, std::string_view title, double begin,
                                 double end) const {
  ChartSeries series{.name = std::string(title), .x = {}, .y = {}};
  const std::optional<std::size_t> index = index_of(name);
  if (!index) return series;
  for (const Column& column : columns_) {
    const Figure& figure = column.figures[*index];
    const double x = column.sum_x / static_cast<double>(column.num_lines);
    if (figure.count == 0 || x < begin || x > end) continue;
    series.x.push_back(x - begin);
    series.y.push_back(figure.sum / static_cast<double>(figure.count));
  }
  return series;
}

}  // namespace stoker::observe
