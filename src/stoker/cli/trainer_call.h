// How commands reach the trainer: opens its library on demand and shows what a run tells.
#pragma once

#include <functional>
#include <string>

#include "stoker/cli/command_context.h"
#include "stoker/cli/run_line.h"
#include "stoker/train/door/loader.h"

namespace stoker::cli {

// The library beside this program. Loading libtorch takes half a second: only commands that need a
// model call it.
Result<train::TrainLibrary> find_trainer();

// The events of a call, in the words of the command: lines and warnings on stderr, progress as a
// line that is redrawn, the newest checkpoint as what a stop leaves.
class TrainerTalk {
 public:
  explicit TrainerTalk(CommandContext& context);

  train::CallHooks hooks();
  const std::string& saved_folder() const { return saved_folder_; }

 private:
  void take(const Json& event);

  CommandContext& context_;
  RunLine line_;
  std::string saved_folder_;  // of the newest checkpoint
};

}  // namespace stoker::cli
