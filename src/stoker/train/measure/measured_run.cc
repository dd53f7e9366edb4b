#include "stoker/train/measure/measured_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "stoker/base/cpu_count.h"
#include "stoker/base/machine_figures.h"
#include "stoker/observe/resource_use.h"
#include "stoker/train/errors.h"
#include "stoker/train/loop/run_extras.h"
#include "stoker/train/loop/run_start.h"
#include "stoker/train/measure/measured_figures.h"
#include "stoker/train/measure/measured_steps.h"
#include "stoker/train/measure/resident_batches.h"

namespace stoker::train {
namespace {

constexpr std::array<std::string_view, 3> kModeNames{"feed", "resident", "both"};
// A GPU's clock drifts by a per cent within seconds: resident steps come before and after.
constexpr double kResidentShare = 0.15;  // of the fed time, each
constexpr double kMostResidentS = 6;     // each: by then the mean of their steps is known well
// Over every shape on a GPU, where a step is run, captured and run again; once on the CPU.
constexpr std::size_t kWarmRounds = 3;

// What the run held of host and device.
struct HeldMemory {
  std::uint64_t host_bytes = 0;
  std::optional<std::uint64_t> device_bytes{};
};

config::Settings measured_settings(config::Settings settings, const MeasureRequest& request) {
  settings.loader.use_native_loading = !request.is_naive;
  if (!request.keep.empty()) settings.training.checkpoint_dir = request.keep;
  if (request.is_naive) settings.loader.preprocessing_mode = config::PreprocessingMode::kRuntime;
  settings.data.val_path.clear();
  settings.data.val_split = 0;
  settings.training.resume = settings.training.reset_training = false;
  return settings;
}

class Measurement {
 public:
  Measurement(const config::Settings& settings, const MeasureRequest& request,
              const TrainingHooks& hooks)
      : settings_(measured_settings(settings, request)),
        request_(request),
        hooks_(hooks),
        run_(request.keep.empty() ? start_unsaved(settings_, hooks) : start_run(settings_, hooks)),
        resident_(run_.feeds.settings, hooks),
        timer_(*run_.learner, settings_, hooks) {
    run_.feeds.evaluation.reset();
  }

  Json run() {
    warm_up();
    const bool with_fed = request_.mode != MeasureMode::kResident;
    const bool with_resident = request_.mode != MeasureMode::kFeed;
    if (with_resident) measure_resident();
    if (with_fed) measure_fed();
    if (!request_.keep.empty()) save();
    if (with_fed && with_resident) measure_resident();
    require_steps(with_fed ? fed_ : still_);
    return result();
  }

 private:
  bool is_stopped() const { return hooks_.stop.stop_requested(); }

  // Every shape is met, the largest first, then steps as they come.
  void warm_up() {
    tell_line(hooks_, fmt::format("warming up: {} shapes, {} batches that stay in memory",
                                  resident_.shapes().size(), resident_.num_batches()));
    std::vector<feed::BatchShape> shapes = resident_.shapes();
    const auto frames = [](const feed::BatchShape& shape) {
      return std::uint64_t{shape.num_rows} * shape.num_frames;
    };
    std::stable_sort(shapes.begin(), shapes.end(),
                     [&](const auto& a, const auto& b) { return frames(a) > frames(b); });
    std::vector<StepShapes> plan;
    plan.reserve(shapes.size());
    for (const feed::BatchShape& shape : shapes) plan.push_back({shape});
    ResidentSteps warm(resident_, plan, hooks_);
    const std::size_t num_rounds = run_.device.is_cuda() ? kWarmRounds : 1;
    for (std::size_t i = 0; i < num_rounds * plan.size() && timer_.step(warm); ++i) {
    }
    timer_.finish();
    FedSteps fed = fed_steps();
    run_for(fed, request_.warmup_s);
    plan_ = timer_.finish().plan;
    if (plan_.empty()) plan_ = std::move(plan);
  }

  FedSteps fed_steps() {
    return {run_.feeds.train.feed, settings_.training.gradient_accumulation_steps, hooks_};
  }

  void run_for(StepSource& source, double seconds) {
    const Stopwatch watch(*hooks_.clock);
    while (watch.seconds() < seconds && timer_.step(source)) {
    }
  }

  // What was made ready while the feed rested is not its speed: it is used up first.
  void lead_in(StepSource& source) {
    const feed::Feed& feed = run_.feeds.train.feed;
    const auto ring = feed.stats().ring;
    const std::size_t num_ready = feed.depth() + 2 + (ring ? ring->num_slots : 0);
    const Stopwatch watch(*hooks_.clock);
    for (std::size_t i = 0; i < num_ready && watch.seconds() < request_.warmup_s; ++i)
      if (!timer_.step(source)) return;
  }

  void measure_resident() {
    const bool is_alone = request_.mode == MeasureMode::kResident;
    ResidentSteps steps(resident_, plan_, hooks_);
    run_for(steps, is_alone ? request_.seconds
                            : std::min(kMostResidentS, kResidentShare * request_.seconds));
    const MeasuredWindow window = timer_.finish().window;
    still_.has_device_clock = window.has_device_clock;
    still_.steps.insert(still_.steps.end(), window.steps.begin(), window.steps.end());
  }

