#include "stoker/train/loop/run_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "stoker/base/machine_figures.h"
#include "stoker/observe/statistics.h"
#include "stoker/train/loop/run_start.h"

namespace stoker::train {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds kBetweenLines{100};
constexpr seconds kBetweenFlushes{2};
constexpr std::size_t kMostIntervals = 1'000'000;
constexpr std::size_t kRecentIntervals = 256;
constexpr double kGib = 1024.0 * 1024 * 1024;

double per_step_ms(double sum_s, std::uint64_t num_steps) {
  return num_steps == 0 ? 0.0 : 1e3 * sum_s / static_cast<double>(num_steps);
}

double rate(std::uint64_t count, double seconds_) {
  return seconds_ > 0 ? static_cast<double>(count) / seconds_ : 0.0;
}

LossFigures mean_losses(const auto& losses) {
  LossFigures mean;
  if (losses.empty()) return mean;
  const auto count = static_cast<double>(losses.size());
  for (const LossFigures& each : losses) {
    mean.duration += each.duration / count;
    mean.prior += each.prior / count;
    mean.flow += each.flow / count;
  }
  return mean;
}

// Longer batches take longer: each interval is compared with others of its own shape.
double interval_cv(const auto& intervals) {
  std::map<std::uint64_t, std::vector<double>> by_shape;
  for (const auto& [shape, seconds_] : intervals) by_shape[shape].push_back(seconds_);
  std::vector<double> relative;
  for (const auto& [shape, all] : by_shape) {
    const double median = observe::median_of(all);
    if (median <= 0) continue;
    for (const double each : all) relative.push_back(each / median);
  }
  return observe::summarize_intervals(relative).cv();
}

}  // namespace

RunReport::RunReport(const config::Settings& settings, const TrainingHooks& hooks,
                     const ReportPlaces& places)
    : settings_(settings),
      hooks_(hooks),
      metrics_(LineFile::open(*hooks.io, places.run_folder + "/metrics.jsonl", places.first_step)),
      cpu_before_s_(process_cpu_s()),
      since_start_(*hooks.clock) {
  make_folders(*hooks_.io, places.events_folder).take_or_raise();
  Result<EventFile> events = EventFile::create(*hooks_.io, places.events_folder, *hooks_.clock);
  if (!events) {
    tell_failure(events.error());
    return;
  }
  events_.emplace(std::move(events).take_or_raise());
  if (places.is_resumed) events_->resume_at(places.first_step + 1);
}

void RunReport::Sums::add(const StepTaken& step, const UpdateFigures& figures) {
  ++num_steps;
  num_clips += step.counts.num_clips;
  num_frames += step.counts.true_frames;
  data_s += step.data_s;
  step_s += step.step_s;
  compute_s += figures.compute_s;
}

StepTaken RunReport::settle(const UpdateFigures& figures, RunState& state) {
  StepTaken step = std::move(waiting_.front());
  waiting_.pop_front();
  if (figures.ended_s > 0) {
    step.step_s = figures.ended_s - (is_paused_ ? figures.began_s : last_ended_s_);
    last_ended_s_ = figures.ended_s;
    is_paused_ = false;
  }
  if (!is_first_) {
    all_.add(step, figures);
    if (intervals_.size() < kMostIntervals) intervals_.emplace_back(step.shape, step.step_s);
    recent_intervals_.emplace_back(step.shape, step.step_s);
    if (recent_intervals_.size() > kRecentIntervals) recent_intervals_.pop_front();
  }
  is_first_ = false;
  recent_.add(step, figures);
  since_summary_.add(step, figures);
  since_log_.add(step, figures);
  state.totals.num_clips += step.counts.num_clips;
  state.totals.true_frames += step.counts.true_frames;
  state.totals.train_s += step.step_s;
  if (!figures.is_skipped) {
    losses_.push_back(figures.losses);
    if (losses_.size() > kEdgeSteps) losses_.pop_front();
    if (state.first.size() < kEdgeSteps) state.first.push_back(figures.losses);
    state.last.push_back(figures.losses);
    if (state.last.size() > kEdgeSteps) state.last.erase(state.last.begin());
  }
  const auto every = static_cast<std::uint64_t>(settings_.training.log_step);
  if (step.record.step % every == 0) log(step, figures);
  return step;
}

