#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "stoker/audio/feature_picture.h"
#include "stoker/audio/file/page_sound.h"
#include "stoker/base/build_info.h"
#include "stoker/base/number_text.h"
#include "stoker/base/report/figures.h"
#include "stoker/config/settings.h"
#include "stoker/demo/feed_runs.h"
#include "stoker/demo/gpu_figures.h"
#include "stoker/demo/story.h"
#include "stoker/observe/report/run_page.h"

namespace stoker::demo {
namespace {

void add_machine(HtmlReport& page, const observe::MachineSurvey& machine) {
  page.open_section("This machine");
  page.add_paragraph("The limits that every later figure is up against, measured just now.");
  ReportTable table{.header = {"what", "found"}};
  for (const observe::SurveyRow& row : observe::survey_rows(machine))
    table.rows.push_back({row.name, row.value});
  page.add_table(table);
}

void add_data(HtmlReport& page, const DemoStory& story) {
  page.open_section("A data set, made and checked");
  page.add_paragraph(fmt::format(
      "The built-in voice spoke {} utterances ({} of speech, {} speakers) in {}: {:.0f} times real "
      "time. The same seed "
      "gives the same bytes on every machine; the digest of this tree is {}.",
      grouped(story.counts.rows), seconds_text(story.audio_s), story.speakers.size(),
      seconds_text(story.make_s), story.audio_s / std::max(story.make_s, 1e-9), story.tree_digest));
  page.add_table({.caption = "every row accounted for",
                  .header = {"rows", "accepted", "filtered", "rejected", "read and decoded in"},
                  .rows = {{grouped(story.counts.rows), grouped(story.counts.accepted),
                            grouped(story.counts.filtered), grouped(story.counts.rejected),
                            seconds_text(story.check_s)}}});
  add_histogram_figure(
      page,
      {.title = "How long the utterances are",
       .description = "Number of utterances by duration.",
       .x = {.label = "duration (s)"},
       .y = {.label = "utterances"}},
      story.durations_s, 16,
      "Batches are made of utterances of similar length, so that little of a batch is padding.");
}

void add_waveform(HtmlReport& page, const DemoSample& sample) {
  constexpr std::size_t kColumns = 700;
  ChartSeries high{.name = "highest", .x = {}, .y = {}};
  ChartSeries low{.name = "lowest", .x = {}, .y = {}};
  const std::size_t step = std::max<std::size_t>(1, sample.spoken.size() / kColumns);
  for (std::size_t first = 0; first + step <= sample.spoken.size(); first += step) {
    const auto [least, most] =
        std::minmax_element(sample.spoken.begin() + static_cast<std::ptrdiff_t>(first),
                            sample.spoken.begin() + static_cast<std::ptrdiff_t>(first + step));
    const double t = static_cast<double>(first) / sample.rate_hz;
    high.x.push_back(t);
    high.y.push_back(*most / 32768.0);
    low.x.push_back(t);
    low.y.push_back(*least / 32768.0);
  }
  const std::array series{high, low};
  add_line_figure(page,
                  {.title = "Waveform",
                   .description = "Highest and lowest sample over time.",
                   .x = {.label = "time (s)"},
                   .y = {.label = "amplitude"},
                   .height = 220},
                  series, "The waveform.");
}

void add_frames(HtmlReport& page, const audio::FileFeatures& features, const std::string& title,
                std::string_view caption) {
  const audio::FeaturePicture picture(features, config::recipe_of(config::FeatureSettings{}),
                                      title);
  page.add_chart([&](unsigned width) { return picture.svg(width); }, caption);
}

void add_sample(HtmlReport& page, const DemoSample& sample) {
  page.open_section("One utterance, there and back");
  page.add_paragraph(fmt::format("{}: \u201c{}\u201d", sample.id, sample.text));
  page.add_sound(audio::page_sound(sample.spoken, sample.rate_hz),
                 "as the built-in voice spoke it");
  add_waveform(page, sample);
  add_frames(page, sample.features, "Log-mel frames",
             "What a model is trained on: preset hifigan, 80 bands.");
  const std::array figures{
      KeyFigure{.label = "log-mel, one core",
                .value = fmt::format("{:.0f}x real time", sample.mel_times_real_time)},
      KeyFigure{.label = "way back, 60 rounds",
                .value = fmt::format("{:.0f}x real time", sample.back_times_real_time)},
      KeyFigure{.label = "difference after the round trip",
                .value = fmt::format("{:.2f} dB", sample.mean_difference_db),
                .note = "mean over all cells; 1 dB is the bar",
                .verdict = sample.mean_difference_db <= 1.0 ? Verdict::kGood : Verdict::kBad}};
  page.add_key_figures(figures);
  page.add_sound(audio::page_sound(sample.returned, sample.rate_hz),
                 "made from the log-mel frames alone (Griffin-Lim)");
  add_frames(page, sample.returned_features, "Log-mel frames of the returned sound",
             "The frames of the sound above: the picture should look the same.");
}

}  // namespace

std::string demo_page(const DemoStory& story) {
  const BuildInfo build = build_info();
  HtmlReport page(
      "Stoker on this machine",
      fmt::format("stoker {} ({}), built with {}", build.version, build.commit, build.compiler));
  if (story.training && story.training->run)
    observe::add_run_story(page, *story.training->run, observe::ReportLanguage::kEnglish);
  add_machine(page, story.machine);
  add_data(page, story);
  add_sample(page, story.sample);
  add_race(page, story.race);
  if (story.gpu) add_gpu(page, *story.gpu);
  if (story.training)
    add_training(page, *story.training);
  else
    add_training_left_out(page, story.training_left_out);
  page.open_section("What next");
  page.add_paragraph(
      "Try it on your own folder: metadata.csv and wavs/ as in LJSpeech, or see the guide on data "
      "sets.");
  page.add_code(
      "stoker data check YOUR_FOLDER\nstoker precompute --data YOUR_FOLDER\nstoker stream --data "
      "YOUR_FOLDER --batches 5\nstoker train --data YOUR_FOLDER --checkpoint-dir my-voice");
  return page.finish();
}

}  // namespace stoker::demo
