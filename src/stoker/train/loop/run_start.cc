#include "stoker/train/loop/run_start.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "stoker/base/bytes.h"
#include "stoker/base/cpu_count.h"
#include "stoker/base/io/paths.h"
#include "stoker/base/number_text.h"
#include "stoker/config/settings_text.h"
#include "stoker/feed/sampling/ranks.h"
#include "stoker/train/errors.h"
#include "stoker/train/loop/device/step_packing.h"
#include "stoker/train/loop/device_share.h"
#include "stoker/train/loop/fitted_batches.h"
#include "stoker/train/loop/mel_scale.h"
#include "stoker/train/model/model_shape.h"

namespace stoker::train {
namespace {

using config::Settings;

void check_given(const Settings& settings, const TrainingHooks& hooks) {
  given_mel_scale(settings.training);
  if (settings.training.model != "stoker")
    tell_line(hooks, fmt::format("model {}: stoker's own model is trained in its place; it learns "
                                 "from the same batches (training.model stoker)",
                                 settings.training.model));
  const feed::RankRows ranks = feed::ranks_of(settings.loader);
  if (ranks.world_size > 1)
    raise({.code = &kTrainSettings,
           .promised = "one process (data.world_size 1)",
           .found = fmt::format("{} of them", ranks.world_size),
           .cure = "start one process; each GPU can train a run of its own"});
}

config::Precision resolved_precision(config::Precision asked, Device device) {
  using config::Precision;
  if (asked == Precision::kAuto) return device.is_cuda() ? Precision::kBf16 : Precision::kFp32;
  const bool wants_gpu = asked == Precision::kFp16 || asked == Precision::kTf32;
  if (device.is_cpu() && wants_gpu)
    raise({.code = &kTrainSettings,
           .promised = "training.precision fp32 or bf16 on a CPU",
           .found = std::string(config::names_of(asked)[static_cast<std::size_t>(asked)])});
  return asked;
}

bool uses_graphs(config::OnOffAuto asked, Device device) {
  if (device.is_cpu() && asked == config::OnOffAuto::kOn)
    raise({.code = &kTrainSettings,
           .promised = "training.graphs auto or off on a CPU",
           .found = "on",
           .cure = "leave out --graphs, or name a GPU with --device"});
  return device.is_cuda() && asked != config::OnOffAuto::kOff;
}

UpdateRule rule_of(const config::OptimizerSettings& optimizer) {
  return {.is_decoupled = optimizer.optimizer == "adamw",
          .beta1 = optimizer.beta1,
          .beta2 = optimizer.beta2,
          .epsilon = optimizer.epsilon,
          .weight_decay = optimizer.weight_decay,
          .clip_norm = optimizer.gradient_clip_norm,
          .ema_decay = optimizer.ema_decay};
}

// What an earlier run left in the folder.
struct EarlierRun {
  Checkpoint checkpoint;
  std::string folder;
  VoiceRecord voice;
  RunState state;
};

class Starter {
 public:
  Starter(const Settings& settings, const TrainingHooks& hooks)
      : settings_(settings), hooks_(hooks), training_(settings.training) {}

  StartedRun start() {
    check_given(settings_, hooks_);
    RunFolder folder = RunFolder::open(*hooks_.io, training_.checkpoint_dir).take_or_raise();
    run_folder_ = folder.path();
    std::optional<EarlierRun> earlier = find_earlier(folder);
    const bool is_resumed = earlier && !training_.reset_training;
    if (is_resumed) compare_settings(earlier->voice.settings, settings_);
    if (is_resumed && is_fitted() && earlier->state.batch_frames > 0)
      batch_frames_ = earlier->state.batch_frames;
    StartedRun run{.folder = std::move(folder), .feeds = open_feeds(earlier)};
    run.is_resumed = is_resumed;
    run.is_reset = earlier && training_.reset_training;
    tell_feeds(run.feeds);
    if (is_resumed) run.state = earlier->state;
    make_learner(run, earlier);
    if (is_resumed)
      tell_line(hooks_, fmt::format("resumed from {}: step {}, epoch {}", earlier->folder,
                                    run.state.step, run.state.epochs_done));
    if (run.is_reset) put_aside(run, earlier->checkpoint.step);
    return run;
  }

