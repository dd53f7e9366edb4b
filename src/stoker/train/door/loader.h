// The one part of the trainer that other folders may include: opens libstoker_train.so when a
// command needs a model, and calls it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "stoker/base/json.h"
#include "stoker/base/result.h"
#include "stoker/config/settings.h"
#include "stoker/train/door/door.h"
#include "stoker/train/door/door_message.h"

namespace stoker::train {

// What a command asks the library to speak; one entry of `out`, and of each of the other lists that
// is not empty, for every text.
struct SynthesisCall {
  std::string checkpoint;
  std::vector<std::string> texts{};
  std::vector<std::string> out{};         // WAV files
  std::vector<std::string> save_mel{};    // .npy files
  std::vector<std::string> pictures{};    // .png or .svg files
  std::vector<std::string> references{};  // sound files: one, or one each; none: the checkpoint's
  std::optional<std::string> language{};
  std::optional<std::string> vocabulary{};
  int num_steps = 16;
  double speed = 1.0;
};

// A run that is measured.
struct MeasureCall {
  std::string loader = "native";  // or naive
  double seconds = 10;
  double warmup_s = 2;
  std::string mode = "both";  // or feed, resident
  bool with_steps = false;    // the result lists every step
  std::string keep{};         // run folder for what was learned; empty: nothing is saved
};

struct CallHooks {
  // From any thread, never two at once; must not throw. `result` and `error` do not come here.
  std::function<void(const Json& event)> on_event = [](const Json&) {};
  std::stop_token stop = {};
  FindCode find_code;
};

// An open libstoker_train.so. It stays open until the process ends: torch does not unload cleanly.
class TrainLibrary {
 public:
  // The version of the libtorch that was really loaded.
  std::string torch_version() const { return door_->torch_version(); }

  // Each returns the keys of the command's JSON, or throws the Failure that the library tells of.
  Json train(const config::Settings& settings, const CallHooks& hooks) const;
  Json synthesize(const config::Settings& settings, const SynthesisCall& call,
                  const CallHooks& hooks) const;
  Json measure(const config::Settings& settings, const MeasureCall& call,
               const CallHooks& hooks) const;

 private:
  friend Result<TrainLibrary> open_train_library(const std::vector<std::string>& folders);
  explicit TrainLibrary(const StokerTrainDoor* door) : door_(door) {}
  const StokerTrainDoor* door_;
};

// Looks in $STOKER_TRAIN_LIBRARY alone where that is set; else in each of `folders` (of the
// program, of a package), in lib/stoker and in ../lib/stoker there. E-TRAIN-LIB lists every file
// tried with the reason; E-TRAIN-DOOR names the two versions that do not fit.
Result<TrainLibrary> open_train_library(const std::vector<std::string>& folders);

// "o.wav" for one text; "o-1.wav", "o-2.wav" … for several. None for an empty path.
std::vector<std::string> numbered_files(const std::string& path, std::size_t num_texts);

}  // namespace stoker::train
