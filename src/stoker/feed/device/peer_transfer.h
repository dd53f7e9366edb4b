// Copies batches from the GPU that makes features to the GPU that trains: the second half of the
// two-device path.
#pragma once

#include <chrono>
#include <memory>
#include <stop_token>

#include "stoker/cuda/pinned_buffer.h"
#include "stoker/feed/device/lease.h"
#include "stoker/feed/device/setup.h"

namespace stoker::feed {

// One consumer thread. Batches wait in the data device's ring; here one is copied ahead of the one
// that the model works on.
class PeerTransfer {
 public:
  static constexpr unsigned kNumSlots = 3;  // one with the consumer, one in flight, one free

  struct Wait {
    std::stop_token stop;
    std::chrono::nanoseconds patience{};
    const WaitPause* pause = nullptr;
  };

  // Throws GpuError.
  PeerTransfer(const BatchFormat& format, const DeviceSetup& setup);
  ~PeerTransfer();

  // Throws E-PIPE-LEASES when the consumer holds every batch for longer than the patience; a batch
  // in flight is then delivered by the next call.
  DeviceLease next(const std::shared_ptr<DeviceRing>& from, const Wait& wait);

 private:
  DeviceLease send(DeviceLease from);
  void copy(const DeviceSlot& from, const DeviceSlot& to);
  void copy_part(std::byte* to, const std::byte* from, std::size_t size_bytes);

  BatchFormat format_;
  DeviceSetup setup_;
  std::shared_ptr<DeviceRing> ring_;  // on the model's device
  cuda::Stream out_;                  // on the data device
  cuda::Stream in_;                   // on the model's device
  cuda::Event sent_;
  cuda::PinnedBuffer staged_;  // without a peer link: through host memory
  std::size_t staged_at_bytes_ = 0;
  cuda::Event arrived_;
  DeviceLease ahead_;  // empty: none
};

}  // namespace stoker::feed
