// Measures training with several loaders in one run: the table of GPU and CPU use, time between
// batches and speed that people compare loaders by.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/io/io.h"
#include "stoker/base/json.h"
#include "stoker/bench/feed_bench_case.h"
#include "stoker/bench/rate_compare.h"

namespace stoker::bench {

// What takes the batches.
enum class TrainModel : std::uint8_t {
  kNone,    // nobody works on them: the feed alone
  kGemm,    // matrix products on the GPU
  kStoker,  // the model that `stoker train` trains
};
// "none", "gemm", "stoker"; throws E-BENCH-CHOICE.
TrainModel train_model_from(std::string_view name);
std::string_view name_of(TrainModel model);

struct TrainBenchOptions {
  std::vector<FeedBenchCase> cells{};
  TrainModel model = TrainModel::kStoker;
  double seconds = 300;  // of each cell
  double step_ms = 20;   // of matrix products
  // Trains with a cell's loader and settings for `seconds`; gives what the trainer's door calls the
  // result of `measure`. Only with kStoker.
  std::function<Json(const FeedBenchCase& cell)> measure{};
  std::stop_token stop{};
  std::function<void(std::string_view)> say = [](std::string_view) {};
};

// One row for each cell, in their order, fewer after a stop: loader, path, model, changed, the
// figures of the trainer's `measure` (null what is not measured), and speed_up over the naive row
// of the same settings. Builds what a cell reads and compares its first batches with an independent
// way of making them before it is measured: E-BENCH-WRONG.
std::vector<Json> bench_train(Io& io, const TrainBenchOptions& options);

}  // namespace stoker::bench
