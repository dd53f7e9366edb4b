// The one part of the trainer that other folders may include: opens libstoker_train.so when a
// command needs a model.
#pragma once

#include <memory>
#include <string>

#include "stoker/base/result.h"

namespace stoker::train {

// An open libstoker_train.so. It stays open until the process ends: torch does not unload cleanly.
class TrainLibrary {
 public:
  // The version of the libtorch that was really loaded.
  std::string torch_version() const;

 private:
  friend Result<TrainLibrary> open_train_library(const std::string& program_folder);
  using VersionCall = const char* (*)();
  explicit TrainLibrary(VersionCall version) : version_(version) {}
  VersionCall version_;
};

// Looks in $STOKER_TRAIN_LIBRARY, beside the program, in lib/stoker and in ../lib/stoker; the error
// lists every file tried with the reason.
Result<TrainLibrary> open_train_library(const std::string& program_folder);

}  // namespace stoker::train
