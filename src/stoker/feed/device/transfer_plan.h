// From the settings of a run to the way its batches take onto a GPU.
#pragma once

#include <memory>
#include <string>

#include "stoker/feed/device/gpu_mode.h"
#include "stoker/feed/device/mel_route.h"
#include "stoker/feed/device/setup.h"

namespace stoker::feed {

struct TransferPlan {
  std::shared_ptr<DeviceSetup> setup;  // null: batches stay in host memory
  MelRoute mel;
  std::string text;  // "mel on GPU 0 from PCM16", for the mode's lines
};

struct TransferRequest {
  MelRouteRequest mel;
  const ModeChoice& choice;
  std::shared_ptr<Fallbacks> fallbacks;
};

// A GPU that cannot make mels leaves them to the CPU, and rows that do not fit its memory stay
// where they are; both as fallbacks. Throws GpuError.
TransferPlan choose_device_way(const TransferRequest& request);

}  // namespace stoker::feed