  StartedRun start_unsaved() {
    check_given(settings_, hooks_);
    std::optional<EarlierRun> none;
    StartedRun run{.folder = {}, .feeds = open_feeds(none)};
    tell_feeds(run.feeds);
    make_learner(run, none);
    return run;
  }

 private:
  std::optional<EarlierRun> find_earlier(const RunFolder& folder) {
    const std::vector<std::uint64_t> steps = folder.steps().take_or_raise();
    const bool is_wanted = training_.resume || training_.reset_training;
    if (steps.empty()) {
      if (is_wanted)
        tell_line(hooks_, fmt::format("no checkpoint in {}: training starts from the first step",
                                      folder.path()));
      return std::nullopt;
    }
    if (!is_wanted)
      raise(
          {.code = &kTrainRun,
           .place = {.file = folder.path()},
           .promised = "a folder without checkpoints",
           .found = fmt::format("{}, the newest of step {}",
                                counted(steps.size(), "checkpoint", "checkpoints"), steps.back())});
    FoundCheckpoint found = load_checkpoint(*hooks_.io, folder.path()).take_or_raise();
    for (const std::string& line : found.passed_over)
      tell_warning(hooks_, "passed over, not whole: " + line);
    VoiceRecord voice = take_voice(found.checkpoint, found.folder);
    RunState state = run_state_of(found.checkpoint.state, found.folder);
    return EarlierRun{std::move(found.checkpoint), found.folder, std::move(voice),
                      std::move(state)};
  }

  void compare_settings(const Settings& before, const Settings& now) {
    tell_or_refuse(changed_settings(before, now));
  }

  void tell_or_refuse(const std::vector<ChangedSetting>& changes) {
    if (changes.empty()) return;
    if (!training_.allow_changed_data)
      raise({.code = &kTrainChanged,
             .place = {.file = training_.checkpoint_dir},
             .promised = "the settings of the checkpoint",
             .found = changes_text(changes)});
    tell_warning(hooks_, "goes on with other settings: " + changes_text(changes));
  }

  RunFeeds open_feeds(const std::optional<EarlierRun>& earlier) {
    FeedStart start{.may_differ = training_.allow_changed_data, .run_folder = run_folder_};
    if (earlier && !training_.reset_training) {
      start.state = earlier->state.feed;
      start.origin = earlier->state.feed_origin;
    }
    Settings settings = settings_;
    if (batch_frames_) settings.batch.batch_frames = static_cast<std::int64_t>(*batch_frames_);
    return open_run_feeds(settings, start, hooks_);
  }

  bool is_fitted() const { return !settings_.batch.batch_frames && !settings_.batch.batch_size; }

  void fit(StartedRun& run, const LearnerOptions& options, const DeviceShare& share,
           std::uint64_t bytes_before) {
    if (run.device.is_cpu()) {
      tell_line(hooks_, fmt::format("data.batch_frames auto: {}; only a GPU's memory is probed",
                                    grouped(config::kDefaultBatchFrames)));
      return;
    }
    const std::uint64_t taken = bytes_before - std::min(bytes_before, feed_bytes(run.feeds));
    // While sizes are tried, nothing goes beyond the share: others may need it.
    share.bound(*run.learner);
    const BatchSizing sizing =
        fit_batches(run.feeds, *run.learner,
                    {.allowed_bytes = share.max_bytes() - std::min(share.max_bytes(), taken),
                     .max_reference_frames = options.shape.reference_frames});
    const auto make_ready = [&](std::uint32_t frames) -> std::optional<std::uint64_t> {
      run.learner->forget_prepared();
      batch_frames_ = frames;
      run.feeds = open_feeds(std::nullopt);
      share.bound(*run.learner);
      const auto bytes = bytes_when_ready(*run.learner, run.feeds.train.feed, options);
      if (!bytes) return std::nullopt;
      return *bytes + share.bytes_beside(*run.learner, taken + feed_bytes(run.feeds));
    };
    const std::uint32_t least = least_frames(run.feeds.train.feed);
    run.sizing = settle_batch_frames(sizing, least, make_ready);
    run.learner->bound_bytes(share.max_bytes());
    tell_line(hooks_, sizing_line(*run.sizing));
  }

