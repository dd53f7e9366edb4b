// `stoker stream`: runs the feed and prints one line a batch, so that two runs can be compared.
#include <fcntl.h>
#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stoker/base/bytes.h"
#include "stoker/base/io/io.h"
#include "stoker/base/io/output_file.h"
#include "stoker/base/json.h"
#include "stoker/base/number_text.h"
#include "stoker/cli/batch_file.h"
#include "stoker/cli/command_context.h"
#include "stoker/cli/command_line.h"
#include "stoker/cli/commands.h"
#include "stoker/cli/errors.h"
#include "stoker/cli/settings_options.h"
#include "stoker/data/account.h"
#include "stoker/data/summary.h"
#include "stoker/feed/device/gpu_mode.h"
#include "stoker/feed/open_feed.h"

namespace stoker::cli {
namespace {

constexpr std::uint64_t kMaxStateFileBytes = 4096;

struct StreamArguments {
  std::optional<std::uint64_t> num_batches;
  std::optional<std::uint64_t> from_batch;
  std::string state_in;
  std::string state_out;
  std::string rejects_file;
  std::string save_folder;
  std::uint64_t delay_us = 0;
  bool list_ids = false;
};

// A state names its batch already.
void check_start(const StreamArguments& arguments) {
  if (arguments.state_in.empty() || !arguments.from_batch) return;
  raise(
      {.code = &kUsage,
       .promised = "one start, by --state-in or by --from-batch",
       .found = fmt::format("both: {} and {}", arguments.state_in, *arguments.from_batch),
       .cure = "leave out --from-batch to go on from the state, or --state-in to start elsewhere"});
}

// Empty where it is missing or cannot be read: it only adds names to a refusal.
std::string load_origin(const std::string& state_path) {
  if (state_path.empty()) return {};
  const std::string path = state_path + std::string(feed::kOriginSuffix);
  const Result<File> file = open_file(system_io(), path, OpenFor::kRead);
  if (!file) return {};
  const Result<std::vector<std::byte>> bytes = read_whole(*file, feed::kMaxOriginBytes);
  return bytes ? std::string(view_text(*bytes)) : std::string();
}

// Nothing when no file is named; an empty file is a damaged state, not a start from the front.
std::optional<std::string> load_state(const std::string& path) {
  if (path.empty()) return std::nullopt;
  const File file = open_file(system_io(), path, OpenFor::kRead).take_or_raise();
  return std::string(view_text(read_whole(file, kMaxStateFileBytes).take_or_raise()));
}

// Neither standard output nor a pipe or a device.
bool is_file_or_new(const std::string& path) {
  if (path == "-") return false;
  FileInfo info;
  const SysResult found = system_io().info_at(AT_FDCWD, path, info);
  return !found.ok() || info.kind == FileKind::kRegular || info.kind == FileKind::kLink;
}

std::string shape_text(const feed::BatchShape& shape) {
  return fmt::format("{}x{}x{}", shape.num_rows, shape.num_frames, shape.num_tokens);
}

// One run of the command.
class StreamRun {
 public:
  StreamRun(CommandContext& context, const StreamArguments& arguments)
      : context_(context), arguments_(arguments) {}

  ExitCode run() {
    const Stopwatch started;
    check_start(arguments_);
    context_.reserve_output(arguments_.state_out);
    context_.reserve_output(arguments_.rejects_file);
    make_save_folder();
    context_.when_stopped(stop_text());
    feed::OpenedFeed opened =
        feed::open_feed(feed::resolve_auto_device(context_.settings(), feed::AutoMel::kHost),
                        {.state = load_state(arguments_.state_in),
                         .state_origin = load_origin(arguments_.state_in),
                         .delay = std::chrono::microseconds(arguments_.delay_us),
                         .stop = context_.stop_token()});
    if (arguments_.from_batch) opened.feed.seek({0, *arguments_.from_batch});
    save_origin(opened.feed);
    tell_rejects(opened);
    context_.say(data::voices_text(opened.source->index()));
    if (!opened.building.empty())
      context_.say("cache     " + opened.building + ", completed while batches are made");
    for (const std::string& line : opened.mode.lines) context_.say(line);
    if (!opened.mode.mel.reason.empty()) {
      context_.say(opened.mode.text + ": " + opened.mode.mel.reason);
    }
    const double open_s = started.seconds();
    stream(opened.feed, started);
    report(opened, open_s);
    return ExitCode::kDone;
  }

