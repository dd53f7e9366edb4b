#include "stoker/train/loop/run_judge.h"

#include <fmt/format.h>

#include <cmath>

#include "stoker/train/errors.h"

namespace stoker::train {

bool EarlyStop::add(double loss) {
  const bool is_progress = std::isfinite(loss) && (!best_ || loss < *best_ - min_delta_);
  if (is_progress) {
    best_ = loss;
    num_without_progress_ = 0;
    return false;
  }
  ++num_without_progress_;
  return patience_ && num_without_progress_ >= *patience_;
}

Json EarlyStop::state() const {
  return Json{{"best", best_}, {"without_progress", num_without_progress_}};
}

void EarlyStop::restore(const Json& state) {
  num_without_progress_ = static_cast<std::int64_t>(state.at("without_progress").number());
  best_.reset();
  if (const Json& best = state.at("best"); best.dump() != "null") best_ = best.number();
}

void BadSteps::add(const StepRecord& step, const UpdateFigures& figures) {
  ++count_;
  file_.append(Json{{"step", step.step},
                    {"epoch", step.epoch},
                    {"loss", figures.losses.total()},
                    {"duration", figures.losses.duration},
                    {"prior", figures.losses.prior},
                    {"flow", figures.losses.flow},
                    {"gradient_norm", figures.gradient_norm},
                    {"learning_rate", step.learning_rate},
                    {"batches", step.batch_numbers},
                    {"ids", step.ids}});
  if (count_ <= static_cast<std::uint64_t>(most_)) return;
  raise({.code = &kTrainNonFinite,
         .place = {.file = file_.path()},
         .promised = fmt::format("at most {} such steps (training.max_bad_steps)", most_),
         .found = fmt::format("{}, the last at step {} with loss {:.4g} and gradient {:.4g}",
                              count_, step.step, figures.losses.total(), figures.gradient_norm)});
}

}  // namespace stoker::train
