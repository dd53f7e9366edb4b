// A batch on a GPU in the consumer's hands: whose stream may read it, and when its memory may be
// used again.
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "stoker/feed/device_ring.h"

namespace stoker::feed {

// Movable between threads. Destroying it without release() gives the slot back after the work that
// the stream of wait() has got so far.
class DeviceLease {
 public:
  DeviceLease() = default;
  DeviceLease(std::shared_ptr<DeviceRing> ring, std::uint32_t slot)
      : ring_(std::move(ring)), slot_(slot) {}
  DeviceLease(DeviceLease&& other) noexcept
      : ring_(std::move(other.ring_)), slot_(other.slot_), reader_(other.reader_) {}
  DeviceLease& operator=(DeviceLease&& other) noexcept {
    std::swap(ring_, other.ring_);
    std::swap(slot_, other.slot_);
    std::swap(reader_, other.reader_);
    return *this;
  }
  ~DeviceLease() {
    if (ring_ != nullptr) give_back(reader_);
  }

  explicit operator bool() const { return ring_ != nullptr; }
  DeviceRing& ring() const { return *ring_; }
  DeviceSlot& slot() const { return ring_->slot(slot_); }

  // What `stream` gets from now on sees the whole batch.
  void wait(cuda::StreamView stream) {
    slot().ready.hold_back(stream);
    reader_ = stream;
  }
  // The memory may be used again once `stream` has done what it has got so far.
  void release(cuda::StreamView stream) { give_back(stream); }

 private:
  // A GPU that fails here fails the next call of the feed too: nothing is lost by keeping silent.
  void give_back(std::optional<cuda::StreamView> stream) noexcept {
    const std::shared_ptr<DeviceRing> ring = std::exchange(ring_, nullptr);
    try {
      ring->give_back(slot_, stream);
    } catch (const Failure& failure) {
      ring->fail(failure.error());
    }
  }

  std::shared_ptr<DeviceRing> ring_;
  std::uint32_t slot_ = 0;
  std::optional<cuda::StreamView> reader_;
};

}  // namespace stoker::feed
