// From the settings of a run to how its batches reach a GPU, or why they do not.
#pragma once

#include <memory>
#include <string>

#include "stoker/feed/device/gpu_mode.h"
#include "stoker/feed/device/mel_route.h"
#include "stoker/feed/device/setup.h"

namespace stoker::feed {

struct TransferPlan {
  DeviceView view;                                // empty where no GPU was asked for
  ModeChoice choice;                              // of the mode
  std::shared_ptr<Fallbacks> fallbacks{};         // of the choice; null where no GPU was asked for
  std::shared_ptr<const DeviceSetup> setup = {};  // null: batches stay in host memory
  MelRoute mel = {};
  std::string text = {};  // "mel on GPU 0 from PCM16", for the mode's lines
};

struct TransferRequest {
  const config::Settings& settings;  // with automatic values (from_settings.h)
  const DataSetSource& store;
  const DeviceView* devices = nullptr;  // null: asks the driver, if a GPU may be used at all
  unsigned num_workers = 1;
  std::string saved_path = {};  // numeric path of a state to go on from; empty: a new run
};

// A GPU that cannot make mels leaves them to the CPU, and utterances that do not fit its memory are
// copied for every batch; both as fallbacks. Throws GpuError.
TransferPlan plan_transfer(const TransferRequest& request);

}  // namespace stoker::feed
