// What the trainer's library says to its loader: which libtorch it was built with.
#include <torch/version.h>

extern "C" __attribute__((visibility("default"))) const char* stoker_train_torch_version();

const char* stoker_train_torch_version() { return TORCH_VERSION; }