void RunReport::log(const StepTaken& step, const UpdateFigures& figures) {
  const LossFigures& losses = figures.losses;
  const std::vector<std::pair<std::string, double>> values{
      {"loss", losses.total()},
      {"duration", losses.duration},
      {"prior", losses.prior},
      {"flow", losses.flow},
      {"learning_rate", step.record.learning_rate},
      {"gradient_norm", figures.gradient_norm},
      {"clips_per_s", rate(step.counts.num_clips, step.step_s)},
      {"frames_per_s", rate(step.counts.true_frames, step.step_s)},
      {"padding_share", step.counts.padding_share()},
      {"data_ms", 1e3 * step.data_s},
      {"compute_ms", 1e3 * figures.compute_s},
      {"step_ms", 1e3 * step.step_s},
      {"stall_share", step.step_s > 0 ? step.data_s / step.step_s : 0.0}};
  Json line{{"step", step.record.step}, {"epoch", step.record.epoch}};
  for (const auto& [name, value] : values) {
    line[name] = value;
    scalar(step.record.step, "train/" + name, value);
  }
  line["skipped"] = figures.is_skipped;
  try {
    metrics_.append(line);
  } catch (const Failure& failure) {
    tell_failure(failure.error());
  }
  log_feed(step.record.step);
  log_machine(step.record.step);
  if (hooks_.clock->now() - last_flushed_ >= kBetweenFlushes) flush();
}

// Of all steps since the last point, where train/ has those of one step.
void RunReport::log_feed(std::uint64_t step) {
  const Sums sums = std::exchange(since_log_, {});
  scalar(step, "feed/clips_per_s", rate(sums.num_clips, sums.step_s));
  scalar(step, "feed/stall_share", sums.step_s > 0 ? sums.data_s / sums.step_s : 0.0);
  scalar(step, "feed/interval_cv", interval_cv(recent_intervals_));
  if (machine_.num_ready) scalar(step, "feed/ready_batches", *machine_.num_ready);
}

void RunReport::log_machine(std::uint64_t step) {
  const auto put = [&](std::string_view tag, const auto& value, double unit) {
    if (value) scalar(step, tag, static_cast<double>(*value) / unit);
  };
  const observe::MachineWindow& machine = machine_.machine;
  put("cpu/cores", machine.cpu.own_cores, 1);
  put("disk/read_mb_per_s",
      machine.storage.device_read_bytes_per_s ? machine.storage.device_read_bytes_per_s
                                              : machine.storage.own_read_bytes_per_s,
      1e6);
  if (!machine.gpu) return;
  put("gpu/utilization", machine.gpu->utilization_percent, 1);
  put("gpu/memory_gib", machine.gpu->memory_used_bytes, kGib);
  put("gpu/power_w", machine.gpu->power_w, 1);
}

void RunReport::see_machine(const RunWatch::Reading& reading) {
  machine_ = reading;
  if (reading.machine.gpu && reading.machine.gpu->utilization_percent)
    gpu_percent_.push_back(*reading.machine.gpu->utilization_percent);
}

void RunReport::show_progress(std::uint64_t step) {
  const std::chrono::nanoseconds now = hooks_.clock->now();
  if (recent_.num_steps == 0 || now - last_shown_ < kBetweenLines) return;
  last_shown_ = now;
  ProgressFigures figures{.step = step,
                          .losses = mean_losses(losses_),
                          .clips_per_s = rate(recent_.num_clips, recent_.step_s),
                          .data_ms = per_step_ms(recent_.data_s, recent_.num_steps),
                          .step_ms = per_step_ms(recent_.step_s, recent_.num_steps)};
  if (!gpu_percent_.empty()) figures.gpu_percent = static_cast<unsigned>(gpu_percent_.back());
  hooks_.tell(Json{{"kind", "progress"},
                   {"text", progress_text(figures)},
                   {"step", step},
                   {"loss", figures.losses.total()},
                   {"duration", figures.losses.duration},
                   {"prior", figures.losses.prior},
                   {"flow", figures.losses.flow},
                   {"clips_per_s", figures.clips_per_s},
                   {"data_ms", figures.data_ms},
                   {"step_ms", figures.step_ms},
                   {"gpu_percent", figures.gpu_percent}});
  recent_ = {};
}

