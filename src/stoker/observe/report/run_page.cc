#include "stoker/observe/report/run_page.h"

#include <fmt/format.h>

#include <vector>

#include "stoker/base/build_info.h"
#include "stoker/base/bytes.h"
#include "stoker/base/io/output_file.h"
#include "stoker/base/number_text.h"
#include "stoker/observe/diagnose/thresholds.h"
#include "stoker/observe/report/page_parts.h"

namespace stoker::observe {
namespace {

constexpr double kGoodGpuPercent = 80;

// The stall that the trainer saw, where no record tells of it.
std::optional<double> metrics_stall(const RunStory& story) {
  const std::optional<double> data_ms = story.metrics.mean("data_ms");
  const std::optional<double> step_ms = story.metrics.mean("step_ms");
  if (!data_ms || !step_ms || *step_ms <= 0) return std::nullopt;
  return *data_ms / *step_ms;
}

const BenchRow* best_row(const RunStory& story) {
  const BenchRow* best = nullptr;
  for (const BenchRow& row : story.bench)
    if (best == nullptr || row.clips_per_s > best->clips_per_s) best = &row;
  return best;
}

std::string sentence_of(const RunStory& story, const Words& words) {
  if (const BenchRow* best = best_row(story)) {
    if (best->limit_clips_per_s > 0)
      return words(Word::kShareOfLimit,
                   {percent_text(best->share_of_limit, 0), words.sentence(best->limit)});
    return words(Word::kRate, {per_second_text(best->clips_per_s)});
  }
  if (story.watched) return words.sentence(story.watched->diagnosis.sentence);
  if (const std::optional<double> stall = metrics_stall(story))
    return words.sentence(verdict_sentence(verdict_of_stall(*stall), *stall, 0));
  return words(Word::kNoVerdict);
}

Verdict colour_of(const RunStory& story) {
  LoopVerdict verdict = LoopVerdict::kUnknown;
  if (story.watched) {
    verdict = story.watched->diagnosis.verdict;
  } else if (const std::optional<double> stall = metrics_stall(story)) {
    verdict = verdict_of_stall(*stall);
  }
  if (verdict == LoopVerdict::kStarved || verdict == LoopVerdict::kConsumer) return Verdict::kBad;
  return verdict == LoopVerdict::kHealthy ? Verdict::kGood : Verdict::kNeutral;
}

void put_feed_figures(const PageParts& parts, std::vector<KeyFigure>& figures) {
  const Words& words = parts.words;
  const Diagnosis* diagnosis = parts.diagnosis();
  const bool is_timed = diagnosis != nullptr && diagnosis->verdict != LoopVerdict::kUnknown;
  const std::optional<double> stall =
      is_timed ? std::optional(diagnosis->stall_share) : metrics_stall(parts.story);
  const bool is_supply = is_timed && diagnosis->verdict == LoopVerdict::kSupply;
  if (stall && !is_supply)
    figures.push_back({.label = words(Word::kWaitingForFeed),
                       .value = percent_text(*stall),
                       .note = words(Word::kStarvedAbove, {percent_text(kStarvedShare, 0)}),
                       .verdict = *stall > kStarvedShare ? Verdict::kBad : Verdict::kGood});
  if (!is_timed) return;
  figures.push_back(
      {.label = words(Word::kBatchesPerS), .value = per_second_text(diagnosis->batches_per_s)});
  figures.push_back({.label = words(Word::kSupply),
                     .value = per_second_text(diagnosis->supply_batches_per_s),
                     .note = words(Word::kSupplyNote)});
  figures.push_back(
      {.label = words(Word::kIntervalCv),
       .value = fmt::format("{:.2f}", diagnosis->interval_cv),
       .note = words(Word::kUnevenAbove, {fmt::format("{:.1f}", kHighVariation)}),
       .verdict = diagnosis->interval_cv > kHighVariation ? Verdict::kBad : Verdict::kGood});
}

void put_run_figures(const PageParts& parts, std::vector<KeyFigure>& figures) {
  const Words& words = parts.words;
  const FigureColumns& metrics = parts.story.metrics;
  if (metrics.num_lines() > 0)
    figures.push_back({.label = words(Word::kSteps),
                       .value = grouped(static_cast<std::uint64_t>(metrics.last_x()))});
  if (const std::optional<double> rate = metrics.mean("clips_per_s"))
    figures.push_back({.label = words(Word::kClipsPerS), .value = per_second_text(*rate)});
  const std::optional<double> first = metrics.first("loss"), last = metrics.last("loss");
  if (first && last)
    figures.push_back({.label = words(Word::kLossFirstLast),
                       .value = fmt::format("{:.3g} → {:.3g}", *first, *last),
                       .verdict = *last < *first ? Verdict::kGood : Verdict::kNeutral});
  if (const std::optional<double> busy = parts.story.machine.mean("gpu_percent"))
    figures.push_back({.label = words(Word::kGpuBusy),
                       .value = fmt::format("{:.0f} %", *busy),
                       .note = words(Word::kGpuGood, {fmt::format("{:.0f} %", kGoodGpuPercent)}),
                       .verdict = *busy >= kGoodGpuPercent ? Verdict::kGood : Verdict::kNeutral});
}

void add_missing(const PageParts& parts) {
  std::vector<std::string> lines;
  lines.reserve(parts.story.missing.size());
  for (const MissingPart& missing : parts.story.missing)
    lines.push_back(missing.reason.empty()
                        ? parts.words(Word::kMissingFile, {missing.file})
                        : parts.words(Word::kMissingBroken,
                                      {missing.file, parts.words.sentence(missing.reason)}));
  if (lines.empty()) return;
  parts.page.open_section(parts.words(Word::kNotThere));
  parts.page.add_list(lines);
}

void add_verdict(const PageParts& parts) {
  parts.page.open_section(parts.words(Word::kVerdict));
  parts.page.add_lead(sentence_of(parts.story, parts.words), colour_of(parts.story));
  std::vector<KeyFigure> figures;
  put_feed_figures(parts, figures);
  put_run_figures(parts, figures);
  if (!figures.empty()) parts.page.add_key_figures(figures);
}

std::string title_of(const RunStory& story, const Words& words) {
  if (!story.bench.empty()) return words(Word::kTitleBench);
  return words(story.status == RunStatus::kUnknown && story.watched ? Word::kTitleDiagnosis
                                                                    : Word::kTitle);
}

std::string subtitle_of(const RunStory& story, const Words& words) {
  std::string subject = story.subject;
  if (story.status == RunStatus::kRunning) subject += " · " + words(Word::kRunning);
  if (story.status == RunStatus::kFinished) subject += " · " + words(Word::kFinished);
  if (story.status == RunStatus::kKilled) subject += " · " + words(Word::kKilled);
  return words(Word::kMade, {subject, std::string(build_info().version)});
}

}  // namespace

std::string story_sentence(const RunStory& story) {
  return sentence_of(story, Words(ReportLanguage::kEnglish));
}

void add_run_story(HtmlReport& page, const RunStory& story, ReportLanguage language) {
  const PageParts parts{page, story, Words(language)};
  add_verdict(parts);
  add_timeline(parts);
  add_intervals(parts);
  add_waterfall(parts);
  add_workers(parts);
  add_padding(parts);
  add_gaps(parts);
  add_causes(parts);
  add_cures(parts);
  add_before_and_after(parts);
  add_learning(parts);
  add_settings(parts);
  add_machine(parts);
  add_rejects(parts);
  add_missing(parts);
}

std::string run_page(const RunStory& story, ReportLanguage language) {
  const Words words(language);
  HtmlReport page(title_of(story, words), subtitle_of(story, words), words.page());
  add_run_story(page, story, language);
  return page.finish();
}

RunStory write_run_report(Io& io, const std::string& run_folder, const std::string& file,
                          ReportLanguage language) {
  RunStory story = load_run_story(io, run_folder);
  publish_output(io, file, view_bytes(run_page(story, language))).take_or_raise();
  return story;
}

}  // namespace stoker::observe