  void tell_feeds(const RunFeeds& feeds) {
    for (const std::string& line : feeds.lines) tell_line(hooks_, line);
    if (const std::string line = check_lengths(*feeds.train.source); !line.empty())
      tell_warning(hooks_, line);
    if (!feeds.train.building.empty())
      tell_line(hooks_, "cache     " + feeds.train.building + ", completed while batches are made");
  }

  MelScale scale_for(const StartedRun& run, const std::optional<EarlierRun>& earlier) {
    const std::optional<MelScale> given = given_mel_scale(training_);
    if (earlier && !(run.is_resumed && given && training_.allow_changed_data))
      return earlier->voice.scale;
    if (given) return *given;
    return measure_mel_scale(*run.feeds.train.source,
                             {.num_workers = count_cpus().allowed, .stop = hooks_.stop});
  }

  // The CPU adds in another order with another number of threads.
  unsigned num_threads(const StartedRun& run) {
    const unsigned own = std::max(1U, count_cpus().allowed);
    if (!run.is_resumed || run.state.torch_threads == own) return own;
    tell_line(hooks_, fmt::format("{} of libtorch, as the checkpoint was made with; this machine "
                                  "would take {}",
                                  counted(run.state.torch_threads, "thread", "threads"), own));
    return run.state.torch_threads;
  }

  void settle_precision(StartedRun& run, config::Precision precision) {
    const std::string name(config::names_of(precision)[static_cast<std::size_t>(precision)]);
    if (run.is_resumed && run.state.precision != name)
      tell_or_refuse({{"training.precision", run.state.precision, name}});
    run.state.precision = name;
  }

  void make_learner(StartedRun& run, std::optional<EarlierRun>& earlier) {
    const feed::ModeChoice& mode = run.feeds.train.mode.choice;
    run.device = mode.mode == feed::GpuMode::kCpu ? Device::cpu() : Device::cuda(mode.model_device);
    const DeviceShare share(settings_, run.device, hooks_);
    const feed::DataSetSource& source = *run.feeds.train.source;
    LearnerOptions options{
        .shape = shape_of(training_.model_size, num_token_ids(source), source.num_mels()),
        .rule = rule_of(settings_.optimizer),
        .device = run.device,
        .precision = resolved_precision(training_.precision, run.device),
        .dropout = training_.dropout_rate,
        .seed = static_cast<std::uint64_t>(settings_.run.seed),
        .is_deterministic = training_.deterministic,
        .num_threads = num_threads(run),
        .max_device_bytes = share.max_bytes(),
        .uses_graphs = uses_graphs(training_.graphs, run.device)};
    if (training_.voice_warp > 0)
      options.warps = VoiceWarps(config::recipe_of(settings_.features), training_.voice_warp,
                                 static_cast<std::uint64_t>(settings_.run.seed));
    settle_precision(run, options.precision);
    options.scale = scale_for(run, earlier);
    if (earlier) check_shape(earlier->voice.shape, options.shape, earlier->folder);
    const std::uint64_t bytes_before = share.used_bytes();
    run.learner = hooks_.make_learner(options);
    if (earlier) restore(run, *earlier);
    if (is_fitted() && !batch_frames_) fit(run, options, share, bytes_before);
    run.state.batch_frames = batch_frames_.value_or(0);
    describe(run, options, earlier);
    tell_model(run, options.scale);
    if (options.uses_graphs) capture_graphs(run, options.shape.reference_frames);
  }

  void capture_graphs(StartedRun& run, std::int64_t max_reference_frames) {
    run.learner->prepare(step_shapes_of(run.feeds.train.feed, max_reference_frames));
    const GraphFigures figures = run.learner->graph_figures();
    tell_line(hooks_,
              fmt::format("graphs    captured {} in {:.1f} s",
                          counted(figures.num_captured, "shape", "shapes"), figures.capture_s));
    if (figures.num_eager > 0)
      tell_warning(hooks_,
                   fmt::format("{} cannot be captured and run without graphs: {}",
                               counted(figures.num_eager, "shape", "shapes"), figures.reason));
  }

