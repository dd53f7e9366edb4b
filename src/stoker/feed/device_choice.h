// From the settings of a run to the way its batches take onto a GPU.
#pragma once

#include <memory>
#include <string>

#include "stoker/feed/device_setup.h"
#include "stoker/feed/gpu_mode.h"
#include "stoker/feed/mel_place.h"

namespace stoker::feed {

struct DeviceWay {
  std::shared_ptr<DeviceSetup> setup;  // null: batches stay in host memory
  MelPlace mel;
  std::string text;  // "mel on GPU 0 from PCM16", for the mode's lines
};

struct DeviceWayRequest {
  MelPlaceRequest mel;
  const ModeChoice& choice;
  std::shared_ptr<Fallbacks> fallbacks;
};

// A GPU that cannot make mels leaves them to the CPU, and rows that do not fit its memory stay
// where they are; both as fallbacks. Throws GpuError.
DeviceWay choose_device_way(const DeviceWayRequest& request);

}  // namespace stoker::feed