  void measure_fed() {
    if (is_stopped()) return;
    FedSteps steps = fed_steps();
    tell_line(hooks_, fmt::format("measuring {} s of training", request_.seconds));
    lead_in(steps);
    timer_.restart();
    before_ = held_now();
    observe::NvmlSampler gpu(run_.device.is_cuda()
                                 ? request_.open_gauge(run_.device.index())
                                 : observe::GpuGauge{.why_none = "no GPU is used"},
                             {.clock = hooks_.clock});
    const double cpu_before_s = process_cpu_s();
    const Stopwatch watch(*hooks_.clock);
    run_for(steps, request_.seconds);
    cpu_percent_ = 100 * (process_cpu_s() - cpu_before_s) / std::max(1e-9, watch.seconds()) /
                   std::max(1U, count_cpus().allowed);
    gpu_ = gpu.finish();
    after_ = held_now();
    StepTimer::Timed timed = timer_.finish();
    fed_ = std::move(timed.window);
    plan_ = std::move(timed.plan);
  }

  // Steps over the same few batches would follow: what is kept has learned from the data.
  void save() {
    run_.state.step = timer_.num_steps();
    run_.state.batches = timer_.num_batches();
    run_.state.feed = run_.feeds.train.feed.state();
    RunSaver saver(std::move(*run_.folder), {}, hooks_);
    saver.save(run_, {});
    saver.wait();
    kept_ = saver.newest();
  }

  HeldMemory held_now() const {
    HeldMemory held{.host_bytes = observe::process_memory(*hooks_.io).held_bytes()};
    if (run_.device.is_cpu()) return held;
    cuda::DeviceApi& api = hooks_.devices ? *hooks_.devices->api : cuda::system_device_api();
    const cuda::DeviceRoom room = api.room(run_.device.index());
    held.device_bytes = room.total_bytes - room.free_bytes;
    return held;
  }

  // Figures of nothing would look like those of a loader that never stalls.
  void require_steps(const MeasuredWindow& window) const {
    if (is_stopped() || window.steps.size() >= 2) return;
    raise({.code = &kTrainData,
           .promised = fmt::format("at least two steps within {} s", request_.seconds),
           .found = std::to_string(window.steps.size()),
           .cure = "measure for longer"});
  }

  Json memory_json() const {
    return Json{{"host_bytes_begin", before_.host_bytes},
                {"host_bytes_end", after_.host_bytes},
                {"device_bytes_begin", before_.device_bytes},
                {"device_bytes_end", after_.device_bytes}};
  }

  Json graphs_json() const {
    const GraphFigures graphs = run_.learner->graph_figures();
    return Json{{"captured", graphs.num_captured},
                {"eager", graphs.num_eager},
                {"capture_s", graphs.capture_s},
                {"reason", graphs.reason}};
  }

  // What was measured.
  Json setting_json() const {
    const config::Settings& settings = run_.feeds.settings;
    const auto size = static_cast<std::size_t>(settings.training.model_size);
    const feed::Feed& feed = run_.feeds.train.feed;
    return Json{
        {"loader", request_.is_naive ? "naive" : "native"},
        {"mode", kModeNames[static_cast<std::size_t>(request_.mode)]},
        {"device", run_.device.text()},
        {"torch", torch_version()},
        {"model_size", config::kModelSizeNames[size]},
        {"precision", run_.state.precision},
        {"parameters", run_.learner->num_parameters()},
        {"accumulation", settings.training.gradient_accumulation_steps},
        {"batch_rows", feed.format().max_rows},
        {"batch_frames", feed.format().max_mel_frames},
        {"layout", config::kBatchLayoutNames[static_cast<std::size_t>(feed.format().layout)]},
        {"num_shapes", feed.shapes().size()},
        {"num_workers", feed.num_workers()},
        {"way", run_.feeds.train.mode.text}};
  }

  Json result() const {
    Json out = setting_json();
    const bool with_fed = request_.mode != MeasureMode::kResident;
    const MeasuredWindow& main = with_fed ? fed_ : still_;
    out.update(window_json(main));
    out["graphs"] = graphs_json();
    out["cpu_percent"] = with_fed ? Json(cpu_percent_) : Json();
    out.update(gpu_.json());
    out["memory"] = memory_json();
    const auto use = accelerator_use(fed_, still_);
    out["au"] = use ? Json(use->share) : Json();
    out["au_error"] = use ? Json(use->error) : Json();
    out["au_coverage"] = use ? Json(use->coverage) : Json();
    out["kept"] = kept_.empty() ? Json() : Json(kept_);
    out["resident"] = still_.steps.empty() ? Json() : window_json(still_);
    out["resident_batches"] = resident_.num_batches();
    out["shapes"] = timer_.shapes().json();
    out["fallbacks"] = feed::fallbacks_json(run_.feeds.train.feed.stats().fallbacks);
    out["per_step"] = request_.with_steps ? steps_json(main) : Json();
    out["stopped"] = is_stopped();
    return out;
  }

  config::Settings settings_;
  const MeasureRequest& request_;
  const TrainingHooks& hooks_;
  StartedRun run_;
  ResidentBatches resident_;
  StepTimer timer_;
  std::vector<StepShapes> plan_;  // shapes of the steps that came last
  MeasuredWindow fed_, still_;
  observe::GpuTimeline gpu_;
  HeldMemory before_, after_;
  double cpu_percent_ = 0;
  std::string kept_;  // checkpoint folder
};

}  // namespace

MeasureMode measure_mode_from(std::string_view name) {
  for (std::size_t i = 0; i < kModeNames.size(); ++i)
    if (kModeNames[i] == name) return static_cast<MeasureMode>(i);
  raise({.code = &kTrainSettings,
         .promised = "mode feed, resident or both",
         .found = std::string(name)});
}

Json run_measurement(const config::Settings& settings, const MeasureRequest& request,
                     const TrainingHooks& hooks) {
  return Measurement(settings, request, hooks).run();
}

}  // namespace stoker::train
