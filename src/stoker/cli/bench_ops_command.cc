#include <fmt/format.h>

#include <memory>
#include <string>

#include "stoker/base/json.h"
#include "stoker/base/number_text.h"
#include "stoker/bench/device_ops_bench.h"
#include "stoker/cli/command_context.h"
#include "stoker/cli/command_line.h"
#include "stoker/cli/commands.h"
#include "stoker/cuda/device_probe.h"
#include "stoker/cuda/errors.h"

namespace stoker::cli {
namespace {

// Says at once that there is no such GPU, before data is made for it.
cuda::DeviceInfo require_device(int index) {
  const cuda::DeviceProbe probe = cuda::probe_devices();
  for (const cuda::DeviceInfo& device : probe.devices)
    if (device.index == index) return device;
  raise({.code = probe.devices.empty() ? &cuda::kCudaNone : &cuda::kCudaIndex,
         .place = {},
         .promised = fmt::format("GPU {}", index),
         .found = probe.devices.empty() ? fmt::format("none ({})", probe.why_none)
                                        : fmt::format("{} GPUs", probe.devices.size()),
         .action = {},
         .cure = {}});
}

ExitCode run_bench(CommandContext& context, const bench::DeviceOpsOptions& options) {
  const cuda::DeviceInfo device = require_device(options.device);
  context.say("comparing every operation on " + device.name + " with the CPU's bytes");
  const bench::DeviceOpsReport report = bench::bench_device_ops(options, context.stop_token());
  Json& json = context.report();
  json["device"] = device.name;
  json["limit"] = "a copy on the device, bytes read and written";
  json["copy_gb_per_s"] = report.copy_gb_per_s;
  json["rows"] = Json::array();
  context.print("operation    detail                              us    clips/s   of a copy");
  for (const bench::DeviceOpRow& row : report.rows) {
    json["rows"].push_back({{"operation", row.operation},
                            {"detail", row.detail},
                            {"clips", row.num_clips},
                            {"median_us", row.median_us},
                            {"clips_per_s", row.clips_per_s},
                            {"gb_per_s", row.gb_per_s},
                            {"share_of_limit", row.share_of_copy},
                            {"one_core_clips_per_s", row.cpu_clips_per_s}});
    const std::string share =
        row.gb_per_s > 0 ? fmt::format("{:.0f} %", 100 * row.share_of_copy) : "-";
    context.print(fmt::format("{:<12} {:<28}{:>10.1f}{:>11}{:>12}", row.operation, row.detail,
                              row.median_us, grouped(static_cast<std::uint64_t>(row.clips_per_s)),
                              share));
  }
  return ExitCode::kDone;
}

}  // namespace

void add_bench_ops_command(const Command& app, CommandContext& context) {
  const Command group = app.group("bench", "Benchmarks that check their own result");
  const Command command =
      group.add_command("ops", "Casts, noise mix and Griffin-Lim on a GPU, beside a core");
  auto options = std::make_shared<bench::DeviceOpsOptions>();
  command.add_option("--gpu", options->device, "Number of the GPU").in_range(0, 255).show_default();
  command.add_option("--repeats", options->num_repeats, "Calls that are timed; the median counts")
      .in_range(1, 1000)
      .show_default();
  context.on(command, [&context, options] { return run_bench(context, *options); });
}

}  // namespace stoker::cli
