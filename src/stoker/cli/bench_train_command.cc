// `stoker bench train`: training with each loader for a while, as the table by which people compare
// loaders.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "stoker/base/cpu_count.h"
#include "stoker/base/number_text.h"
#include "stoker/base/progress.h"
#include "stoker/bench/errors.h"
#include "stoker/bench/train_bench.h"
#include "stoker/bench/train_page.h"
#include "stoker/cli/bench_grid.h"
#include "stoker/cli/command_context.h"
#include "stoker/cli/command_line.h"
#include "stoker/cli/commands.h"
#include "stoker/cli/settings_options.h"
#include "stoker/cli/trainer_call.h"
#include "stoker/data/voice/data_set_maker.h"
#include "stoker/feed/device/gpu_mode.h"

namespace stoker::cli {
namespace {

namespace voice = data::voice;

constexpr double kSecondsPerMinute = 60;
constexpr double kDefaultMinutes = 5;

struct TrainBenchArguments {
  std::vector<std::string> loaders{"naive", "native"};
  std::vector<std::string> paths{"cached"};
  std::optional<double> minutes, seconds;
  double warmup_s = 5;
  std::string model = "stoker";
  double step_ms = 20;
  std::vector<std::string> grid;
  std::uint64_t num_clips = 1000;
  std::string html_file;
  std::string against_file;
  std::string keep;
  double bar = 0.97;
  bool with_steps = false;

