// Figures of a file of any length in bounded memory: lines are joined into columns, of which there
// are never more than a page can show.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/report/svg.h"

namespace stoker::observe {

// A column joins so many lines as all others; when there are too many columns, neighbours are
// joined. Means stay exact, lowest and highest values are kept.
class FigureColumns {
 public:
  static constexpr std::size_t kMostColumns = 512;

  FigureColumns() = default;
  explicit FigureColumns(std::vector<std::string> names) : names_(std::move(names)) {}

  // One value a name, in their order; absent ones are not known. `x` does not fall.
  void add(double x, std::span<const std::optional<double>> values);

  std::uint64_t num_lines() const { return num_lines_; }
  bool has(std::string_view name) const;  // some line knows it
  std::optional<double> mean(std::string_view name) const;
  std::optional<double> highest(std::string_view name) const;
  // Of the first and of the last column that know it.
  std::optional<double> first(std::string_view name) const;
  std::optional<double> last(std::string_view name) const;
  double last_x() const { return columns_.empty() ? 0 : columns_.back().last_x; }

  // Means of the columns over the mean of their x, from x = `begin` on, less `begin`.
  ChartSeries means(std::string_view name, std::string_view title, double begin = 0,
                    double end = 1e300) const;

 private:
  struct Figure {
    double sum = 0;
    double highest = 0;
    std::uint64_t count = 0;
  };
  struct Column {
    double sum_x = 0;
    double last_x = 0;
    std::uint64_t num_lines = 0;
    std::vector<Figure> figures;
  };

  std::optional<std::size_t> index_of(std::string_view name) const;
  void join_neighbours();
  static void join(Column& into, const Column& from);

  std::vector<std::string> names_;
  std::vector<Column> columns_;
  std::uint64_t lines_per_column_ = 1;
  std::uint64_t num_lines_ = 0;
};

}  // namespace stoker::observe
