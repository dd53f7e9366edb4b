// `stoker monitor`: what GPUs, machine and a running feed do right now, on a terminal, as lines, as
// a table of samples and for Prometheus.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "stoker/cli/command_context.h"
#include "stoker/cli/command_line.h"
#include "stoker/cli/commands.h"
#include "stoker/cli/errors.h"
#include "stoker/cli/live_terminal.h"
#include "stoker/observe/http/metrics_server.h"
#include "stoker/observe/live/gpu_csv.h"
#include "stoker/observe/live/live_means.h"
#include "stoker/observe/live/live_sampler.h"
#include "stoker/observe/live/live_screen.h"
#include "stoker/observe/live/live_text.h"

namespace stoker::cli {
namespace {

using observe::FiguresPtr;

struct MonitorArguments {
  double interval_s = 1;
  std::optional<double> duration_s;
  std::string csv_file;
  bool has_log_file = false;  // with or without a name
  std::string http;
  bool allows_remote = false;
  unsigned pid = 0;  // 0: not given
  std::string run_folder;
  std::vector<std::string> gpus;
  std::string disk;
};

std::vector<unsigned> gpu_numbers(const std::vector<std::string>& words) {
  std::vector<unsigned> numbers;
  for (const std::string& word : words) {
    if (word == "all") return {};
    unsigned number = 0;
    const char* const end = word.data() + word.size();
    const auto [stopped, error] = std::from_chars(word.data(), end, number);
    if (error != std::errc() || stopped != end) {
      raise({.code = &kUsage,
             .promised = "--gpu with numbers, as nvidia-smi counts, or all",
             .found = fmt::format("\"{}\"", word),
             .cure = "type --gpu 0,1"});
    }
    numbers.push_back(number);
  }
  return numbers;
}

observe::LiveSourceOptions source_options(const MonitorArguments& arguments) {
  observe::LiveSourceOptions options;
  options.gpus = observe::open_gpu_gauges(gpu_numbers(arguments.gpus));
  options.feed.run_folder = arguments.run_folder;
  if (arguments.pid > 0) options.feed.pid = static_cast<int>(arguments.pid);
  if (!arguments.disk.empty()) {
    options.disk_path = arguments.disk;
  } else if (!arguments.run_folder.empty()) {
    options.disk_path = arguments.run_folder;
  }
  return options;
}

// Everything that one sample goes to.
class Monitor {
 public:
  Monitor(CommandContext& context, const MonitorArguments& arguments)
      : context_(context), arguments_(arguments) {
    open_table();
    sampler_.emplace(
        source_options(arguments),
        std::chrono::nanoseconds(static_cast<std::int64_t>(arguments.interval_s * 1e9)));
    if (!arguments.http.empty()) serve();
  }

  void run() {
    const bool prints_table = arguments_.csv_file == "-";
    if (can_show_live() && !context_.options().json && !prints_table) {
      show();
    } else {
      print();
    }
  }

  void report() {
    Json& out = context_.report();
    out["samples"] = means_.num_samples();
    out["interval_s"] = arguments_.interval_s;
    out["means"] = means_.json();
    out["last"] = sampler_->latest()->json();
    if (!table_path_.empty()) out["csv"] = table_path_;
    if (server_) out["http"] = server_->url();
  }

 private:
  void open_table() {
    table_path_ = arguments_.csv_file;
    if (arguments_.has_log_file && table_path_.empty())
      table_path_ = observe::default_csv_name(system_clock().unix_time_ns());
    if (table_path_.empty()) return;
    if (table_path_ != "-") {
      table_.emplace(observe::GpuCsvFile::open(table_path_).take_or_raise());
      return context_.say("samples of the GPUs go to " + escape_control(table_path_));
    }
    context_.reserve_output("-");
    context_.write_output("-", observe::kGpuCsvHeader);
  }

  void serve() {
    server_.emplace(observe::MetricsServerOptions{.address = arguments_.http,
                                                  .allows_remote = arguments_.allows_remote},
                    [this] { return sampler_->latest(); });
    context_.say(fmt::format("serving {} and {}metrics", server_->url(), server_->url()));
    if (server_->is_remote())
      context_.warn(
          "other machines can read these figures: there is neither password nor "
          "encryption");
  }

  bool is_over() const {
    return context_.stop_token().stop_requested() ||
           (arguments_.duration_s && watch_.seconds() >= *arguments_.duration_s);
  }

