#include "stoker/train/loop/progress_line.h"

#include <fmt/format.h>

#include "stoker/base/number_text.h"
#include "stoker/observe/diagnose/verdict.h"

namespace stoker::train {
namespace {

constexpr double kMuchData = 0.3;

// Enough digits to see a change, whatever the size: 985, 12.3, 0.42.
std::string rate_text(double value) {
  if (value >= 100) return fmt::format("{:.0f}", value);
  return fmt::format("{:.{}f}", value, value >= 10 ? 1 : 2);
}

// The old word for the size, and the verdict of `stoker diagnose`.
std::string verdict_words(double data_share) {
  const bool waits = observe::verdict_of_stall(data_share) == observe::LoopVerdict::kStarved;
  return fmt::format("data {} 30 % of the step, training {}", data_share > kMuchData ? ">" : "<=",
                     waits ? "waits for it (why: stoker diagnose)" : "is not held up by it");
}

}  // namespace

std::string progress_text(const ProgressFigures& figures) {
  const LossFigures& losses = figures.losses;
  std::string text = fmt::format(
      "step {} | loss {:.2f} (dur {:.2f} prior {:.2f} flow {:.2f}) | {} clips/s | data {:.1f} ms "
      "({:.1f} %) | step {:.1f} ms",
      figures.step, losses.total(), losses.duration, losses.prior, losses.flow,
      rate_text(figures.clips_per_s), figures.data_ms, 100 * figures.data_share(), figures.step_ms);
  if (figures.gpu_percent) text += fmt::format(" | GPU {} %", *figures.gpu_percent);
  return text;
}

std::string summary_text(const TimeSummary& summary) {
  const double share = summary.step_ms > 0 ? summary.data_ms / summary.step_ms : 0.0;
  return fmt::format("epoch {}: {} of {:.1f} ms, data {:.1f} ms ({:.1f} %), compute {:.1f} ms: {}",
                     summary.epochs_done, counted(summary.num_steps, "step", "steps"),
                     summary.step_ms, summary.data_ms, 100 * share, summary.compute_ms,
                     verdict_words(share));
}

}  // namespace stoker::train
