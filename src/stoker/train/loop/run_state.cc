#include "stoker/train/loop/run_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string_view>

#include "stoker/config/field_table.h"
#include "stoker/train/errors.h"

namespace stoker::train {
namespace {

// Where a run is kept, how long it goes on, what it writes and says.
constexpr std::array<std::string_view, 20> kFreeSettings{"training.epochs",
                                                         "training.steps",
                                                         "training.seconds",
                                                         "training.resume",
                                                         "training.reset_training",
                                                         "training.allow_changed_data",
                                                         "training.checkpoint_dir",
                                                         "training.save_step",
                                                         "training.val_step",
                                                         "training.log_step",
                                                         "training.keep_checkpoints",
                                                         "training.early_stopping_patience",
                                                         "training.early_stopping_min_delta",
                                                         "training.max_bad_steps",
                                                         "training.max_memory_fraction",
                                                         "training.graphs",
                                                         "training.optimization_level",
                                                         "training.precision",
                                                         "training.model",
                                                         "training.deterministic"};

bool decides_steps(const config::FieldInfo& field) {
  if (field.path == "seed") return true;
  return field.section == "training" &&
         std::find(kFreeSettings.begin(), kFreeSettings.end(), field.path) == kFreeSettings.end();
}

Json losses_json(const std::vector<LossFigures>& losses) {
  Json out = Json::array();
  for (const LossFigures& each : losses)
    out.push_back(Json::array({each.duration, each.prior, each.flow}));
  return out;
}

std::vector<LossFigures> losses_of(const Json& json) {
  std::vector<LossFigures> losses;
  for (const Json& each : json.elements()) {
    const Json::Array& parts = each.elements();
    if (parts.size() != 3) throw std::out_of_range("three losses");
    losses.push_back({parts[0].number(), parts[1].number(), parts[2].number()});
  }
  return losses;
}

std::uint64_t count_at(const Json& json, std::string_view key) {
  const double value = json.at(key).number();
  if (!(value >= 0 && value < 9e15)) throw std::out_of_range(std::string(key));
  return static_cast<std::uint64_t>(value);
}

}  // namespace

Json run_state_json(const RunState& state) {
  return Json{{"feed", state.feed},
              {"feed_origin", state.feed_origin},
              {"step", state.step},
              {"batches", state.batches},
              {"epochs_done", state.epochs_done},
              {"seed", std::to_string(state.seed)},
              {"torch_threads", state.torch_threads},
              {"precision", state.precision},
              {"batch_frames", state.batch_frames},
              {"early_stop", state.early_stop},
              {"first", losses_json(state.first)},
              {"last", losses_json(state.last)},
              {"clips", state.totals.num_clips},
              {"frames", state.totals.true_frames},
              {"bad_steps", state.totals.bad_steps},
              {"train_s", state.totals.train_s}};
}

RunState run_state_of(const Json& checkpoint_state, const std::string& folder) {
  try {
    const Json& json = checkpoint_state.at("run");
    RunState state{
        .feed = json.at("feed").text(),
        .feed_origin = json.at("feed_origin").text(),
        .step = count_at(json, "step"),
        .batches = count_at(json, "batches"),
        .epochs_done = count_at(json, "epochs_done"),
        .seed = std::stoull(json.at("seed").text()),
        .torch_threads = static_cast<unsigned>(count_at(json, "torch_threads")),
        .precision = json.at("precision").text(),
        .batch_frames = json.contains("batch_frames") ? count_at(json, "batch_frames") : 0,
        .early_stop = json.at("early_stop"),
        .first = losses_of(json.at("first")),
        .last = losses_of(json.at("last"))};
    state.totals = {.num_clips = count_at(json, "clips"),
                    .true_frames = count_at(json, "frames"),
                    .bad_steps = count_at(json, "bad_steps"),
                    .train_s = json.at("train_s").number()};
    if (state.torch_threads == 0 || state.torch_threads > 4096)
      throw std::out_of_range("torch_threads");
    return state;
  } catch (const std::logic_error& absent) {
    raise({.code = &kCheckpointBad,
           .place = {.file = folder + "/state.json"},
           .promised = "the counters of a run",
           .found = fmt::format("something else ({})", absent.what())});
  }
}

std::vector<ChangedSetting> changed_settings(const config::Settings& before,
                                             const config::Settings& now) {
  std::vector<ChangedSetting> changes;
  for (const config::FieldInfo& field : config::all_fields()) {
    if (!decides_steps(field)) continue;
    ChangedSetting change{field.path, field.json(before), field.json(now)};
    if (change.before != change.now) changes.push_back(std::move(change));
  }
  return changes;
}

std::string changes_text(const std::vector<ChangedSetting>& changes) {
  std::string text;
  for (const ChangedSetting& change : changes)
    text += fmt::format("{}{} was {}, is {}", text.empty() ? "" : "; ", change.path, change.before,
                        change.now);
  return text;
}

}  // namespace stoker::train