  void tell_model(const StartedRun& run, const MelScale& scale) {
    const auto size = static_cast<std::size_t>(training_.model_size);
    const auto level = static_cast<std::size_t>(training_.optimization_level);
    tell_line(hooks_,
              fmt::format("model {}: {} parameters, {} on {}, level {}, mel mean {:.4f}, "
                          "deviation {:.4f}",
                          config::kModelSizeNames[size], grouped(run.learner->num_parameters()),
                          run.state.precision, run.device.text(),
                          config::kOptimizationLevelNames[level], scale.mean, scale.deviation));
  }

  static void check_shape(const ModelShape& before, const ModelShape& now,
                          const std::string& folder) {
    if (before == now) return;
    raise({.code = &kCheckpointShape,
           .place = {.file = folder},
           .promised = fmt::format("a model with {} tokens and {} parameters", now.num_tokens,
                                   grouped(count_parameters(now))),
           .found = fmt::format("one with {} tokens and {} parameters", before.num_tokens,
                                grouped(count_parameters(before)))});
  }

  static void restore(StartedRun& run, EarlierRun& earlier) {
    LearnerState state;
    state.model = std::move(earlier.checkpoint.model);
    state.ema = std::move(earlier.checkpoint.ema);
    if (run.is_resumed) state.optimizer = std::move(earlier.checkpoint.optimizer);
    run.learner->restore(state);
  }

  void describe(StartedRun& run, const LearnerOptions& options,
                const std::optional<EarlierRun>& earlier) {
    run.voice = describe_voice(settings_, *run.feeds.train.source, options.shape.reference_frames);
    if (earlier && earlier->voice.reference) run.voice.reference = earlier->voice.reference;
    run.voice.shape = options.shape;
    run.voice.scale = options.scale;
    run.state.torch_threads = options.num_threads;
    run.state.seed = options.seed;
    if (!run.is_resumed) run.state.feed = run.feeds.train.feed.state();
    run.state.feed_origin = run.feeds.train.feed.state_origin();
    if (run.state.feed_origin.size() > kMostOriginBytes) run.state.feed_origin.clear();
  }

  // Steps count from zero again: the files of the earlier run would be in the way of newer ones
  // with smaller numbers.
  void put_aside(StartedRun& run, std::uint64_t step) {
    const std::string path = run.folder->path();
    const File folder = open_file(*hooks_.io, path, OpenFor::kFolder).take_or_raise();
    for (const char* name : {"checkpoints", "metrics.jsonl", "bad-steps.jsonl", "machine.jsonl"}) {
      if (!info_if_present(*hooks_.io, folder.handle(), name).take_or_raise()) continue;
      std::string aside = fmt::format("before-{}-{}", checkpoint_name(step), name);
      for (int i = 2; info_if_present(*hooks_.io, folder.handle(), aside).take_or_raise(); ++i)
        aside = fmt::format("before-{}-{}-{}", checkpoint_name(step), i, name);
      const SysResult moved = hooks_.io->rename_at(folder.handle(), name, aside);
      if (!moved.ok()) raise(io_error("rename", path + "/" + name, moved.error_number));
    }
    run.folder.reset();
    run.folder = RunFolder::open(*hooks_.io, path).take_or_raise();
    tell_line(hooks_,
              fmt::format("weights of step {} are kept, steps start from zero; the files of "
                          "the earlier run are {}/before-{}-…",
                          step, path, checkpoint_name(step)));
  }

  const Settings& settings_;
  std::string run_folder_;  // empty: nothing is kept
  const TrainingHooks& hooks_;
  const config::TrainingSettings& training_;
  std::optional<std::uint64_t> batch_frames_;  // that were fitted, now or when the run began
};

}  // namespace

StartedRun start_run(const Settings& settings, const TrainingHooks& hooks) {
  return Starter(settings, hooks).start();
}

StartedRun start_unsaved(const Settings& settings, const TrainingHooks& hooks) {
  return Starter(settings, hooks).start_unsaved();
}

void tell_line(const TrainingHooks& hooks, std::string text) {
  hooks.tell(Json{{"kind", "line"}, {"text", std::move(text)}});
}

void tell_warning(const TrainingHooks& hooks, std::string text) {
  hooks.tell(Json{{"kind", "warning"}, {"text", std::move(text)}});
}

}  // namespace stoker::train
