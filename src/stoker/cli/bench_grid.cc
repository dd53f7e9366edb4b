#include "stoker/cli/bench_grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "stoker/base/bytes.h"
#include "stoker/base/io/io.h"
#include "stoker/base/json.h"
#include "stoker/base/number_text.h"
#include "stoker/bench/errors.h"
#include "stoker/cli/command_context.h"
#include "stoker/config/field_table.h"
#include "stoker/config/nearest_name.h"

namespace stoker::cli {
namespace {

constexpr std::uint64_t kMaxReportBytes = std::uint64_t{256} << 20U;

// At least one; what would follow a comma at the end is none.
std::vector<std::string_view> values_of(std::string_view text) {
  std::vector<std::string_view> values;
  do {
    values.push_back(text.substr(0, text.find(',')));
    text.remove_prefix(std::min(text.size(), values.back().size() + 1));
  } while (!text.empty());
  return values;
}

// "num_workers", "num-workers" and "--num-workers" are "--num-workers".
std::string as_flag(std::string_view key) {
  while (key.starts_with('-')) key.remove_prefix(1);
  std::string flag = "--" + std::string(key);
  std::replace(flag.begin(), flag.end(), '_', '-');
  return flag;
}

bool has(const std::vector<std::string>& flags, const std::string& flag) {
  return std::find(flags.begin(), flags.end(), flag) != flags.end();
}

[[noreturn]] void refuse_key(std::string_view key) {
  std::vector<std::string> names;
  for (const config::FieldInfo& field : config::all_fields()) {
    names.push_back(field.path);
    for (const std::string& flag : field.flags) names.push_back(flag.substr(2));
  }
  const bool is_option = key == "path" || key == "loader";
  const auto nearest = config::nearest_name(as_flag(key).substr(2), names);
  raise({.code = &bench::kBenchChoice,
         .place = {.file = "--grid"},
         .promised = "a setting (data.num_workers) or its option (num-workers)",
         .found = fmt::format("\"{}\"", key),
         .cure = is_option ? fmt::format("{0} has an option of its own: --{0} a,b", key)
                 : nearest ? fmt::format("did you mean {}?", *nearest)
                           : "`stoker config reference` lists every setting"});
}

bool is_below(const bench::RateDifference& each, double bar) { return each.high < bar; }

}  // namespace

std::string grid_path(std::string_view key) {
  if (config::find_field(key) != nullptr) return std::string(key);
  const std::string flag = as_flag(key);
  for (const config::FieldInfo& field : config::all_fields())
    if (has(field.flags, flag)) return field.path;
  refuse_key(key);
}

std::vector<std::vector<std::string>> combinations(const std::vector<std::string>& grids) {
  std::vector<std::vector<std::string>> all{{}};
  std::vector<std::string> paths;
  for (const std::string& grid : grids) {
    const std::size_t equals = grid.find('=');
    if (equals == std::string::npos || equals == 0) {
      raise({.code = &bench::kBenchChoice,
             .promised = "--grid key=a,b,c",
             .found = fmt::format("\"{}\"", grid),
             .cure = "type a setting and its values: --grid num-workers=1,2,4"});
    }
    const std::string path = grid_path(std::string_view(grid).substr(0, equals));
    if (has(paths, path)) {
      raise({.code = &bench::kBenchChoice,
             .promised = "each setting in one --grid",
             .found = path + " in two",
             .cure = "put all its values into one: --grid " + path + "=a,b,c"});
    }
    paths.push_back(path);
    std::vector<std::vector<std::string>> longer;
    for (const auto& changes : all) {
      for (const std::string_view value : values_of(std::string_view(grid).substr(equals + 1))) {
        longer.push_back(changes);
        longer.back().push_back(path + "=" + std::string(value));
      }
    }
    all = std::move(longer);
  }
  return all;
}

void put_ranking(CommandContext& context, const std::vector<bench::RankedRate>& ranking,
                 std::string_view unit) {
  if (ranking.size() < 2) return;
  Json out = Json::array();
  context.print("best first:");
  for (std::size_t i = 0; i < ranking.size(); ++i) {
    const bench::RankedRate& each = ranking[i];
    context.print(fmt::format("  {:>2}. {:>11} {} +- {:<9} {}{}", i + 1,
                              grouped(static_cast<std::uint64_t>(each.rate)), unit,
                              grouped(static_cast<std::uint64_t>(each.plus_minus)), each.name,
                              i > 0 && each.may_be_best ? "  (as good as the first)" : ""));
    out.push_back({{"row", each.name},
                   {"index", each.index},
                   {"rate", each.rate},
                   {"plus_minus", each.plus_minus},
                   {"share_of_best", each.rate / std::max(ranking.front().rate, 1e-9)},
                   {"may_be_best", each.may_be_best}});
  }
  context.report()["ranking"] = std::move(out);
}

bool put_differences(CommandContext& context, const std::vector<bench::RateDifference>& differences,
                     double bar, std::string_view unit) {
  bool is_met = true;
  Json out = Json::array();
  for (const bench::RateDifference& each : differences) {
    is_met = is_met && !is_below(each, bar);
    context.print(fmt::format("{}: {:+.1f} % {} ({:+.1f} to {:+.1f} %){}", each.name,
                              100 * (each.ratio - 1), unit, 100 * (each.low - 1),
                              100 * (each.high - 1), is_below(each, bar) ? ", below the bar" : ""));
    out.push_back({{"row", each.name},
                   {"ratio", each.ratio},
                   {"low", each.low},
                   {"high", each.high},
                   {"is_below", is_below(each, bar)}});
  }
  context.report()["against"] = std::move(out);
  return is_met;
}

Json read_kept(const std::string& path, std::string_view command) {
  const File file = open_file(system_io(), path, OpenFor::kRead).take_or_raise();
  const std::vector<std::byte> bytes = read_whole(file, kMaxReportBytes).take_or_raise();
  std::optional<Json> kept = Json::parse(view_text(bytes));
  if (kept && kept->contains("rows")) return std::move(*kept);
  raise({.code = &bench::kBenchChoice,
         .place = {.file = path},
         .promised = fmt::format("a report of `stoker {} --json`", command),
         .found = kept ? "JSON without rows" : "no JSON",
         .cure = fmt::format("give the file that `stoker {} --json > FILE` wrote", command)});
}

}  // namespace stoker::cli
