#include "stoker/cli/bench_grid.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "stoker/bench/errors.h"

namespace stoker::cli {
namespace {

// At least one; what would follow a comma at the end is none.
std::vector<std::string_view> values_of(std::string_view text) {
  std::vector<std::string_view> values;
  do {
    values.push_back(text.substr(0, text.find(',')));
    text.remove_prefix(std::min(text.size(), values.back().size() + 1));
  } while (!text.empty());
  return values;
}

}  // namespace

std::vector<std::vector<std::string>> combinations(const std::vector<std::string>& grids) {
  std::vector<std::vector<std::string>> all{{}};
  for (const std::string& grid : grids) {
    const std::size_t equals = grid.find('=');
    if (equals == std::string::npos || equals == 0) {
      raise({.code = &bench::kBenchChoice, .promised = "--grid key=a,b,c", .found = grid});
    }
    std::vector<std::vector<std::string>> longer;
    for (const auto& changes : all) {
      for (const std::string_view value : values_of(std::string_view(grid).substr(equals + 1))) {
        longer.push_back(changes);
        longer.back().push_back(grid.substr(0, equals + 1) + std::string(value));
      }
    }
    all = std::move(longer);
  }
  return all;
}

}  // namespace stoker::cli