  double seconds_each() const {
    return seconds.value_or(kSecondsPerMinute * minutes.value_or(kDefaultMinutes));
  }
};

// A data set with the lengths of LJSpeech, made once and used again.
std::string made_data(CommandContext& context, std::uint64_t num_clips) {
  std::string folder =
      (std::filesystem::temp_directory_path() / fmt::format("stoker-bench-voice-{}", num_clips))
          .string();
  if (std::filesystem::exists(folder + "/" + std::string(voice::kMetadataName))) return folder;
  context.say(fmt::format("making {} like those of LJSpeech in {}",
                          counted(num_clips, "utterance", "utterances"), folder));
  voice::make_data_set(system_io(),
                       {.out = folder,
                        .num_utterances = num_clips,
                        .lengths = voice::parse_lengths("ljspeech").take_or_raise(),
                        .num_workers = count_cpus().allowed,
                        .existing = voice::ExistingData::kReplace},
                       context.stop_token(), no_progress())
      .take_or_raise();
  return folder;
}

// The naive loader reads sound files, whatever the native one reads.
std::vector<bench::FeedPath> paths_of(bench::FeedLoader loader,
                                      const TrainBenchArguments& arguments) {
  if (loader == bench::FeedLoader::kNaive) return {bench::FeedPath::kFiles};
  std::vector<bench::FeedPath> paths;
  paths.reserve(arguments.paths.size());
  for (const std::string& name : arguments.paths) paths.push_back(bench::path_from(name));
  return paths;
}

std::vector<bench::FeedBenchCase> make_cells(CommandContext& context,
                                             const TrainBenchArguments& arguments) {
  std::vector<std::string> fixed;
  const config::DataSettings& data = context.settings().data;
  if (data.path.empty() && data.sources.empty())
    fixed.push_back("data.path=" + made_data(context, arguments.num_clips));
  std::vector<bench::FeedBenchCase> cells;
  for (const std::vector<std::string>& changes : combinations(arguments.grid)) {
    std::vector<std::string> set = fixed;
    set.insert(set.end(), changes.begin(), changes.end());
    const config::Settings settings =
        feed::resolve_auto_device(context.settings_with(set), feed::AutoMel::kMeasured);
    for (const std::string& name : arguments.loaders) {
      const bench::FeedLoader loader = bench::loader_from(name);
      for (const bench::FeedPath path : paths_of(loader, arguments))
        cells.push_back({loader, path, changes, bench::with_path(settings, loader, path)});
    }
  }
  return cells;
}

void print_table(CommandContext& context, const ReportTable& table) {
  std::vector<std::size_t> widths;
  for (std::size_t column = 0; column < table.header.size(); ++column) {
    std::size_t width = table.header[column].size();
    for (const auto& row : table.rows) width = std::max(width, row[column].size());
    widths.push_back(width);
  }
  const auto line_of = [&widths](const std::vector<std::string>& cells) {
    std::string line = fmt::format("{:<{}}", cells.front(), widths.front());
    for (std::size_t i = 1; i < cells.size(); ++i)
      line += fmt::format("  {:>{}}", cells[i], widths[i]);
    return line;
  };
  context.print(line_of(table.header));
  for (const auto& row : table.rows) context.print(line_of(row));
}

void put_rows(CommandContext& context, std::vector<Json> rows,
              const TrainBenchArguments& arguments) {
  if (!arguments.with_steps)
    for (Json& row : rows) row["per_step"] = nullptr;
  if (rows.size() == 1) context.report().update(rows.front());
  context.report()["rows"] = rows;
}

bench::TrainBenchOptions bench_options(CommandContext& context,
                                       const TrainBenchArguments& arguments) {
  return {.cells = make_cells(context, arguments),
          .model = bench::train_model_from(arguments.model),
          .seconds = arguments.seconds_each(),
          .step_ms = arguments.step_ms,
          .stop = context.stop_token(),
          .say = [&context](std::string_view line) { context.say(line); }};
}

// As the rows will be called, so that a kept report without any of them is refused at once.
std::vector<Json> names_of(const bench::TrainBenchOptions& options) {
  std::vector<Json> rows;
  rows.reserve(options.cells.size());
  for (const bench::FeedBenchCase& cell : options.cells)
    rows.push_back({{"loader", bench::name_of(cell.loader)},
                    {"path", bench::name_of(cell.path)},
                    {"model", bench::name_of(options.model)},
                    {"changed", cell.changed}});
  return rows;
}

void check_one_kept(const bench::TrainBenchOptions& options, const std::string& keep) {
  if (keep.empty()) return;
  if (options.model == bench::TrainModel::kStoker && options.cells.size() == 1) return;
  raise({.code = &bench::kBenchChoice,
         .promised = "one row of --model stoker with --keep",
         .found = fmt::format("{} of --model {}", counted(options.cells.size(), "row", "rows"),
                              bench::name_of(options.model)),
         .cure = "name one loader and one path: --loader native --path cached"});
}

ExitCode run(CommandContext& context, const TrainBenchArguments& arguments) {
  context.reserve_output(arguments.html_file);
  std::optional<Json> kept;
  if (!arguments.against_file.empty()) kept = read_kept(arguments.against_file, "bench train");
  bench::TrainBenchOptions options = bench_options(context, arguments);
  if (kept) bench::check_kept(names_of(options), {*kept, arguments.against_file});
  check_one_kept(options, arguments.keep);
  std::optional<train::TrainLibrary> library;
  if (options.model == bench::TrainModel::kStoker) library = find_trainer().take_or_raise();
  TrainerTalk talk(context);
  context.when_stopped("rows that were not measured to their end are left out");
  options.measure = [&](const bench::FeedBenchCase& cell) {
    return library->measure(cell.settings,
                            {.loader = std::string(bench::name_of(cell.loader)),
                             .seconds = options.seconds,
                             .warmup_s = arguments.warmup_s,
                             .mode = "both",
                             .with_steps = arguments.with_steps || !arguments.html_file.empty(),
                             .keep = arguments.keep},
                            talk.hooks());
  };
  const std::vector<Json> rows = bench::bench_train(system_io(), options);
  if (!rows.empty()) print_table(context, bench::train_table(rows));
  if (!arguments.html_file.empty() && !rows.empty()) {
    context.write_output(arguments.html_file,
                         bench::train_page(rows, seconds_text(options.seconds) + " a row"));
    context.report()["out"] = arguments.html_file;
  }
  if (!arguments.grid.empty())
    put_ranking(context, bench::rank_rates(rows, bench::kTrainRate), "frames/s");
  const bool is_met =
      !kept || rows.empty() ||
      put_differences(
          context, bench::compare_rates(rows, {*kept, arguments.against_file}, bench::kTrainRate),
          arguments.bar, "true frames/s");
  put_rows(context, rows, arguments);
  return is_met ? ExitCode::kDone : ExitCode::kCheckFailed;
}

void add_own_options(const Command& command, TrainBenchArguments& arguments) {
  command.add_option("--loader", arguments.loaders, "naive, native").split_at(',').show_default();
  command.add_option("--path", arguments.paths, "What the native loader reads: cached, pcm, files")
      .split_at(',')
      .show_default();
  command.add_option("--minutes", arguments.minutes, "For each row (5)").positive();
  command.add_option("--seconds", arguments.seconds, "For each row instead")
      .positive()
      .excludes("--minutes");
  command.add_option("--warmup", arguments.warmup_s, "Seconds before anything is counted")
      .positive()
      .show_default();
  command
      .add_option("--model", arguments.model,
                  "stoker: what `stoker train` trains; gemm: matrix products on a GPU; none: the "
                  "feed alone")
      .one_of({"none", "gemm", "stoker"})
      .show_default();
  command.add_option("--step-ms", arguments.step_ms, "Length of a step of matrix products")
      .positive()
      .show_default();
  command
      .add_option("--grid", arguments.grid,
                  "A setting or its option and its values, num-workers=1,2,4; several: every "
                  "combination, ranked")
      .one_value_each_time();
  command
      .add_option("--clips", arguments.num_clips,
                  "Utterances of the data set that is made where none is named")
      .positive()
      .show_default();
  command.add_option("--html", arguments.html_file, "Write the table and timelines as a page");
  command.add_option("--against", arguments.against_file,
                     "Compare with the JSON of an earlier run; exit code 1 below the bar");
  command
      .add_option("--at-least,--bar", arguments.bar,
                  "Share of the earlier speed that must be reached")
      .in_range(0.0, 10.0)
      .show_default();
  command.add_option("--keep", arguments.keep,
                     "Run folder for what the one row has learned, to speak with; without it "
                     "nothing is saved");
  command.add_flag("--per-step", arguments.with_steps, "List every step in the JSON");
}

}  // namespace

void add_bench_train_command(const Command& app, CommandContext& context) {
  const Command group = app.group("bench", "Benchmarks that check their own result");
  const Command command = group.add_command(
      "train", "Training with each loader: GPU %, CPU %, time between batches, speed-up");
  auto arguments = std::make_shared<TrainBenchArguments>();
  add_own_options(command, *arguments);
  add_data_argument(command, context);
  add_train_bench_options(command, context);
  context.on(command, [&context, arguments] { return run(context, *arguments); });
}

}  // namespace stoker::cli
