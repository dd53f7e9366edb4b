#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "stoker/base/cpu_count.h"
#include "stoker/base/json.h"
#include "stoker/base/number_text.h"
#include "stoker/bench/errors.h"
#include "stoker/bench/mel_bench.h"
#include "stoker/cli/bench_reports.h"
#include "stoker/cli/command_context.h"
#include "stoker/cli/command_line.h"
#include "stoker/cli/commands.h"
#include "stoker/cuda/device.h"
#include "stoker/observe/feed_limits.h"

namespace stoker::cli {
namespace {

struct MelArguments {
  std::string preset = "hifigan";
  std::string device = "cpu";
  std::string variant = "auto";
  std::size_t num_threads = 0;
  double seconds = 3.0;
};

// What this run may use, best first: STOKER_SIMD's level and those below it.
std::vector<SimdLevel> levels_to_run() {
  const SimdLevel top = simd_level().take_or_raise();
  std::vector<SimdLevel> levels{top};
  if (top == SimdLevel::kAvx512) levels.push_back(SimdLevel::kAvx2);
  if (top != SimdLevel::kScalar) levels.push_back(SimdLevel::kScalar);
  return levels;
}

void require_right(const bench::MelBenchRow& row) {
  if (row.accurate && row.repeatable) return;
  raise({.code = &bench::kBenchWrong,
         .place = {},
         .promised = row.accurate ? "equal bytes in every repetition"
                                  : "log-mel within tolerance of the f64 reference",
         .found = fmt::format("level {}: off by {:.3g} (loud), {:.3g} (quiet)",
                              simd_level_name(row.level), row.difference.largest_loud,
                              row.difference.largest_quiet),
         .action = {},
         .cure = {}});
}

Json row_json(const bench::MelBenchRow& row) {
  Json stages;
  for (std::size_t s = 0; s < audio::kMelStageNames.size(); ++s) {
    stages[std::string(audio::kMelStageNames[s])] = row.stage_ns_per_frame[s];
  }
  return {{"level", simd_level_name(row.level)},
          {"threads", row.num_threads},
          {"clips", row.num_clips},
          {"clips_per_s", row.clips_per_s},
          {"median_clips_per_s", row.median_clips_per_s},
          {"best_clips_per_s", row.best_clips_per_s},
          {"audio_s_per_s", row.clips_per_s * observe::kMeasuringClipSamples / 22050.0},
          {"cpu_s_per_1000_clips", row.cpu_s_per_1000_clips},
          {"gflops", row.gflops},
          {"peak_gflops", row.peak_gflops},
          {"share_of_limit", row.share_of_peak},
          {"calm", row.calm},
          {"stage_ns_per_frame", stages},
          {"max_difference_loud", row.difference.largest_loud},
          {"max_difference_quiet", row.difference.largest_quiet},
          {"mean_difference", row.difference.mean}};
}

void print_row(CommandContext& context, const bench::MelBenchRow& row) {
  context.print(fmt::format("{:<8}{:>7}{:>12}{:>12}{:>12}{:>10.1f}{:>9.0f} %{:>8.2f}",
                            simd_level_name(row.level), row.num_threads,
                            grouped(static_cast<std::uint64_t>(row.clips_per_s)),
                            grouped(static_cast<std::uint64_t>(row.median_clips_per_s)),
                            grouped(static_cast<std::uint64_t>(row.best_clips_per_s)), row.gflops,
                            100.0 * row.share_of_peak, row.calm));
}

void print_stages(CommandContext& context, const bench::MelBenchRow& row) {
  double total = 0;
  for (const double ns : row.stage_ns_per_frame) total += ns;
  context.print(
      fmt::format("\nwhere a frame's {:.0f} ns go ({}):", total, simd_level_name(row.level)));
  for (std::size_t s = 0; s < audio::kMelStageNames.size(); ++s) {
    context.print(fmt::format("  {:<32}{:>6.0f} ns {:>4.0f} %", audio::kMelStageNames[s],
                              row.stage_ns_per_frame[s],
                              100.0 * row.stage_ns_per_frame[s] / total));
  }
}

ExitCode run_bench(CommandContext& context, const MelArguments& arguments) {
  const config::MelRecipe recipe = config::mel_preset(arguments.preset);
  context.say("computing the f64 reference of one clip (144,953 samples)");
  const auto reference =
      bench::mel_reference(recipe, bench::unit_samples(observe::measuring_clip()));
  const std::size_t most =
      arguments.num_threads > 0 ? arguments.num_threads : std::min(2U, count_cpus().allowed);
  std::vector<bench::MelBenchOptions> runs;
  for (const SimdLevel level : levels_to_run()) {
    runs.push_back(
        {.recipe = recipe, .level = level, .num_threads = 1, .seconds = arguments.seconds});
  }
  if (most > 1) {
    runs.push_back(runs.front());
    runs.back().num_threads = most;
  }
  context.print("level   threads   clips/s      median        best   GFLOP/s    of peak    calm");
  std::vector<bench::MelBenchRow> rows;
  for (const bench::MelBenchOptions& run : runs) {
    rows.push_back(bench::bench_mel(run, reference, context.stop_token()));
    require_right(rows.back());
    print_row(context, rows.back());
  }
  print_stages(context, rows.front());
  Json& report = context.report();
  report.update(row_json(rows.front()));
  report["preset"] = arguments.preset;
  report["limit"] = "multiply-adds of one core, measured beside each group";
  if (most > 1) report["threads_gain"] = rows.back().clips_per_s / rows.front().clips_per_s;
  report["rows"] = Json::array();
  for (const bench::MelBenchRow& row : rows) report["rows"].push_back(row_json(row));
  return ExitCode::kDone;
}

}  // namespace

void add_bench_mel_command(const Command& app, CommandContext& context) {
  const Command group = app.group("bench", "Benchmarks that check their own result");
  const Command command = group.add_command("mel", "Log-mel of the mean clip (6.574 s), per core");
  auto arguments = std::make_shared<MelArguments>();
  command.add_option("--preset", arguments->preset, "Mel preset").show_default();
  command
      .add_option("--device", arguments->device,
                  "Where to compute: cpu, cuda or cuda:N; on a GPU --preset all runs every preset")
      .show_default();
  command.add_option("--variant", arguments->variant, "The GPU's kernel")
      .one_of({"auto", "hopper", "portable", "general"})
      .show_default();
  command
      .add_option("--threads", arguments->num_threads,
                  "Threads of the last row (default: 2, or 1 where only one core is allowed)")
      .in_range(1, 1024);
  command.add_option("--seconds", arguments->seconds, "Time for each row")
      .in_range(0.01, 3600.0)
      .show_default();
  context.on(command, [&context, arguments] {
    const auto device = cuda::parse_device(arguments->device).take_or_raise();
    if (!device || device->is_cpu()) return run_bench(context, *arguments);
    return run_device_mel_bench(
        context,
        {.preset = arguments->preset, .variant = arguments->variant, .device = device->index()});
  });
}

}  // namespace stoker::cli