 private:
  void stream(feed::Feed& feed, const Stopwatch& started) {
    while (!arguments_.num_batches || num_batches_ < *arguments_.num_batches) {
      const std::optional<feed::Batch> batch = feed.next(context_.stop_token());
      if (context_.stop_token().stop_requested()) break;
      if (batch) {
        if (num_batches_ == 0) first_batch_s_ = started.seconds();
        ++num_batches_;
        save(*batch, feed.format());
        show(*batch);
      }
      save_state(feed);
      if (!batch && !arguments_.num_batches) break;
    }
  }

  // The line of a batch is out before the state counts it: a kill in between repeats a batch, it
  // never loses one.
  void save_state(const feed::Feed& feed) {
    if (arguments_.state_out.empty()) return;
    std::fflush(stdout);
    context_.write_output(arguments_.state_out, feed.state() + "\n");
  }

  // Beside a state that is a file, before its first line: the names that a refusal will need.
  void save_origin(const feed::Feed& feed) {
    const std::string& path = arguments_.state_out;
    if (path.empty() || !is_file_or_new(path)) return;
    context_.write_output(path + std::string(feed::kOriginSuffix), feed.state_origin());
  }

  // Before the line of the batch: who reads the line finds the file.
  void save(const feed::Batch& batch, const feed::BatchFormat& format) {
    if (arguments_.save_folder.empty()) return;
    publish_output(system_io(), arguments_.save_folder + "/" + batch_file_name(batch),
                   encode_batch_file(batch, format))
        .take_or_raise();
  }

  std::string stop_text() const {
    if (arguments_.state_out.empty())
      return "no state was kept: --state-out FILE saves one after every batch, to go on from with "
             "--state-in FILE";
    return fmt::format(
        "the state after the last batch printed is in {0}; to go on, run the same "
        "command with --state-in {0}",
        arguments_.state_out);
  }

  void make_save_folder() {
    if (arguments_.save_folder.empty()) return;
    make_folders(system_io(), arguments_.save_folder).take_or_raise();
  }

  void show(const feed::Batch& batch) {
    const std::string content = batch.content_digest().hex();
    const std::string ids = batch.ids_digest().hex();
    stream_.add(view_bytes(content));
    context_.print(fmt::format("{} {} {} {} {}", batch.epoch(), batch.index(),
                               shape_text(batch.shape()), ids, content));
    if (!context_.options().json) return;
    const feed::BatchShape& shape = batch.shape();
    Json line{{"epoch", batch.epoch()},
              {"index", batch.index()},
              {"shape", Json::array({shape.num_rows, shape.num_frames, shape.num_tokens})},
              {"ids", ids},
              {"content", content},
              {"global_ids", batch.global_ids_digest().hex()}};
    if (arguments_.list_ids) {
      Json rows = Json::array();
      for (std::size_t row = 0; row < batch.num_rows(); ++row) rows.push_back(batch.id(row));
      line["rows"] = std::move(rows);
    }
    lines_.push_back(std::move(line));
  }

