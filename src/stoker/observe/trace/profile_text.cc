// The words and the JSON of a profile.
#include <fmt/format.h>

#include <algorithm>

#include "stoker/base/number_text.h"
#include "stoker/observe/trace/feed_profile.h"

namespace stoker::observe {
namespace {

constexpr double kWorthSaying = 0.05;  // of a fill
constexpr std::size_t kMostPartsSaid = 4;

// Of the thread that has the stage, or of all workers together.
double whole_ms(const FeedProfile& profile, const StageTimes& stage) {
  return stage.thread == "worker" ? profile.num_workers * profile.interval_ms()
                                  : profile.interval_ms();
}

std::string cell(const std::optional<double>& ms, double whole) {
  if (!ms) return fmt::format("{:>8} {:>4}", "-", "");
  const double share = whole > 0 ? std::min(1.0, *ms / whole) : 0;
  return fmt::format("{:>8.3f} {:>3.0f}%", *ms, 100 * share);
}

std::string ms_text(double ms) {
  constexpr double kThreeDigits = 100;
  return ms < kThreeDigits ? fmt::format("{:.3g} ms", ms) : fmt::format("{:.0f} ms", ms);
}

std::string row_of(const FeedProfile& profile, const StageTimes& stage) {
  const double whole = whole_ms(profile, stage);
  std::string row = fmt::format("{:<10} {:<8} {} {} {} {}", stage.name, stage.thread,
                                cell(stage.working_ms, whole), cell(stage.input_ms, whole),
                                cell(stage.room_ms, whole), cell(stage.core_ms, whole));
  row.resize(row.find_last_not_of(' ') + 1);
  return row + "\n";
}

// Those of a worker's fill, the longest first.
std::vector<StageTimes> fill_stages(const FeedProfile& profile) {
  std::vector<StageTimes> stages;
  for (const StageTimes& stage : profile.stages)
    if (stage.core_ms) stages.push_back(stage);
  std::sort(stages.begin(), stages.end(),
            [](const StageTimes& a, const StageTimes& b) { return a.total_s > b.total_s; });
  return stages;
}

// "filling a batch takes 15.2 ms: mel 60 %, fetch 21 %; 2 workers can bring one every 7.6 ms"
std::string made_of(const FeedProfile& profile) {
  const double fill_ms = profile.fill_ms();
  if (fill_ms <= 0) return "no stage of a worker was measured";
  std::string parts;
  const std::vector<StageTimes> stages = fill_stages(profile);
  for (std::size_t i = 0; i < stages.size() && i < kMostPartsSaid; ++i) {
    const double share =
        1e3 * stages[i].total_s / static_cast<double>(profile.num_batches) / fill_ms;
    if (share < kWorthSaying) break;
    parts += fmt::format("{}{} {:.0f} %", parts.empty() ? "" : ", ", stages[i].name, 100 * share);
  }
  std::string text = fmt::format("filling a batch takes {}: {}", ms_text(fill_ms), parts);
  if (profile.num_workers > 0)
    text +=
        fmt::format("; {:.3g} worker{} can bring one every {}", profile.num_workers,
                    profile.num_workers == 1 ? "" : "s", ms_text(fill_ms / profile.num_workers));
  return text;
}

Json share_of(const std::optional<double>& ms, double whole) {
  return ms && whole > 0 ? Json(std::min(1.0, *ms / whole)) : Json();
}

Json stage_json(const FeedProfile& profile, const StageTimes& stage) {
  const double whole = whole_ms(profile, stage);
  return Json{{"name", stage.name},
              {"thread", stage.thread},
              {"working_ms", stage.working_ms},
              {"waiting_for_input_ms", stage.input_ms},
              {"waiting_for_room_ms", stage.room_ms},
              {"waiting_for_core_ms", stage.core_ms},
              {"working_share", share_of(stage.working_ms, whole)},
              {"waiting_for_input_share", share_of(stage.input_ms, whole)},
              {"waiting_for_room_share", share_of(stage.room_ms, whole)},
              {"waiting_for_core_share", share_of(stage.core_ms, whole)},
              {"total_s", stage.total_s}};
}

}  // namespace

std::string FeedProfile::text() const {
  std::string text = fmt::format("{:<10} {:<8} {:>13} {:>13} {:>13} {:>13}\n", "ms a batch", "by",
                                 "working", "waits: input", "room", "core");
  for (const StageTimes& stage : stages)
    if (stage.total_s > 0 || stage.room_ms.value_or(0) > 0) text += row_of(*this, stage);
  text += fmt::format(
      "batches    {}: data {} ± {}, compute {} a batch; {:.1f} % of the time is waiting\n",
      grouped(num_batches), ms_text(data_ms), ms_text(data_std_ms), ms_text(compute_ms),
      interval_ms() > 0 ? 100 * data_ms / interval_ms() : 0.0);
  text +=
      fmt::format("loading    {} ({} a batch; below 100 ms good, to 500 ms moderate, above slow)\n",
                  name_of(verdict()), ms_text(data_ms));
  text += "made of    " + made_of(*this) + "\n";
  return text;
}

Json FeedProfile::json() const {
  Json rows = Json::array();
  for (const StageTimes& stage : stages) rows.push_back(stage_json(*this, stage));
  return Json{
      {"batches", num_batches},
      {"stages", std::move(rows)},
      {"data_ms", data_ms},
      {"compute_ms", compute_ms},
      {"stall_share", interval_ms() > 0 ? data_ms / interval_ms() : 0.0},
      {"batch_ms",
       Json{{"mean", data_ms}, {"std", data_std_ms}, {"min", data_min_ms}, {"max", data_max_ms}}},
      {"first_wait_ms", first_wait_ms},
      {"num_workers", num_workers},
      {"verdict", name_of(verdict())},
      {"made_of", made_of(*this)}};
}

}  // namespace stoker::observe
