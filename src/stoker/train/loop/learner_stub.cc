// In the place of torch_learner.cc where stoker is built without libtorch: tests bring their own
// learner.
#include "stoker/train/errors.h"
#include "stoker/train/loop/learner.h"

namespace stoker::train {

std::string torch_version() { return "none"; }

std::unique_ptr<Learner> make_learner(const LearnerOptions& /*options*/) {
  raise({.code = &kTrainLibrary, .promised = "libtorch", .found = "a build without it"});
}

}  // namespace stoker::train
