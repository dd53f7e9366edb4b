// How a feed uploads its batches: to which GPU, how many ahead, from what.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "stoker/cuda/device_api.h"
#include "stoker/feed/assembly/slot_memory.h"
#include "stoker/feed/device/kernels.h"
#include "stoker/feed/fallbacks.h"
#include "stoker/feed/source/augmentation.h"

namespace stoker::feed {

struct LockedCache;  // the mapped cache, page-locked while this lives

enum class DeviceTier { kStreamed, kResident };
enum class DeviceAhead { kFilled, kOnDemand };
enum class PeerLink { kPeer, kStaged };

struct DeviceSetup {
  cuda::DeviceApi* api = &cuda::system_device_api();
  int data_device = 0;
  std::optional<int> model_device{};  // where batches are delivered: the two-device path
  PeerLink link = PeerLink::kPeer;
  unsigned buffer_size = 50;       // batches ready on the data device
  std::string buffer_reason{};     // why so many, where no setting says
  bool is_buffer_tuned = false;    // the tuner may lengthen it, within memory_bytes
  std::uint64_t memory_bytes = 0;  // bound of everything taken there
  HostMemory host_memory = HostMemory::kPinned;
  DeviceAhead ahead = DeviceAhead::kFilled;
  SlotPayload payload = SlotPayload::kPaddedMel;
  std::shared_ptr<const LockedCache> locked_cache{};     // rows are copied from it; may be null
  config::MelDtype made_dtype = config::MelDtype::kF16;  // of mels made on the GPU, then converted
  std::uint32_t max_extra_samples = 0;
  DeviceTier tier = DeviceTier::kStreamed;
  std::uint64_t pool_bytes = 0;  // what all utterances take, for the resident tier
  std::function<std::unique_ptr<DeviceKernels>()> make_kernels{};  // null: none are needed
  std::shared_ptr<const Augmentation> augmentation{};              // of samples on the GPU
  std::shared_ptr<Fallbacks> fallbacks{};
};

}  // namespace stoker::feed
