#include "stoker/train/loop/run_extras.h"

#include <fmt/format.h>

#include <utility>

#include "stoker/base/bytes.h"
#include "stoker/train/loop/run_pictures.h"

namespace stoker::train {
namespace {

constexpr std::uint64_t kMostSoundBytes = std::uint64_t{64} << 20U;

double figure_of(const RunState& state, std::optional<double> evaluated) {
  if (evaluated) return *evaluated;
  return state.last.empty() ? 0.0 : state.last.back().total();
}

}  // namespace

std::optional<LossFigures> evaluate(RunFeeds& feeds, Learner& learner,
                                    const std::stop_token& stop) {
  if (!feeds.evaluation) return std::nullopt;
  feed::Feed& feed = feeds.evaluation->feed;
  feed.seek({0, 0});
  LossFigures sums;
  double num_frames = 0;
  for (std::uint64_t number = 0; number < kMostEvaluationBatches; ++number) {
    std::optional<feed::Batch> batch = feed.next(stop);
    if (stop.stop_requested()) return std::nullopt;
    if (!batch) break;
    const Learner::Evaluation part = learner.evaluate(std::move(*batch), number);
    sums.duration += part.losses.duration * part.num_frames;
    sums.prior += part.losses.prior * part.num_frames;
    sums.flow += part.losses.flow * part.num_frames;
    num_frames += part.num_frames;
  }
  if (num_frames <= 0) return std::nullopt;
  return LossFigures{sums.duration / num_frames, sums.prior / num_frames, sums.flow / num_frames};
}

void draw_pictures(StartedRun& run, RunReport& report, const std::stop_token& stop) {
  if (!run.feeds.evaluation) return;
  feed::Feed& feed = run.feeds.evaluation->feed;
  feed.seek({0, 0});
  std::optional<feed::Batch> batch = feed.next(stop);
  if (!batch) return;
  const PictureRow row = run.learner->picture(std::move(*batch));
  report.picture(run.state.step, "evaluation/mel", mel_picture(row));
  report.picture(run.state.step, "evaluation/alignment", alignment_picture(row));
}

SampleSpeaker::SampleSpeaker(const config::Settings& settings, const TrainingHooks& hooks,
                             std::string folder)
    : hooks_(hooks), texts_(settings.observe.text2audio_texts), folder_(std::move(folder)) {
  if (!settings.observe.text2audio_output_dir.empty())
    folder_ = settings.observe.text2audio_output_dir;
}

void SampleSpeaker::speak(StartedRun& run, RunReport& report) {
  if (!hooks_.speak_sample) return;
  if (texts_.empty()) {
    const feed::OpenedFeed& from = run.feeds.evaluation ? *run.feeds.evaluation : run.feeds.train;
    texts_.emplace_back(from.source->spec().spoken_text(from.source->index()[0]));
  }
  try {
    make_folders(*hooks_.io, folder_).take_or_raise();
    Json files = Json::array();
    for (const SpokenSample& sample :
         hooks_.speak_sample({*run.learner, run.voice, run.state.step, texts_, folder_})) {
      files.push_back(sample.file);
      const File file = open_file(*hooks_.io, sample.file, OpenFor::kRead).take_or_raise();
      const std::vector<std::byte> wav = read_whole(file, kMostSoundBytes).take_or_raise();
      report.sound(run.state.step, "samples/" + sample.file.substr(sample.file.rfind('/') + 1),
                   {.wav = wav,
                    .rate_hz = static_cast<double>(sample.rate_hz),
                    .num_samples = sample.num_samples});
    }
    hooks_.tell(Json{{"kind", "spoken"}, {"step", run.state.step}, {"files", std::move(files)}});
  } catch (const Failure& failure) {
    tell_warning(hooks_, "nothing is spoken this time: " + error_line(failure.error()));
  }
}

RunSaver::RunSaver(RunFolder folder, const KeepRule& keep, const TrainingHooks& hooks)
    : hooks_(hooks), path_(folder.path()), saver_(std::move(folder), keep) {}

void RunSaver::save(StartedRun& run, std::optional<double> evaluated) {
  LearnerState state = run.learner->state();
  Checkpoint checkpoint{.step = run.state.step,
                        .figure = figure_of(run.state, evaluated),
                        .is_evaluated = evaluated.has_value(),
                        .model = std::move(state.model),
                        .ema = std::move(state.ema),
                        .optimizer = std::move(state.optimizer)};
  put_voice(run.voice, checkpoint);
  checkpoint.state["run"] = run_state_json(run.state);
  last_submitted_ = run.state.step;
  saver_.submit(std::move(checkpoint));
  tell();
}

void RunSaver::tell() {
  const SaverStats now = saver_.stats();
  if (now.num_failed > told_.num_failed && now.last_error)
    tell_warning(hooks_,
                 "checkpoint not saved, tried again with the next: " + error_line(*now.last_error));
  if (now.last_step && now.last_step != told_.last_step)
    hooks_.tell(Json{{"kind", "saved"},
                     {"step", *now.last_step},
                     {"folder", path_ + "/checkpoints/" + checkpoint_name(*now.last_step)}});
  told_ = now;
}

void RunSaver::wait() {
  saver_.wait();
  tell();
}

std::string RunSaver::newest() const {
  if (!told_.last_step) return {};
  return path_ + "/checkpoints/" + checkpoint_name(*told_.last_step);
}

}  // namespace stoker::train
