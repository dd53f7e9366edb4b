// `stoker bench mel --device cuda`: log-mel on a GPU, every output compared with the CPU's.
#include <fmt/format.h>

#include <string_view>
#include <vector>

#include "stoker/base/cpu_count.h"
#include "stoker/base/json.h"
#include "stoker/base/number_text.h"
#include "stoker/bench/device_mel_bench.h"
#include "stoker/bench/errors.h"
#include "stoker/cli/bench_reports.h"
#include "stoker/cli/command_context.h"
#include "stoker/cuda/device_api.h"

namespace stoker::cli {
namespace {

using audio::MelVariant;
using config::MelDtype;

bool is_plain_1024(const config::MelRecipe& r) {
  return r.n_fft == 1024 && r.hop_samples == 256 && !r.remove_dc && r.preemphasis == 0.0;
}

MelVariant variant_of(std::string_view name) {
  for (const MelVariant variant :
       {MelVariant::kHopper, MelVariant::kPortable, MelVariant::kGeneral}) {
    if (audio::mel_variant_name(variant) == name) return variant;
  }
  return MelVariant::kAuto;
}

std::vector<bench::DeviceMelCase> cases_of(const MelDeviceArguments& arguments) {
  const MelVariant variant = variant_of(arguments.variant);
  std::vector<bench::DeviceMelCase> cases;
  if (arguments.preset != "all") {
    const config::MelRecipe recipe = config::mel_preset(arguments.preset);
    for (const MelDtype dtype : {MelDtype::kF32, MelDtype::kF16, MelDtype::kBf16}) {
      cases.push_back({.recipe = recipe, .dtype = dtype, .variant = variant});
    }
    return cases;
  }
  for (const std::string_view preset : config::mel_preset_names()) {
    const config::MelRecipe recipe = config::mel_preset(preset);
    const bool is_fast = variant == MelVariant::kHopper || variant == MelVariant::kPortable;
    if (is_fast && !is_plain_1024(recipe)) continue;
    cases.push_back({.recipe = recipe, .dtype = MelDtype::kF32, .variant = variant});
  }
  return cases;
}

void require_right(const bench::DeviceMelCase& bench_case, const bench::DeviceMelRow& row) {
  if (row.agreement.num_wrong == 0 && row.repeatable) return;
  raise({.code = &bench::kBenchWrong,
         .place = {},
         .promised = row.repeatable ? "the GPU's log-mel within tolerance of the CPU's"
                                    : "equal bytes for every batch size",
         .found = fmt::format("{} in {}: {} values wrong, off by {:.3g} (loud), {:.3g} (quiet)",
                              bench_case.recipe.preset, audio::mel_variant_name(row.variant),
                              row.agreement.num_wrong, row.agreement.largest_loud,
                              row.agreement.largest_quiet),
         .action = {},
         .cure = {}});
}

Json row_json(const bench::DeviceMelCase& bench_case, const bench::DeviceMelRow& row) {
  Json speeds = Json::array();
  for (const bench::DeviceMelSpeed& speed : row.speeds) {
    speeds.push_back({{"batch", speed.batch},
                      {"clips_per_s", speed.utterances_per_s},
                      {"batch_us", speed.batch_us},
                      {"share_of_memory", speed.memory_share},
                      {"gflops", speed.gflops}});
  }
  return {{"preset", bench_case.recipe.preset},
          {"variant", audio::mel_variant_name(row.variant)},
          {"dtype", config::name_of(bench_case.dtype)},
          {"max_difference_loud", row.agreement.largest_loud},
          {"max_difference_quiet", row.agreement.largest_quiet},
          {"batches", speeds}};
}

void print_row(CommandContext& context, const bench::DeviceMelCase& bench_case,
               const bench::DeviceMelRow& row) {
  std::string line =
      fmt::format("{:<11}{:<10}{:<6}", bench_case.recipe.preset,
                  audio::mel_variant_name(row.variant), config::name_of(bench_case.dtype));
  for (const bench::DeviceMelSpeed& speed : row.speeds) {
    line +=
        fmt::format("{:>12} ({:>6.0f} us)",
                    grouped(static_cast<std::uint64_t>(speed.utterances_per_s)), speed.batch_us);
  }
  if (!row.speeds.empty()) {
    line += fmt::format("{:>7.0f} %", 100.0 * row.speeds.back().memory_share);
  }
  context.print(line);
}

}  // namespace

ExitCode run_device_mel_bench(CommandContext& context, const MelDeviceArguments& arguments) {
  cuda::system_device_api().enter_thread(arguments.device);  // says so where there is no GPU
  context.say("making a pool of 2,048 utterances and bringing it to the GPU");
  const bench::DeviceMelBench bench(
      {.device = arguments.device, .num_threads = count_cpus().allowed});
  context.say(
      fmt::format("{}: {:.0f} MB of int16, {:.2f} s an utterance; a copy on the GPU moves "
                  "{:.2f} TB/s",
                  bench.gpu_name(), bench.pool_bytes() * 1e-6, bench.mean_s(),
                  bench.copy_bytes_per_s() * 1e-12));
  Json& report = context.report();
  report["gpu"] = bench.gpu_name();
  report["pool_bytes"] = bench.pool_bytes();
  report["mean_s"] = bench.mean_s();
  report["copy_bytes_per_s"] = bench.copy_bytes_per_s();
  report["limit"] = "memory: samples in and mel out at the measured copy speed";
  report["rows"] = Json::array();
  context.print(
      "preset     kernel    dtype  clips/s (one batch) at 16, 64, 512, 2048    of memory");
  for (const auto& bench_case : cases_of(arguments)) {
    const bench::DeviceMelRow row = bench.run(bench_case, context.stop_token());
    require_right(bench_case, row);
    print_row(context, bench_case, row);
    report["rows"].push_back(row_json(bench_case, row));
  }
  return ExitCode::kDone;
}

}  // namespace stoker::cli