void RunReport::end_epoch(std::uint64_t epochs_done) {
  const auto every = static_cast<std::uint64_t>(settings_.observe.report_every_epochs);
  if (epochs_done % every != 0 || since_summary_.num_steps == 0) return;
  const Sums& sums = since_summary_;
  tell_line(hooks_, summary_text({.epochs_done = epochs_done,
                                  .num_steps = sums.num_steps,
                                  .step_ms = per_step_ms(sums.step_s, sums.num_steps),
                                  .data_ms = per_step_ms(sums.data_s, sums.num_steps),
                                  .compute_ms = per_step_ms(sums.compute_s, sums.num_steps)}));
  since_summary_ = {};
}

void RunReport::scalar(std::uint64_t step, std::string_view tag, double value) {
  if (events_) events_->scalar(step, tag, value);
}

void RunReport::picture(std::uint64_t step, std::string_view tag, std::span<const std::byte> png) {
  if (events_ && !png.empty()) events_->picture(step, tag, png);
}

void RunReport::sound(std::uint64_t step, std::string_view tag, const EventSound& sound) {
  if (events_) events_->sound(step, tag, sound);
}

void RunReport::flush() {
  last_flushed_ = hooks_.clock->now();
  if (!events_) return;
  const Result<void> written = events_->flush();
  if (!written) tell_failure(written.error());
}

void RunReport::tell_failure(const Error& error) {
  if (has_failed_) return;
  has_failed_ = true;
  tell_warning(hooks_,
               "figures of this run cannot be written, training goes on: " + error_line(error));
}

void RunReport::put_result(Json& out) const {
  const double wall_s = since_start_.seconds();
  out["clips_per_s"] = rate(all_.num_clips, all_.step_s);
  out["frames_per_s"] = rate(all_.num_frames, all_.step_s);
  out["stall_share"] = all_.step_s > 0 ? all_.data_s / all_.step_s : 0.0;
  out["interval_cv"] = interval_cv(intervals_);
  out["au"] = nullptr;
  out["gpu_util_mean"] = nullptr;
  out["gpu_util_p5"] = nullptr;
  if (!gpu_percent_.empty()) {
    std::vector<double> sorted = gpu_percent_;
    std::sort(sorted.begin(), sorted.end());
    out["gpu_util_mean"] = observe::mean_of(sorted);
    out["gpu_util_p5"] = sorted[sorted.size() / 20];
  }
  out["cpu_percent"] = wall_s > 0 ? 100 * (process_cpu_s() - cpu_before_s_) / wall_s : 0.0;
  out["data_ms"] = per_step_ms(all_.data_s, all_.num_steps);
  out["compute_ms"] = per_step_ms(all_.compute_s, all_.num_steps);
  out["step_ms"] = per_step_ms(all_.step_s, all_.num_steps);
}

void put_losses(const RunState& state, Json& out) {
  const auto put = [&out](const std::string& when, const std::vector<LossFigures>& losses) {
    const LossFigures mean = mean_losses(losses);
    const auto known = [&losses](double value) { return losses.empty() ? Json() : Json(value); };
    out["loss_" + when] = known(mean.total());
    out["duration_" + when] = known(mean.duration);
    out["prior_" + when] = known(mean.prior);
    out["flow_" + when] = known(mean.flow);
  };
  put("first", state.first);
  put("last", state.last);
}

void put_cache(const feed::OpenedFeed& opened, Json& out) {
  std::uint64_t num_hits = 0;
  for (std::uint32_t i = 0; i < opened.source->num_utterances(); ++i) {
    const feed::RecordRoute& route = opened.source->routes()[i];
    num_hits += route.mel || route.pcm ? 1 : 0;
  }
  const feed::FeedStats stats = opened.feed.stats();
  std::uint64_t num_rebuilt = 0;
  for (const feed::FallbackCount& each : stats.fallbacks) {
    if (each.from == "cache record") num_rebuilt += each.count;
  }
  out["cache"] = Json{{"hits", num_hits},
                      {"misses", opened.source->num_utterances() - num_hits},
                      {"rebuilt", num_rebuilt},
                      {"errors", opened.feed.bad_rows().size()}};
  out["fallbacks"] = feed::fallbacks_json(stats.fallbacks);
}

}  // namespace stoker::train
