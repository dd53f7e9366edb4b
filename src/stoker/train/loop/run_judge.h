// The two rules by which a run ends itself: no more progress, and too many steps that are not
// numbers.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "stoker/base/json.h"
#include "stoker/config/settings.h"
#include "stoker/train/loop/learner.h"
#include "stoker/train/loop/line_file.h"

namespace stoker::train {

// Ends training after `patience` evaluations in a row whose loss is not at least min_delta below
// the best one.
class EarlyStop {
 public:
  explicit EarlyStop(const config::TrainingSettings& training)
      : patience_(training.early_stopping_patience),
        min_delta_(training.early_stopping_min_delta) {}

  // True where training is to end now. A loss that is not a number is no progress.
  bool add(double loss);
  std::optional<double> best() const { return best_; }

  Json state() const;
  // What state() gave; throws std::out_of_range for anything else.
  void restore(const Json& state);

 private:
  std::optional<std::int64_t> patience_;
  double min_delta_;
  std::optional<double> best_{};
  std::int64_t num_without_progress_ = 0;
};

// One update as it was asked for; its figures come later.
struct StepRecord {
  std::uint64_t step = 0;
  std::uint64_t epoch = 0;
  double learning_rate = 0;
  std::vector<std::uint64_t> batch_numbers;
  std::vector<std::string> ids;  // of all its batches, without fillers
};

// Keeps the utterances of steps whose loss or gradient was not finite in bad-steps.jsonl.
class BadSteps {
 public:
  BadSteps(LineFile file, std::int64_t most, std::uint64_t count_so_far)
      : file_(std::move(file)), most_(most), count_(count_so_far) {}

  // Throws E-TRAIN-NONFINITE past the most that are allowed, after the line is written.
  void add(const StepRecord& step, const UpdateFigures& figures);
  std::uint64_t count() const { return count_; }

 private:
  LineFile file_;
  std::int64_t most_;
  std::uint64_t count_;
};

}  // namespace stoker::train