  void report(const feed::OpenedFeed& opened, double open_s) {
    const feed::FeedStats stats = opened.feed.stats();
    Json stages = Json::object();
    for (const auto& stage : stats.pipeline.stages) stages[std::string(stage.name)] = stage.busy_s;
    Json& out = context_.report();
    out["batches"] = std::move(lines_);
    out["stream_digest"] = stream_.finish().hex();
    for (const feed::BatchCountField& field : feed::kBatchCountFields) {
      if (!field.stream_key.empty()) out[std::string(field.stream_key)] = stats.*field.member;
    }
    out["padding_share"] = stats.padding_share();
    out["first_batch_s"] = first_batch_s_;
    out["open_s"] = open_s;
    out["fills"] = stats.pipeline.fills;
    out["stages"] = std::move(stages);
    out["device"] = opened.mode.choice.mode == feed::GpuMode::kCpu
                        ? std::string("cpu")
                        : Device::cuda(opened.mode.choice.model_device).text();
    out["path"] = opened.feed.identity().path + "/" +
                  std::string(config::name_of(opened.feed.format().dtype));
    out["num_shapes"] = opened.feed.shapes().size();
    out["epoch_batches"] = opened.feed.num_batches();
    out["state"] = opened.feed.state();
    const data::IndexCounts counts = feed::count_rows(opened);
    out["digest_version"] = feed::kContentDigestVersion;
    out["num_speakers"] = opened.source->index().speakers().size();
    out["rows"] = counts.rows;
    out["accepted"] = counts.accepted;
    out["rejected"] = counts.rejected;
    out["fallbacks"] = feed::fallbacks_json(stats.fallbacks);
    keep_rejects(opened);
    if (counts.rejected > 0) {
      context_.say(fmt::format("{} = {} accepted + {} filtered + {} rejected",
                               counted(counts.rows, "row", "rows"), grouped(counts.accepted),
                               grouped(counts.filtered), grouped(counts.rejected)));
    }
    context_.say(fmt::format("{}, {}, {:.2f} % padding, stream {}",
                             counted(stats.num_batches, "batch", "batches"),
                             counted(stats.num_clips, "utterance", "utterances"),
                             100.0 * stats.padding_share(), stream_.finish().hex()));
  }

  // Rows that will not come, so that nobody counts on them.
  void tell_rejects(const feed::OpenedFeed& opened) {
    const std::string line = feed::rejects_line(opened);
    if (!line.empty()) context_.warn(line);
  }

  // Rows rejected by the index and those that turned bad on the way, in the words of rejects.jsonl.
  void keep_rejects(const feed::OpenedFeed& opened) {
    const std::span<const data::Reject> indexed = opened.source->index().rejects();
    std::vector<data::Reject> rejects(indexed.begin(), indexed.end());
    for (const feed::BadRow& bad : opened.feed.bad_rows()) {
      rejects.push_back({bad.id, bad.line, opened.source->index()[bad.row].source, bad.error});
      context_.warn(error_line(bad.error));
    }
    if (arguments_.rejects_file.empty()) return;
    context_.write_output(arguments_.rejects_file, data::rejects_jsonl(rejects));
  }

  CommandContext& context_;
  const StreamArguments& arguments_;
  DigestStream stream_;
  Json lines_ = Json::array();
  std::uint64_t num_batches_ = 0;
  double first_batch_s_ = 0;
};

}  // namespace

void add_stream_command(const Command& app, CommandContext& context) {
  const Command stream =
      app.add_command("stream", "Run the feed and print what each batch holds, as digests");
  auto arguments = std::make_shared<StreamArguments>();
  add_data_argument(stream, context);
  stream
      .add_option("--batches,--num-batches", arguments->num_batches,
                  "How many (default: one epoch)")
      .positive();
  stream
      .add_option("--from-batch", arguments->from_batch,
                  "Start at this batch, counted from the first of epoch 0")
      .not_negative();
  stream.add_option("--state-in", arguments->state_in, "Go on from a saved state");
  stream.add_option("--state-out", arguments->state_out,
                    "Save the state here after every batch, and what it was made with in "
                    "FILE.settings");
  stream.add_option("--rejects", arguments->rejects_file,
                    "Write rows rejected, then or while running, to this file");
  stream.add_option("--random-delay-us", arguments->delay_us,
                    "Wait up to this long before each utterance: nothing may depend on it");
  stream.add_option("--save", arguments->save_folder,
                    "Write what each batch holds into this folder, one .npz file a batch");
  stream.add_flag("--list-ids", arguments->list_ids, "Add the ids of each batch to the JSON");
  add_feed_options(stream, context);
  context.on(stream, [&context, arguments] { return StreamRun(context, *arguments).run(); });
}

}  // namespace stoker::cli
