#include "stoker/demo/story.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "stoker/audio/file/wav_writer.h"
#include "stoker/audio/griffin_lim/griffin_lim.h"
#include "stoker/audio/pcm16.h"
#include "stoker/base/bytes.h"
#include "stoker/base/clock.h"
#include "stoker/base/io/output_file.h"
#include "stoker/base/number_text.h"
#include "stoker/data/index.h"
#include "stoker/data/voice/data_set_maker.h"

namespace stoker::demo {
namespace {

void make_data(Io& io, const DemoOptions& options, const std::stop_token& stop, DemoStory& story) {
  const Stopwatch watch;
  const data::voice::MakeReport report =
      data::voice::make_data_set(io,
                                 {.out = story.data_folder,
                                  .num_utterances = options.num_utterances,
                                  .num_speakers = options.num_speakers,
                                  .seed = options.seed,
                                  .num_workers = options.num_workers,
                                  .existing = data::voice::ExistingData::kReplace},
                                 stop, no_progress())
          .take_or_raise();
  story.make_s = watch.seconds();
  story.audio_s = report.audio_s;
  story.tree_digest = report.tree_digest.hex();
}

data::Index check_data(Io& io, const DemoOptions& options, const std::stop_token& stop,
                       DemoStory& story) {
  const Stopwatch watch;
  data::IndexOptions index_options;
  index_options.sources = {{.path = story.data_folder}};
  index_options.check = data::FileCheck::kContent;
  index_options.num_workers = options.num_workers;
  data::Index index = data::open_index(index_options, io, stop);
  story.check_s = watch.seconds();
  story.counts = index.counts();
  for (std::size_t i = 0; i < index.size(); ++i) story.durations_s.push_back(index[i].duration_s());
  story.speakers.assign(index.speakers().begin(), index.speakers().end());
  return index;
}

// The utterance whose length is the median: neither a word nor a speech.
std::size_t typical_utterance(const data::Index& index) {
  std::vector<std::size_t> order(index.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto middle = order.begin() + static_cast<std::ptrdiff_t>(order.size() / 2);
  std::nth_element(order.begin(), middle, order.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(index[a].num_samples, a) < std::pair(index[b].num_samples, b);
  });
  return *middle;
}

double mean_difference_db(const audio::FileFeatures& a, const audio::FileFeatures& b) {
  const std::size_t count = std::min(a.values.size(), b.values.size());
  double sum = 0;
  for (std::size_t i = 0; i < count; ++i)
    sum += std::abs(static_cast<double>(a.values[i]) - static_cast<double>(b.values[i]));
  return count == 0 ? 0.0 : sum / static_cast<double>(count) * 20.0 / std::log(10.0);
}

// There and back: log-mel frames, and a waveform made from nothing but them.
void round_trip(DemoSample& sample) {
  audio::FeatureMaker maker{config::FeatureSettings{}};
  const Stopwatch there;
  sample.features = maker.run(sample.spoken);
  sample.mel_times_real_time = sample.features.audio_s / std::max(there.seconds(), 1e-9);
  const audio::GriffinLim way_back =
      audio::GriffinLim::make(maker.recipe(), {}, simd_level().take_or_raise()).take_or_raise();
  std::vector<float> heard(way_back.num_samples(sample.features.num_frames));
  audio::GriffinLim::Workspace workspace;
  const Stopwatch back;
  way_back.run(sample.features.values, heard, workspace);
  sample.back_times_real_time = sample.features.audio_s / std::max(back.seconds(), 1e-9);
  sample.returned.resize(heard.size());
  audio::to_pcm16(heard, sample.returned);
  sample.returned_features = maker.run(sample.returned);
  sample.mean_difference_db = mean_difference_db(sample.features, sample.returned_features);
}

DemoSample look_at_one(const data::Index& index) {
  const data::Utterance utterance = index[typical_utterance(index)];
  const File file = index.open_sound(utterance).take_or_raise();
  const audio::SoundInfo info = audio::read_sound_info(file).take_or_raise();
  DemoSample sample{.id = std::string(utterance.id),
                    .text = std::string(utterance.text),
                    .rate_hz = info.rate_hz};
  sample.spoken.resize(info.num_samples);
  audio::SoundReader().read_pcm16(file, info, 0, sample.spoken).take_or_raise();
  round_trip(sample);
  return sample;
}

void keep_sound(Io& io, const std::string& path, const DemoSample& sample,
                std::span<const std::int16_t> samples) {
  publish_output(io, path, audio::wav_pcm16_bytes(samples, sample.rate_hz)).take_or_raise();
}

// Nothing where the GPU cannot be used: the rest of the story does without it.
std::optional<DemoGpu> measure_gpu(const std::string& data_folder, const std::stop_token& stop,
                                   const std::function<void(std::string_view)>& say) {
  try {
    return measure_demo_gpu(data_folder, stop);
  } catch (const GpuError& failure) {
    say("the GPU is left out: " + error_line(failure.error()));
    return std::nullopt;
  }
}

void leave_training_out(const DemoHooks& hooks, std::string reason, DemoStory& story) {
  story.training_left_out = "training is left out: " + std::move(reason);
  hooks.say(story.training_left_out);
}

void train_voice(Io& io, const DemoOptions& options, const DemoHooks& hooks, DemoStory& story) {
  if (options.training_s <= 0) return leave_training_out(hooks, "--seconds is 0", story);
  const Result<std::unique_ptr<DemoTrainer>> trainer = hooks.open_trainer();
  if (!trainer)
    return leave_training_out(hooks,
                              fmt::format("{} To have it: {}.", trainer.error().code->meaning,
                                          trainer.error().code->cure),
                              story);
  hooks.say(fmt::format("training a voice for {}", seconds_text(options.training_s)));
  story.training = train_demo(io,
                              {.out = options.out,
                               .seconds = options.training_s,
                               .seed = options.seed,
                               .num_workers = options.num_workers},
                              **trainer, hooks.stop);
}

}  // namespace

DemoStory tell_demo(Io& io, const DemoOptions& options, const DemoHooks& hooks) {
  make_folders(io, options.out).take_or_raise();
  DemoStory story;
  hooks.say("looking at this machine");
  story.machine = observe::survey_machine(io, options.out).take_or_raise();
  story.data_folder = options.out + "/data";
  hooks.say("making a data set with the built-in voice");
  make_data(io, options, hooks.stop, story);
  hooks.say("reading every row and every sample");
  const data::Index index = check_data(io, options, hooks.stop, story);
  hooks.say("turning one utterance into log-mel frames and back");
  story.sample = look_at_one(index);
  keep_sound(io, options.out + "/spoken.wav", story.sample, story.sample.spoken);
  keep_sound(io, options.out + "/returned.wav", story.sample, story.sample.returned);
  hooks.say("feeding a consumer: naive against native");
  story.race = race_loaders(io, story.data_folder, hooks.stop);
  if (!story.machine.gpus.devices.empty()) {
    hooks.say("bringing batches onto the GPU by every way");
    story.gpu = measure_gpu(story.data_folder, hooks.stop, hooks.say);
  }
  train_voice(io, options, hooks, story);
  if (hooks.stop.stop_requested()) return story;
  publish_output(io, options.out + "/report.html", view_bytes(demo_page(story))).take_or_raise();
  return story;
}

}  // namespace stoker::demo
