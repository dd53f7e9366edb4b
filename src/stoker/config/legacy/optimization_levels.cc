#include "stoker/config/legacy/optimization_levels.h"

namespace stoker::config {
namespace {

std::vector<LevelValue> enhanced(ModelSize size) {
  const auto by_size = [size](std::string_view tiny, std::string_view small,
                              std::string_view other) {
    if (size == ModelSize::kTiny) return tiny;
    return size == ModelSize::kSmall ? small : other;
  };
  return {{"training.learning_rate", by_size("3e-5", "5e-5", "8e-5")},
          {"training.gradient_clip_norm", by_size("0.5", "0.7", "0.8")},
          {"training.scheduler", "cosine_restarts"},
          {"training.restart_period", by_size("6000", "7000", "8000")},
          {"training.restart_mult", "0.8"},
          {"training.min_learning_rate", "1e-7"}};
}

}  // namespace

std::vector<LevelValue> level_values(OptimizationLevel level, ModelSize size) {
  switch (level) {
    case OptimizationLevel::kNone:
      return {};
    case OptimizationLevel::kBasic:
      return {{"training.learning_rate", "1e-5"},
              {"training.gradient_clip_norm", "0.5"},
              {"training.warmup_steps", "3000"},
              {"training.scheduler", "noam"}};
    case OptimizationLevel::kEnhanced:
      return enhanced(size);
    case OptimizationLevel::kPlateauBreaker:
      return {{"training.learning_rate", "1.5e-5"},
              {"training.gradient_clip_norm", "0.3"},
              {"training.scheduler", "cosine_restarts"},
              {"training.restart_period", "100000"}};
    case OptimizationLevel::kExperimental:
      return {{"training.scheduler", "cosine"}, {"training.restart_period", "8000"}};
  }
  return {};
}

}  // namespace stoker::config
