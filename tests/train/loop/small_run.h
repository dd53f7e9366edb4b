// A run over a small data set with a scripted learner, and what it told.
#pragma once

#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <sstream>
#include <stop_token>
#include <string>
#include <vector>

#include "stoker/train/loop/training_run.h"
#include "tests/doubles/scratch_folder.h"
#include "tests/feed/small_data_set.h"
#include "tests/train/doubles/scripted_learner.h"

namespace stoker::train {

struct SmallRun {
  explicit SmallRun(unsigned num_rows = 24) : set(num_rows) {
    settings = set.settings();
    settings.run.device = "cpu";
    settings.loader.preprocessing_mode = config::PreprocessingMode::kRuntime;
    settings.training.model_size = config::ModelSize::kTiny;
    settings.training.checkpoint_dir = set.folder() / "run";
    settings.training.epochs = 2;
    settings.training.log_step = 1;
    settings.data.val_split = 0;
    settings.optimizer.warmup_steps = 3;
  }

  Json train() {
    events.clear();
    TrainingHooks hooks;
    hooks.tell = [this](const Json& event) { events.push_back(event); };
    hooks.stop = stop.get_token();
    hooks.devices = devices;
    hooks.speak_sample = speak_sample;
    hooks.open_gauge = open_gauge;
    hooks.make_learner = [this](const LearnerOptions& options) {
      return std::make_unique<ScriptedLearner>(script, options);
    };
    return run_training(settings, hooks);
  }
  // The name of the code that training ends with, and its line.
  std::string refusal() {
    try {
      train();
    } catch (const Failure& failure) {
      return error_line(failure.error());
    }
    return "trained";
  }

  std::string run_file(const std::string& name) const {
    std::ifstream file(settings.training.checkpoint_dir + "/" + name);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  }
  std::vector<std::string> lines(const std::string& kind = "line") const {
    std::vector<std::string> found;
    for (const Json& event : events)
      if (event.at("kind").text() == kind) found.push_back(event.at("text").text());
    return found;
  }
  bool has_told(const std::string& part, const std::string& kind = "line") const {
    for (const std::string& line : lines(kind))
      if (line.find(part) != line.npos) return true;
    return false;
  }
  std::size_t num_events(const std::string& kind) const {
    std::size_t count = 0;
    for (const Json& event : events) count += event.at("kind").text() == kind ? 1 : 0;
    return count;
  }

  feed::SmallDataSet set;
  config::Settings settings;
  LearnerScript script;
  std::stop_source stop;
  const feed::DeviceView* devices = nullptr;
  std::function<std::vector<SpokenSample>(const SampleRequest&)> speak_sample;
  std::function<observe::GpuGauge(int device)> open_gauge;
  std::vector<Json> events;
};

}  // namespace stoker::train