  // The next figures; null where none came within `at_most`.
  FiguresPtr next(std::chrono::nanoseconds at_most) {
    if (arguments_.duration_s) {
      const double left_s = std::max(0.0, *arguments_.duration_s - watch_.seconds());
      at_most =
          std::min(at_most, std::chrono::nanoseconds(static_cast<std::int64_t>(left_s * 1e9)));
    }
    FiguresPtr figures = sampler_->wait_newer(num_seen_, context_.stop_token(), at_most);
    if (figures->number <= num_seen_) return nullptr;
    num_seen_ = figures->number;
    means_.add(*figures);
    if (table_) table_->add(*figures).take_or_raise();
    context_.when_stopped(fmt::format("{} samples were taken; run the same command again to go on",
                                      means_.num_samples()));
    return figures;
  }

  void print() {
    std::string last_sentence;
    do {
      const FiguresPtr figures = next(std::chrono::hours(1));
      if (figures == nullptr) continue;
      if (num_seen_ == 1 && figures->gpus.empty())
        context_.say(escape_control(observe::no_gpu_text(*figures)));
      if (figures->feed.sentence != last_sentence)
        context_.say("feed: " + escape_control(figures->feed.sentence));
      last_sentence = figures->feed.sentence;
      if (table_path_ == "-") {
        context_.write_output("-", observe::gpu_csv_rows(*figures));
      } else {
        context_.print(observe::live_line(*figures));
        std::fflush(stdout);
      }
    } while (!is_over());
  }

  void show() {
    constexpr std::chrono::milliseconds kLookEvery(100);  // for keys and the size of the window
    observe::LiveScreen screen(terminal_style());
    if (server_) screen.set_note(server_->url());
    LiveTerminal terminal(context_.stop_token());
    observe::ScreenSize drawn{.num_columns = 0, .num_rows = 0};
    do {
      const FiguresPtr figures = next(kLookEvery);
      if (figures != nullptr) screen.add(figures);
      const observe::ScreenSize size = terminal_size();
      const bool is_resized =
          size.num_columns != drawn.num_columns || size.num_rows != drawn.num_rows;
      if (figures != nullptr || is_resized) terminal.draw(screen.rows(size));
      drawn = size;
    } while (!is_over() && !terminal.is_ended_by_key());
  }

  CommandContext& context_;
  const MonitorArguments& arguments_;
  std::string table_path_;
  std::optional<observe::GpuCsvFile> table_;
  observe::LiveMeans means_;
  std::uint64_t num_seen_ = 0;
  Stopwatch watch_;
  std::optional<observe::LiveSampler> sampler_;
  std::optional<observe::MetricsServer> server_;  // last: asks the sampler
};

void add_outputs(const Command& command, MonitorArguments& arguments) {
  command.add_option("--csv", arguments.csv_file,
                     "Append a row for each GPU and sample to this file; - for standard output");
  command
      .on_values(
          "--log-file",
          [&arguments](const std::vector<std::string>& values) {
            arguments.has_log_file = true;
            if (!values.empty()) arguments.csv_file = values.front();
          },
          "The same as --csv; without a name gpu_monitor_DATE_TIME.csv")
      .num_values(0, 1)
      .excludes("--csv");
  command.add_option("--http", arguments.http,
                     "Serve figures to Prometheus and browsers at HOST:PORT, e.g. 127.0.0.1:9109");
  command.add_flag("--http-remote", arguments.allows_remote,
                   "Let --http take an address that other machines can reach");
}

}  // namespace

void add_monitor_command(const Command& app, CommandContext& context) {
  const Command command =
      app.add_command("monitor", "What GPUs, CPU, disk and a running feed do right now");
  auto arguments = std::make_shared<MonitorArguments>();
  command.add_option("--interval", arguments->interval_s, "Seconds between samples")
      .in_range(0.1, 3600.0)
      .show_default();
  command.add_option("--duration", arguments->duration_s, "Seconds until the end; else Ctrl-C")
      .positive();
  command.add_option("--run", arguments->run_folder, "Watch the feed of this training's folder");
  command.add_option("--pid", arguments->pid, "Watch the feed of this process")
      .positive()
      .excludes("--run");
  command.add_option("--gpu", arguments->gpus, "Numbers as nvidia-smi counts; all by default")
      .split_at(',');
  command.add_option("--disk", arguments->disk,
                     "Folder whose disk is shown; else the run's, or this one");
  add_outputs(command, *arguments);
  context.on(command, [&context, arguments] {
    Monitor monitor(context, *arguments);
    monitor.run();
    monitor.report();
    return ExitCode::kDone;
  });
}

}  // namespace stoker::cli
