// What device `auto` means to a command that runs a feed: the first GPU there is, else the CPU.
#pragma once

#include "stoker/config/settings.h"
#include "stoker/feed/device/gpu_mode.h"

namespace stoker::feed {

// Where mels are made once `auto` found a GPU and no setting says where.
enum class AutoMel {
  kMeasured,  // whichever place is faster
  kHost,      // not on the GPU: digests are the same with and without one
};

// The settings with the device that `auto` stands for. They stay as they are where a device,
// data_gpu or model_gpu is named and where there is no GPU. `devices` of null: asks the driver.
config::Settings resolve_auto_device(config::Settings settings, AutoMel mel,
                                     const DeviceView* devices = nullptr);

}  // namespace stoker::feed
