// A diagnosis as people read it and as programs do.
#include <fmt/format.h>

#include <array>
#include <string>

#include "stoker/base/number_text.h"
#include "stoker/observe/diagnose/diagnosis.h"
#include "stoker/observe/diagnose/thresholds.h"

namespace stoker::observe {
namespace {

struct RunWords {
  std::string_view id, words;
};
constexpr std::array<RunWords, 9> kRunWords{{{"supply", "as it is"},
                                             {"workers", "other workers"},
                                             {"native", "native loader"},
                                             {"instant", "nothing is read"},
                                             {"no_mel", "no mel is made"},
                                             {"no_text", "no text is tokenised"},
                                             {"memory", "mels from memory"},
                                             {"cold", "files not in memory"},
                                             {"no_copy", "no copy to the GPU"}}};
std::string_view name_of(RunKind kind) { return kRunWords[static_cast<std::size_t>(kind)].id; }
std::string_view words_of(RunKind kind) { return kRunWords[static_cast<std::size_t>(kind)].words; }

std::string cause_lines(const Diagnosis& diagnosis) {
  std::string text = "\nCauses, by the share of the consumer's time\n";
  std::size_t rank = 0;
  for (const NamedCause& each : diagnosis.causes) {
    const CauseInfo& info = info_of(each.cause);
    text += fmt::format("  {}. {} ({}): {:.1f} %\n", ++rank, info.title, info.id, 100 * each.share);
    for (const std::string& line : each.evidence) text += fmt::format("       {}\n", line);
  }
  return text;
}

std::string cure_lines(const Diagnosis& diagnosis) {
  std::string text = "\nCures, by what they would bring\n";
  std::size_t rank = 0;
  for (const Cure& cure : diagnosis.cures) {
    text += fmt::format("  {}. {}: {:.2f} times as many batches ({:.2f} to {:.2f})\n", ++rank,
                        cure.change, cure.predicted_gain, cure.predicted_low, cure.predicted_high);
    if (cure.measured_gain)
      text += fmt::format("       applied: {:.2f} times, predicted {:.2f}\n", *cure.measured_gain,
                          cure.predicted_gain);
    if (!cure.command.empty()) text += fmt::format("       {}\n", cure.command);
    if (!cure.yaml.empty()) text += fmt::format("       {}\n", cure.yaml);
  }
  return text;
}

std::string gap_lines(const Diagnosis& diagnosis) {
  std::string text = "\nLongest gaps\n";
  for (const Gap& gap : diagnosis.gaps)
    text += fmt::format("  {:>8} after {:>7}, epoch {} batch {}: {}\n", seconds_text(gap.length_s),
                        seconds_text(gap.at_s), gap.epoch, gap.batch, gap.sentence);
  return text;
}

std::string stage_table(const Diagnosis& diagnosis) {
  std::string text = "\nStage        ms a batch   of that waiting   of the workers' time\n";
  for (const StageLine& stage : diagnosis.stages)
    text += fmt::format("  {:<10} {:>10.3f} {:>17.3f} {:>20.1f} %\n", stage.name,
                        stage.ms_per_batch, stage.waiting_ms, 100 * stage.share);
  return text;
}

std::string oscillation_line(const Oscillation& found) {
  return fmt::format(
      "\nHIGH VARIATION DETECTED: cyclic pattern, period {}\n"
      "  {} batches ({}), strength {:.2f}; what repeats: {}\n",
      found.period_batches, found.period_batches, seconds_text(found.period_s), found.strength,
      found.what);
}

Json causes_json(const Diagnosis& diagnosis) {
  Json causes = Json::array();
  for (const NamedCause& each : diagnosis.causes) {
    const CauseInfo& info = info_of(each.cause);
    causes.push_back(Json{{"id", info.id},
                          {"title", info.title},
                          {"side", info.side == CauseSide::kFeed ? "feed" : "consumer"},
                          {"share", each.share},
                          {"regained", each.regained},
                          {"evidence", each.evidence},
                          {"what_to_do", info.what_to_do}});
  }
  return causes;
}

Json cures_json(const Diagnosis& diagnosis) {
  Json cures = Json::array();
  for (const Cure& cure : diagnosis.cures)
    cures.push_back(Json{{"change", cure.change},
                         {"set", cure.set},
                         {"flags", cure.flags},
                         {"yaml", cure.yaml},
                         {"command", cure.command},
                         {"predicted_gain", cure.predicted_gain},
                         {"predicted_low", cure.predicted_low},
                         {"predicted_high", cure.predicted_high},
                         {"measured_gain", cure.measured_gain}});
  return cures;
}

Json gaps_json(const Diagnosis& diagnosis) {
  Json gaps = Json::array();
  for (const Gap& gap : diagnosis.gaps)
    gaps.push_back(Json{{"epoch", gap.epoch},
                        {"batch", gap.batch},
                        {"at_s", gap.at_s},
                        {"ms", 1e3 * gap.length_s},
                        {"side", gap.is_consumer ? "consumer" : "feed"},
                        {"stage", gap.stage},
                        {"file", gap.file},
                        {"sentence", gap.sentence}});
  return gaps;
}

Json stages_json(const Diagnosis& diagnosis) {
  Json stages = Json::array();
  for (const StageLine& stage : diagnosis.stages)
    stages.push_back(Json{{"name", stage.name},
                          {"ms", stage.ms_per_batch},
                          {"waiting_ms", stage.waiting_ms},
                          {"share", stage.share}});
  return stages;
}

Json runs_json(const Diagnosis& diagnosis) {
  Json runs = Json::array();
  for (const SupplyRun& run : diagnosis.runs)
    runs.push_back(Json{{"run", name_of(run.kind)},
                        {"num_workers", run.num_workers},
                        {"batches_per_s", run.batches_per_s},
                        {"clips_per_s", run.clips_per_s},
                        {"cpu_ms_per_batch", 1e3 * run.cpu_s_per_batch},
                        {"spread", run.spread}});
  return runs;
}

std::string run_lines(const Diagnosis& diagnosis) {
  std::string text = "\nTried, with a consumer that takes all at once\n";
  for (const SupplyRun& run : diagnosis.runs)
    text += fmt::format("  {:<22} {:>3} workers {:>10} batches/s\n", words_of(run.kind),
                        run.num_workers, per_second_text(run.batches_per_s));
  return text;
}

}  // namespace

std::string diagnosis_text(const Diagnosis& diagnosis) {
  std::string text = diagnosis.sentence + "\n";
  if (diagnosis.num_batches < 2) return text;
  text += fmt::format(
      "{} batches, {:.3f} ms each, std/mean {:.2f}; {} batches/s, {} clips/s; supply {} batches/s; "
      "padding {:.1f} %\n",
      grouped(diagnosis.num_batches), diagnosis.interval_ms, diagnosis.interval_cv,
      per_second_text(diagnosis.batches_per_s), per_second_text(diagnosis.clips_per_s),
      per_second_text(diagnosis.supply_batches_per_s), 100 * diagnosis.padding_share);
  if (!diagnosis.causes.empty()) text += cause_lines(diagnosis);
  if (!diagnosis.cures.empty()) text += cure_lines(diagnosis);
  if (!diagnosis.gaps.empty()) text += gap_lines(diagnosis);
  if (diagnosis.oscillation.is_present) text += oscillation_line(diagnosis.oscillation);
  if (!diagnosis.runs.empty()) text += run_lines(diagnosis);
  if (!diagnosis.stages.empty()) text += stage_table(diagnosis);
  return text;
}

Json diagnosis_json(const Diagnosis& diagnosis) {
  const Oscillation& repeats = diagnosis.oscillation;
  const bool is_named = !diagnosis.causes.empty();
  return Json{{"verdict", name_of(diagnosis.verdict)},
              {"sentence", diagnosis.sentence},
              {"cause", is_named ? Json(info_of(diagnosis.causes.front().cause).id) : Json("none")},
              {"confidence", diagnosis.confidence},
              {"causes", causes_json(diagnosis)},
              {"cures", cures_json(diagnosis)},
              {"gaps", gaps_json(diagnosis)},
              {"stages", stages_json(diagnosis)},
              {"runs", runs_json(diagnosis)},
              {"interval_cv", diagnosis.interval_cv},
              {"interval_ms", diagnosis.interval_ms},
              {"oscillation", Json{{"present", repeats.is_present},
                                   {"period_batches", repeats.period_batches},
                                   {"period_ms", 1e3 * repeats.period_s},
                                   {"strength", repeats.strength},
                                   {"what", repeats.what}}},
              {"stall_share", diagnosis.stall_share},
              {"batches", diagnosis.num_batches},
              {"batches_per_s", diagnosis.batches_per_s},
              {"clips_per_s", diagnosis.clips_per_s},
              {"supply_batches_per_s", diagnosis.supply_batches_per_s},
              {"supply_ratio", diagnosis.supply_ratio()},
              {"padding_share", diagnosis.padding_share}};
}

}  // namespace stoker::observe
