#include <fmt/format.h>

#include <memory>
#include <string>

#include "stoker/base/bytes.h"
#include "stoker/base/cpu_count.h"
#include "stoker/base/json.h"
#include "stoker/base/number_text.h"
#include "stoker/bench/cache_bench.h"
#include "stoker/cli/command_context.h"
#include "stoker/cli/command_line.h"
#include "stoker/cli/commands.h"

namespace stoker::cli {
namespace {

struct CacheBenchArguments {
  bench::CacheBenchOptions options;
  unsigned num_threads = 0;
  std::string order_file;
};

std::string order_lines(const bench::CacheBenchReport& report) {
  std::string lines;
  for (const std::string& id : report.order) lines += id + "\n";
  return lines;
}

void put_report(CommandContext& context, const bench::CacheBenchReport& report) {
  Json& json = context.report();
  json["limit"] = "memcpy over the same mapping and order";
  json["kernel"] = report.kernel;
  json["records"] = report.num_records;
  json["bytes"] = report.size_bytes;
  json["build_s"] = report.build_s;
  json["first_pass_s"] = report.first_pass_s;
  json["verify_s"] = report.verify_s;
  json["verify_gb_per_s"] = static_cast<double>(report.size_bytes) * 1e-9 / report.verify_s;
  json["digest_f16"] = report.digest_f16.hex();
  json["digest_f32"] = report.digest_f32.hex();
  for (const bench::CacheBenchRow& row : report.rows) {
    json["rows"].push_back({{"path", row.path},
                            {"threads", row.num_threads},
                            {"clips_per_s", row.clips_per_s},
                            {"median_clips_per_s", row.median_clips_per_s},
                            {"gb_per_s", row.read_gb_per_s},
                            {"share_of_limit", row.share_of_limit},
                            {"cpu_s_per_1000_clips", row.cpu_s_per_1000_clips}});
    context.print(
        fmt::format("{:<11} {} thread{}  {:>9} clips/s best  {:>9} median  {:>5.1f} GB/s  "
                    "{:>4.0f} % of memcpy",
                    row.path, row.num_threads, row.num_threads == 1 ? " " : "s",
                    grouped(static_cast<std::uint64_t>(row.clips_per_s)),
                    grouped(static_cast<std::uint64_t>(row.median_clips_per_s)), row.read_gb_per_s,
                    100 * row.share_of_limit));
  }
  context.print(fmt::format("verify      {} in {} ({:.1f} GB/s)", bytes_text(report.size_bytes),
                            seconds_text(report.verify_s),
                            static_cast<double>(report.size_bytes) * 1e-9 / report.verify_s));
  context.print(fmt::format("first pass  {} (fresh mapping), kernel {}",
                            seconds_text(report.first_pass_s), report.kernel));
  context.print("digest f16  " + report.digest_f16.hex());
}

ExitCode run(CommandContext& context, const CacheBenchArguments& arguments) {
  context.reserve_output(arguments.order_file);
  bench::CacheBenchOptions options = arguments.options;
  options.num_threads = arguments.num_threads == 0 ? count_cpus().allowed : arguments.num_threads;
  options.stop = context.stop_token();
  const bench::CacheBenchReport report = bench::bench_cache(system_io(), options);
  put_report(context, report);
  context.report()["cache"] = options.folder;
  if (!arguments.order_file.empty())
    context.write_output(arguments.order_file, order_lines(report));
  return ExitCode::kDone;
}

}  // namespace

void add_bench_cache_command(const Command& app, CommandContext& context) {
  const Command group = app.group("bench", "Benchmarks that check their own result");
  const Command command = group.add_command(
      "cache", "Cached records into padded batches beside memcpy, every checksum compared");
  auto arguments = std::make_shared<CacheBenchArguments>();
  command
      .add_option("--cache", arguments->options.folder,
                  "Folder of a made-up cache; built there where there is none")
      .required();
  command.add_option("--records", arguments->options.num_records, "Records to make up")
      .show_default();
  command.add_option("--threads", arguments->num_threads,
                     "Measured beside one thread (0: the cores allowed)");
  command.add_option("--seconds", arguments->options.seconds, "For all measurements together")
      .show_default();
  command.add_option("--seed", arguments->options.seed, "Decides the order").show_default();
  command.add_option("--order-out", arguments->order_file, "Write the ids in their order there");
  context.on(command, [&context, arguments] { return run(context, *arguments); });
}

}  // namespace stoker::cli
