// `stoker bench feed`: the whole feed against a consumer, several loaders, paths and settings in
// one run.
#include <fmt/format.h>

#include <charconv>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/bytes.h"
#include "stoker/base/json.h"
#include "stoker/bench/errors.h"
#include "stoker/bench/feed_bench.h"
#include "stoker/cli/bench_grid.h"
#include "stoker/cli/bench_reports.h"
#include "stoker/cli/cache_options.h"
#include "stoker/cli/command_context.h"
#include "stoker/cli/command_line.h"
#include "stoker/cli/commands.h"
#include "stoker/cli/settings_options.h"
#include "stoker/feed/device/gpu_mode.h"
#include "stoker/observe/report/run_page.h"

namespace stoker::cli {
namespace {

struct FeedBenchArguments {
  std::vector<std::string> loaders{"native"};
  std::vector<std::string> paths{"cached"};
  std::string consumer = "emulated";
  std::vector<std::string> dtypes;
  std::vector<std::string> grid;
  std::vector<std::string> instruments;
  std::string demand;
  std::optional<double> step_ms;
  std::optional<unsigned> num_threads;
  double seconds = 3.0;
  unsigned num_windows = 3;
  std::string report_file;
  std::string report_language = "en";
  std::string tuner_log_file;
  std::string replayed_log_file;
  std::string against_file;
  double bar = 0.95;
};

constexpr std::uint64_t kMaxLogBytes = std::uint64_t{64} << 20U;

std::vector<bench::FeedBenchCase> make_cases(const CommandContext& context,
                                             const FeedBenchArguments& arguments) {
  std::vector<std::string> grids = arguments.grid;
  if (!arguments.dtypes.empty()) {
    grids.push_back(fmt::format("data.batch_dtype={}", fmt::join(arguments.dtypes, ",")));
  }
  if (!arguments.instruments.empty()) {
    std::vector<std::string_view> values;
    values.reserve(arguments.instruments.size());
    for (const std::string& each : arguments.instruments)
      values.push_back(each == "on" ? "true" : "false");
    grids.push_back(fmt::format("observe.records={}", fmt::join(values, ",")));
  }
  std::vector<std::string> fixed;
  if (arguments.num_threads)
    fixed.push_back(fmt::format("data.num_workers={}", *arguments.num_threads));
  std::vector<bench::FeedBenchCase> cases;
  for (const auto& changes : combinations(grids)) {
    std::vector<std::string> set = fixed;
    set.insert(set.end(), changes.begin(), changes.end());
    const config::Settings settings =
        feed::resolve_auto_device(context.settings_with(set), feed::AutoMel::kMeasured);
    for (const std::string& path_name : arguments.paths) {
      for (const std::string& loader_name : arguments.loaders) {
        const bench::FeedLoader loader = bench::loader_from(loader_name);
        const bench::FeedPath path = bench::path_from(path_name);
        cases.push_back({loader, path, changes, bench::with_path(settings, loader, path)});
      }
    }
  }
  return cases;
}

// "90000" clips a second, or "90%" of the supply.
void put_demand(const std::string& text, bench::FeedBenchOptions& options) {
  if (text.empty()) return;
  const bool is_share = text.back() == '%';
  const char* const end = text.data() + text.size() - (is_share ? 1 : 0);
  double number = 0;
  const auto [read_to, fault] = std::from_chars(text.data(), end, number);
  if (fault != std::errc() || read_to != end || !(number > 0)) {
    raise({.code = &bench::kBenchChoice, .promised = "--demand N or N%", .found = text});
  }
  if (is_share) {
    options.demand_share = number / 100;
  } else {
    options.demand_clips_per_s = number;
  }
}

ExitCode replay(CommandContext& context, const std::string& path) {
  const File file = open_file(system_io(), path, OpenFor::kRead).take_or_raise();
  const std::vector<std::byte> bytes = read_whole(file, kMaxLogBytes).take_or_raise();
  const feed::TunerReplay replayed = feed::replay_tuner(feed::TunerLog::parse(view_text(bytes)));
  put_tuner_replay(context, replayed);
  return replayed.first_difference ? ExitCode::kCheckFailed : ExitCode::kDone;
}

// As the rows will be called, so that a kept report without any of them is refused at once.
std::vector<Json> names_of(const std::vector<bench::FeedBenchCase>& cases) {
  std::vector<Json> rows;
  rows.reserve(cases.size());
  for (const bench::FeedBenchCase& each : cases)
    rows.push_back({{"loader", bench::name_of(each.loader)},
                    {"path", bench::name_of(each.path)},
                    {"changed", each.changed}});
  return rows;
}

// What a grid led to, and how it compares with a kept report. False below the bar.
bool put_comparisons(CommandContext& context, const FeedBenchArguments& arguments,
                     const std::optional<Json>& kept) {
  const std::vector<Json> rows = context.report()["rows"].elements();
  if (!arguments.grid.empty())
    put_ranking(context, bench::rank_rates(rows, bench::kFeedRate), "clips/s");
  if (!kept || rows.empty()) return true;
  return put_differences(
      context, bench::compare_rates(rows, {*kept, arguments.against_file}, bench::kFeedRate),
      arguments.bar, "clips/s");
}

ExitCode run(CommandContext& context, const FeedBenchArguments& arguments) {
  if (!arguments.replayed_log_file.empty()) return replay(context, arguments.replayed_log_file);
  require_data(context, "to feed from");
  context.reserve_output(arguments.tuner_log_file);
  context.reserve_output(arguments.report_file);
  std::optional<Json> kept;
  if (!arguments.against_file.empty()) kept = read_kept(arguments.against_file, "bench feed");
  bench::FeedBenchOptions options{.cases = make_cases(context, arguments),
                                  .seconds = arguments.seconds,
                                  .num_windows = arguments.num_windows,
                                  .step_ms = arguments.step_ms,
                                  .consumer = arguments.consumer == "gemm"
                                                  ? bench::ConsumerKind::kGemm
                                                  : bench::ConsumerKind::kEmulated,
                                  .stop = context.stop_token(),
                                  .say = [&context](std::string_view line) { context.say(line); }};
  put_demand(arguments.demand, options);
  if (kept) bench::check_kept(names_of(options.cases), {*kept, arguments.against_file});
  const bench::FeedBenchReport report = bench::bench_feed(system_io(), options);
  put_feed_report(context, report);
  if (!arguments.report_file.empty()) {
    const observe::RunStory story = story_of_rows(report, context.settings().data.path);
    context.write_output(
        arguments.report_file,
        observe::run_page(story, *observe::language_from(arguments.report_language)));
    context.report()["report"] = arguments.report_file;
  }
  if (!arguments.tuner_log_file.empty() && !report.rows.empty() && report.rows.back().tuner) {
    context.write_output(arguments.tuner_log_file, report.rows.back().tuner->text());
    context.report()["out"] = arguments.tuner_log_file;
  }
  const bool is_met = put_comparisons(context, arguments, kept);
  return is_met ? ExitCode::kDone : ExitCode::kCheckFailed;
}

}  // namespace

void add_bench_feed_command(const Command& app, CommandContext& context) {
  const Command group = app.group("bench", "Benchmarks that check their own result");
  const Command command = group.add_command(
      "feed", "The whole feed against a consumer: loaders, paths and settings beside a reference");
  auto arguments = std::make_shared<FeedBenchArguments>();
  command.add_option("--loader", arguments->loaders, "naive, native").split_at(',').show_default();
  command.add_option("--path", arguments->paths, "cached, pcm, files, resident")
      .split_at(',')
      .show_default();
  command.add_option("--dtype", arguments->dtypes, "f16, f32, bf16: number format of the batches")
      .split_at(',');
  command
      .add_option("--grid", arguments->grid,
                  "A setting or its option and its values, num-workers=1,2,4; several: every "
                  "combination, ranked")
      .one_value_each_time();
  command
      .add_option("--instruments", arguments->instruments,
                  "on, off: with and without a record of every batch, and what it costs")
      .split_at(',')
      .one_of({"on", "off"});
  command.add_option("--demand", arguments->demand,
                     "Clips a second that the consumer asks for, or 90% of the supply, measured "
                     "before (default: as fast as possible)");
  command.add_option("--step-ms", arguments->step_ms, "Length of the consumer's step instead")
      .positive()
      .excludes("--demand");
  command
      .add_option("--consumer", arguments->consumer,
                  "emulated: steps pass without work; gemm: matrix products on the GPU")
      .one_of({"emulated", "gemm"})
      .show_default();
  command.add_option("--threads", arguments->num_threads, "data.num_workers");
  command.add_option("--seconds", arguments->seconds, "For each row, all its windows together")
      .positive()
      .show_default();
  command.add_option("--repeat", arguments->num_windows, "Windows of each row, taken in turn")
      .positive()
      .show_default();
  command.add_option("--report,--html", arguments->report_file, "Write a page");
  command.add_option("--report-language", arguments->report_language, "Language of the page")
      .one_of({"en", "fa"})
      .show_default();
  command.add_option("--against", arguments->against_file,
                     "Compare with the JSON of an earlier run; exit code 1 below the bar");
  command
      .add_option("--at-least,--bar", arguments->bar,
                  "Share of the earlier speed that must be reached")
      .in_range(0.0, 10.0)
      .show_default();
  command.add_option("--tuner-log", arguments->tuner_log_file,
                     "Write what the tuner of the last row saw and did");
  command.add_option("--replay-tuner", arguments->replayed_log_file,
                     "Only play such a log again and compare the moves");
  add_data_argument(command, context);
  add_feed_options(command, context);
  context.on(command, [&context, arguments] { return run(context, *arguments); });
}

}  // namespace stoker::cli
