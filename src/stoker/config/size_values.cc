#include "stoker/config/size_values.h"

namespace stoker::config {

std::vector<std::pair<std::string_view, std::string_view>> size_values(ModelSize size) {
  switch (size) {
    case ModelSize::kTiny:
      return {{"data.batch_frames", "4000"},    {"training.learning_rate", "2e-3"},
              {"training.beta2", "0.98"},       {"training.warmup_steps", "30"},
              {"training.scheduler", "cosine"}, {"training.restart_period", "50000"},
              {"training.ema_decay", "0.99"}};
    case ModelSize::kSmall:
      return {{"data.batch_frames", "16000"},
              {"training.learning_rate", "5e-4"},
              {"training.warmup_steps", "500"},
              {"training.ema_decay", "0.995"}};
    case ModelSize::kNormal:
      return {};
    case ModelSize::kBig:
      return {{"training.learning_rate", "7e-5"}, {"training.warmup_steps", "6000"}};
  }
  return {};
}

}  // namespace stoker::config
