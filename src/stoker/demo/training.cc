#include "stoker/demo/training.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <stdexcept>

#include "stoker/audio/file/page_sound.h"
#include "stoker/audio/file/wav_writer.h"
#include "stoker/base/bytes.h"
#include "stoker/base/io/paths.h"
#include "stoker/base/number_text.h"
#include "stoker/base/progress.h"
#include "stoker/base/report/figures.h"
#include "stoker/config/load.h"
#include "stoker/data/voice/data_set_maker.h"
#include "stoker/data/voice/utterance_maker.h"

namespace stoker::demo {
namespace {

constexpr std::uint64_t kMostSoundBytes = std::uint64_t{64} << 20U;

void make_voice(Io& io, const DemoTrainingOptions& options, const std::string& folder,
                const std::stop_token& stop) {
  data::voice::make_data_set(io,
                             {.out = folder,
                              .num_utterances = options.num_utterances,
                              .seed = options.seed,
                              .num_workers = options.num_workers,
                              .existing = data::voice::ExistingData::kReplace},
                             stop, no_progress())
      .take_or_raise();
}

void remove_entry(const File& folder, const FolderEntry& entry);

void empty_folder(const File& folder) {
  for (const FolderEntry& entry : list_folder(folder).take_or_raise()) remove_entry(folder, entry);
}

// Links are removed, not followed.
void remove_entry(const File& folder, const FolderEntry& entry) {
  const bool is_folder = entry.kind == FileKind::kFolder;
  if (is_folder) empty_folder(open_beneath(folder, entry.name, OpenFor::kFolder).take_or_raise());
  const SysResult removed = folder.io().unlink_at(folder.handle(), entry.name, is_folder);
  if (!removed.ok())
    raise(io_error("remove", folder.path() + "/" + entry.name, removed.error_number));
}

void clear_run(Io& io, const std::string& path) {
  if (!info_if_present(io, AT_FDCWD, path).take_or_raise()) return;
  empty_folder(open_file(io, path, OpenFor::kFolder).take_or_raise());
}

config::Settings training_settings(const DemoTrainingOptions& options, const std::string& data,
                                   const std::string& run) {
  config::SettingsInputs inputs;
  const auto give = [&](std::string path, std::string text) {
    inputs.command_line.push_back({std::move(path), std::move(text), "demo"});
  };
  give("data.path", data);
  give("seed", std::to_string(options.seed));
  give("text.vocabulary", "phonemes");
  give("training.model_size", "tiny");
  give("training.seconds", fmt::format("{}", options.seconds));
  give("training.checkpoint_dir", run);
  give("training.log_step", "1");
  return config::load_settings(inputs).settings;
}

// Utterance `first` of the voice or the next one that lasts about three seconds: a reference
// should, and a sentence of that length shows more than a word.
struct Pick {
  std::uint64_t index = 0;
  data::voice::MadeUtterance utterance;
};

Pick pick_utterance(const DemoTrainingOptions& options, std::uint64_t first) {
  constexpr std::uint64_t kMostTried = 100;
  data::voice::UtterancePlan plan;
  plan.seed = options.seed;
  plan.speaker = data::voice::draw_speaker(options.seed, 0);
  Pick pick;
  for (std::uint64_t i = 0; i < std::min(kMostTried, options.num_utterances); ++i) {
    plan.index = first + i;
    pick = {plan.index, data::voice::make_utterance(plan)};
    const double length_s =
        static_cast<double>(pick.utterance.samples.size()) / static_cast<double>(plan.rate_hz);
    if (length_s >= 2.5 && length_s <= 3.5) break;
  }
  return pick;
}

std::vector<std::byte> wav_of(const Pick& pick) {
  return audio::wav_pcm16_bytes(pick.utterance.samples, data::voice::UtterancePlan{}.rate_hz);
}

std::vector<std::byte> load(Io& io, const std::string& path) {
  const File file = open_file(io, path, OpenFor::kRead).take_or_raise();
  return read_whole(file, kMostSoundBytes).take_or_raise();
}

// The losses of a progress event; nothing for events without, and for losses that are no numbers.
std::optional<DemoLoss> loss_of(const Json& event) {
  try {
    if (event.at("kind").text() != "progress") return std::nullopt;
    return DemoLoss{event.at("step").number(), event.at("duration").number(),
                    event.at("prior").number(), event.at("flow").number()};
  } catch (const std::out_of_range&) {
    return std::nullopt;
  }
}

// A figure that was not measured, or is no number, is null.
double figure(const Json& report, std::string_view key) {
  try {
    return report.at(key).number();
  } catch (const std::out_of_range&) {
    return std::nan("");
  }
}

DemoTraining run_trainer(const config::Settings& settings, DemoTrainer& trainer) {
  DemoTraining training;
  const Json result = trainer.train(settings, [&](const Json& event) {
    const std::optional<DemoLoss> loss = loss_of(event);
    if (loss && (training.losses.empty() || training.losses.back().step < loss->step))
      training.losses.push_back(*loss);
  });
  training.num_steps = static_cast<std::uint64_t>(result.at("steps").number());
  training.num_parameters = static_cast<std::uint64_t>(result.at("parameters").number());
  training.loss_first = figure(result, "loss_first");
  training.loss_last = figure(result, "loss_last");
  training.clips_per_s = figure(result, "clips_per_s");
  training.data_ms = figure(result, "data_ms");
  training.compute_ms = figure(result, "compute_ms");
  training.stall_share = figure(result, "stall_share");
  return training;
}

void add_losses(HtmlReport& page, const DemoTraining& training) {
  std::array<ChartSeries, 3> series{ChartSeries{.name = "flow", .x = {}, .y = {}},
                                    ChartSeries{.name = "prior", .x = {}, .y = {}},
                                    ChartSeries{.name = "duration", .x = {}, .y = {}}};
  for (const DemoLoss& loss : training.losses) {
    const std::array values{loss.flow, loss.prior, loss.duration};
    for (std::size_t i = 0; i < series.size(); ++i) {
      series[i].x.push_back(loss.step);
      series[i].y.push_back(values[i]);
    }
  }
  add_line_figure(page,
                  {.title = "Loss",
                   .description = "The three parts of the loss over the steps of training.",
                   .x = {.label = "step"},
                   .y = {.label = "loss", .scale = AxisScale::kLog}},
                  series,
                  "flow: the decoder's error; prior: what the text alone predicts of each frame; "
                  "duration: how long each token lasts.");
}

void add_step_time(HtmlReport& page, const DemoTraining& training) {
  const std::array labels{std::string("one step")};
  const std::array parts{BarParts{"waiting for data", {training.data_ms}},
                         BarParts{"computing", {training.compute_ms}}};
  add_bar_figure(page,
                 {.title = "Where the time of a step goes",
                  .description = "Milliseconds of a step that wait for data and that compute.",
                  .x = {.label = "time (ms)"},
                  .height = 0},
                 labels, parts, "A feed that keeps up leaves nearly all of a step to the model.");
}

// What the trainer wrote down; nothing where there is nothing of it.
std::optional<observe::RunStory> story_of_run(Io& io, const std::string& folder) {
  try {
    return observe::load_run_story(io, folder);
  } catch (const Failure&) {
    return std::nullopt;
  }
}

void add_figures(HtmlReport& page, const DemoTraining& training) {
  const bool has_learned = training.loss_last < training.loss_first;
  const std::array figures{
      KeyFigure{.label = "steps", .value = grouped(training.num_steps)},
      KeyFigure{
          .label = "loss, first to last",
          .value = fmt::format("{:.2f} \u2192 {:.2f}", training.loss_first, training.loss_last),
          .verdict = has_learned ? Verdict::kGood : Verdict::kBad},
      KeyFigure{.label = "utterances a second", .value = per_second_text(training.clips_per_s)},
      KeyFigure{.label = "time waiting for data",
                .value = fmt::format("{:.2f} %", 100 * training.stall_share)},
      KeyFigure{.label = "speaking",
                .value = fmt::format("{:.2f} s a second of speech", training.rtf)}};
  page.add_key_figures(figures);
}

}  // namespace

DemoTraining train_demo(Io& io, const DemoTrainingOptions& options, DemoTrainer& trainer,
                        const std::stop_token& stop) {
  // Names that nobody else's training has by default: what is in them is replaced.
  const std::string data = options.out + "/demo-voice";
  const std::string run = options.out + "/demo-run";
  make_voice(io, options, data, stop);
  clear_run(io, run);
  DemoTraining training = run_trainer(training_settings(options, data, run), trainer);
  training.run = story_of_run(io, run);
  if (stop.stop_requested()) return training;
  const Pick reference = pick_utterance(options, 0);
  const Pick sentence = pick_utterance(options, options.num_utterances);
  training.text = sentence.utterance.sentence.raw;
  training.wav = options.out + "/trained.wav";
  const DemoSpeech speech{.checkpoint = run,
                          .text = training.text,
                          .reference = fmt::format("{}/wavs/{}.wav", data,
                                                   data::voice::utterance_id(0, reference.index)),
                          .wav = training.wav,
                          .picture = options.out + "/trained.svg"};
  training.rtf = trainer.speak(speech).at("rtf").number();
  training.reference = wav_of(reference);
  training.built_in = wav_of(sentence);
  training.spoken = load(io, speech.wav);
  training.picture = std::string(view_text(load(io, speech.picture)));
  return training;
}

void add_training(HtmlReport& page, const DemoTraining& training) {
  page.open_section("A voice that was trained here");
  page.add_paragraph(
      fmt::format("A model of {} parameters (size tiny) learned from the built-in voice for {} "
                  "steps. The sentence below was not among its data.",
                  grouped(training.num_parameters), grouped(training.num_steps)));
  add_figures(page, training);
  add_losses(page, training);
  add_step_time(page, training);
  page.add_paragraph(fmt::format("\u201c{}\u201d", training.text));
  page.add_sound(audio::page_sound(training.reference),
                 "reference: an utterance of the voice to imitate");
  page.add_sound(audio::page_sound(training.spoken),
                 "the sentence, spoken by the model after this training");
  page.add_sound(audio::page_sound(training.built_in),
                 "the same sentence, spoken by the built-in voice");
  page.add_chart([&](unsigned) { return training.picture; },
                 "Frames of the spoken sentence, and the token that each belongs to.");
}

void add_training_left_out(HtmlReport& page, std::string_view reason) {
  page.open_section("A voice that was trained here");
  page.add_paragraph(reason);
}

}  // namespace stoker::demo
