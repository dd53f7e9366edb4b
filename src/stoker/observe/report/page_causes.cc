// Why a run was as fast as it was: where the time went, gaps, causes, cures, before and after.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "stoker/base/number_text.h"
#include "stoker/base/report/figures.h"
#include "stoker/observe/diagnose/supply_model.h"
#include "stoker/observe/report/page_parts.h"

namespace stoker::observe {
namespace {

constexpr std::size_t kMostCauses = 6;

// Where the consumer's time went, in percent.
struct TimeSplit {
  double all_s = 0, wait_s = 0, step_s = 0;
  WorkSeconds works_s{};

  // To a tenth, which is more than anybody reads.
  double percent(double seconds) const { return 0.1 * std::round(1000 * seconds / all_s); }
};

TimeSplit split_of(const Evidence& evidence) {
  TimeSplit split;
  for (const BatchWork& work : works_of(evidence)) {
    split.wait_s += work.wait_s;
    split.step_s += work.step_s;
    for (std::size_t i = 0; i < work.works_s.size(); ++i) split.works_s[i] += work.works_s[i];
    split.all_s += work.interval_s();
  }
  return split;
}

// The waiting by cause: shares of the diagnosis, never more than was waited.
void put_waiting(const PageParts& parts, double waited, std::vector<WaterfallStep>& steps) {
  double left = waited;
  std::size_t count = 0;
  for (const NamedCause& each : parts.diagnosis()->causes) {
    const CauseInfo& info = info_of(each.cause);
    if (info.side != CauseSide::kFeed || count++ == kMostCauses) continue;
    const double share = std::min(left, 0.1 * std::round(1000 * each.share));
    if (share < 0.05) continue;
    steps.push_back({parts.words(Word::kWaitFor, {parts.words.sentence(info.title)}), share});
    left -= share;
  }
  if (left >= 0.05) steps.push_back({parts.words(Word::kWaitOther), left});
}

std::string range_text(const Cure& cure) {
  return fmt::format("{:.2f} – {:.2f}", cure.predicted_low, cure.predicted_high);
}

const Cure* applied_cure(const Diagnosis* diagnosis) {
  if (diagnosis == nullptr) return nullptr;
  const auto found = std::find_if(diagnosis->cures.begin(), diagnosis->cures.end(),
                                  [](const Cure& cure) { return cure.measured_gain.has_value(); });
  return found == diagnosis->cures.end() ? nullptr : &*found;
}

void add_applied(const PageParts& parts, const Cure& cure) {
  const Words& words = parts.words;
  const double now = parts.diagnosis()->batches_per_s;
  const std::string change = words.sentence(cure.change);
  const std::array labels{words(Word::kBefore), words(Word::kPredicted, {change}),
                          words(Word::kMeasured, {change})};
  const std::array bars{BarParts{"", {now, now * cure.predicted_gain, now * *cure.measured_gain}}};
  add_bar_figure(parts.page,
                 {.title = words(Word::kBeforeAfter),
                  .x = {.label = words(Word::kBatchesPerS)},
                  .shows_title = false,
                  .height = 0},
                 labels, bars,
                 words(Word::kBeforeAfterNote, {fmt::format("{:.2f}", cure.predicted_gain),
                                                fmt::format("{:.2f}", *cure.measured_gain)}));
}

std::string rows_note(const PageParts& parts) {
  const std::vector<BenchRow>& rows = parts.story.bench;
  const auto by_rate = [](const BenchRow& a, const BenchRow& b) {
    return a.clips_per_s < b.clips_per_s;
  };
  const auto [least, most] = std::minmax_element(rows.begin(), rows.end(), by_rate);
  if (least == most || least->clips_per_s <= 0) return {};
  return parts.words(
      Word::kRowsNote,
      {most->name, fmt::format("{:.2f}", most->clips_per_s / least->clips_per_s), least->name});
}

void add_bench_rows(const PageParts& parts) {
  const Words& words = parts.words;
  std::vector<std::string> labels;
  BarParts rates{words(Word::kClipsPerS), {}};
  ReportTable table{.header = {words(Word::kRow), words(Word::kClipsPerS), words(Word::kOfLimit),
                               words(Word::kLimit), words(Word::kStall), words(Word::kIntervalCv),
                               words(Word::kP50), words(Word::kP99)}};
  for (const BenchRow& row : parts.story.bench) {
    labels.push_back(row.name);
    rates.values.push_back(row.clips_per_s);
    table.rows.push_back({row.name, per_second_text(row.clips_per_s),
                          row.limit_clips_per_s > 0 ? percent_text(row.share_of_limit, 0) : "–",
                          words.sentence(row.limit), percent_text(row.stall_share),
                          fmt::format("{:.2f}", row.interval_cv), fmt::format("{:.3g}", row.p50_ms),
                          fmt::format("{:.3g}", row.p99_ms)});
  }
  const std::array bars{rates};
  add_bar_figure(parts.page,
                 {.title = words(Word::kRows),
                  .x = {.label = words(Word::kClipsPerS)},
                  .y = {.label = words(Word::kRow)},
                  .shows_title = false,
                  .height = 0},
                 labels, bars, rows_note(parts));
  parts.page.add_table(table);
}

}  // namespace

void add_waterfall(const PageParts& parts) {
  if (parts.diagnosis() == nullptr || parts.diagnosis()->verdict == LoopVerdict::kSupply) return;
  const TimeSplit split = split_of(parts.story.watched->evidence);
  if (split.all_s <= 0) return;
  std::vector<WaterfallStep> steps{{parts.words(Word::kOwnSteps), split.percent(split.step_s)}};
  for (std::size_t i = 0; i < split.works_s.size(); ++i) {
    const double share = split.percent(split.works_s[i]);
    if (share >= 0.05)
      steps.push_back({work_name(parts.words, static_cast<feed::ConsumerWork>(i)), share});
  }
  put_waiting(parts, split.percent(split.wait_s), steps);
  steps.push_back({parts.words(Word::kAll), 100.0, true});
  parts.page.open_section(parts.words(Word::kWaterfall));
  add_waterfall_figure(parts.page,
                       {.title = parts.words(Word::kWaterfall),
                        .x = {.label = parts.words(Word::kShareAxis), .high = 112.0},
                        .shows_title = false,
                        .height = 0},
                       steps, parts.words(Word::kWaterfallNote));
}

void add_gaps(const PageParts& parts) {
  const Diagnosis* diagnosis = parts.diagnosis();
  if (diagnosis == nullptr || (diagnosis->gaps.empty() && !diagnosis->oscillation.is_present))
    return;
  const Words& words = parts.words;
  parts.page.open_section(words(Word::kGaps));
  if (const Oscillation& found = diagnosis->oscillation; found.is_present) {
    parts.page.add_paragraph(words(Word::kCyclic, {grouped(found.period_batches)}));
    parts.page.add_paragraph(words(
        Word::kCyclicWhat, {grouped(found.period_batches), seconds_text(found.period_s),
                            fmt::format("{:.2f}", found.strength), words.sentence(found.what)}));
  }
  if (diagnosis->gaps.empty()) return;
  ReportTable table{.header = {words(Word::kGapLength), words(Word::kGapAt), words(Word::kGapBatch),
                               words(Word::kReason)}};
  for (const Gap& gap : diagnosis->gaps)
    table.rows.push_back({seconds_text(gap.length_s), seconds_text(gap.at_s),
                          words(Word::kEpochBatch, {grouped(gap.epoch), grouped(gap.batch)}),
                          words.sentence(gap.sentence)});
  parts.page.add_table(table);
}

void add_causes(const PageParts& parts) {
  const Diagnosis* diagnosis = parts.diagnosis();
  if (diagnosis == nullptr || diagnosis->causes.empty()) return;
  const Words& words = parts.words;
  parts.page.open_section(words(Word::kCauses));
  ReportTable table{.header = {words(Word::kCause), words(Word::kShare), words(Word::kEvidence),
                               words(Word::kWhatToDo)}};
  for (const NamedCause& each : diagnosis->causes) {
    const CauseInfo& info = info_of(each.cause);
    std::string evidence;
    for (const std::string& line : each.evidence)
      evidence += (evidence.empty() ? "" : words(Word::kAnd)) + words.sentence(line);
    table.rows.push_back({words.sentence(info.title), percent_text(each.share), evidence,
                          words.sentence(info.what_to_do)});
  }
  parts.page.add_table(table);
}

void add_cures(const PageParts& parts) {
  const Diagnosis* diagnosis = parts.diagnosis();
  if (diagnosis == nullptr || diagnosis->cures.empty()) return;
  const Words& words = parts.words;
  parts.page.open_section(words(Word::kCures));
  std::vector<std::string> labels;
  BarParts gains{words(Word::kGain), {}};
  ReportTable table{.header = {words(Word::kChange), words(Word::kGain), words(Word::kGainRange)}};
  std::string commands;
  for (const Cure& cure : diagnosis->cures) {
    labels.push_back(words.sentence(cure.change));
    gains.values.push_back(cure.predicted_gain);
    table.rows.push_back(
        {labels.back(), fmt::format("{:.2f}", cure.predicted_gain), range_text(cure)});
    if (!cure.command.empty()) commands += cure.command + "\n";
    if (!cure.yaml.empty()) commands += "#   " + cure.yaml + "\n";
  }
  const std::array bars{gains};
  add_bar_figure(parts.page,
                 {.title = words(Word::kCures),
                  .x = {.label = words(Word::kGain)},
                  .y = {.label = words(Word::kChange)},
                  .shows_title = false,
                  .height = 0},
                 labels, bars, words(Word::kCuresNote));
  parts.page.add_table(table);
  if (!commands.empty()) parts.page.add_code(commands);
}

void add_before_and_after(const PageParts& parts) {
  const Cure* applied = applied_cure(parts.diagnosis());
  if (applied == nullptr && parts.story.bench.empty()) return;
  parts.page.open_section(
      parts.words(parts.story.bench.empty() ? Word::kBeforeAfter : Word::kRows));
  if (applied != nullptr) add_applied(parts, *applied);
  if (!parts.story.bench.empty()) add_bench_rows(parts);
}

}  // namespace stoker::observe
