// A batch on a GPU that the consumer holds: which streams may read it, and when its memory may be
// used again.
#pragma once

#include <memory>
#include <new>
#include <utility>

#include "stoker/feed/device/ring.h"
#include "stoker/pipeline/errors.h"

namespace stoker::feed {

// Movable between threads. Destroying it gives the slot back after the work that every stream of
// wait() has been given so far; these must still exist.
class DeviceLease {
 public:
  DeviceLease() = default;
  DeviceLease(std::shared_ptr<DeviceRing> ring, std::uint32_t slot)
      : ring_(std::move(ring)), slot_(slot) {}
  DeviceLease(DeviceLease&& other) noexcept
      : ring_(std::move(other.ring_)),
        slot_(other.slot_),
        is_owner_(other.is_owner_),
        readers_(std::move(other.readers_)),
        waiting_(std::move(other.waiting_)) {}
  DeviceLease& operator=(DeviceLease&& other) noexcept {
    std::swap(ring_, other.ring_);
    std::swap(slot_, other.slot_);
    std::swap(is_owner_, other.is_owner_);
    std::swap(readers_, other.readers_);
    std::swap(waiting_, other.waiting_);
    return *this;
  }
  ~DeviceLease() {
    if (ring_ != nullptr) give_back();
  }

  // Reads the same slot and never gives it back: this one must stay until those reads are over.
  DeviceLease borrow() const {
    DeviceLease borrowed(ring_, slot_);
    borrowed.is_owner_ = false;
    return borrowed;
  }

  explicit operator bool() const { return ring_ != nullptr; }
  DeviceRing& ring() const { return *ring_; }
  DeviceSlot& slot() const { return ring_->slot(slot_); }

  // What `stream` is given from now on sees the whole batch.
  void wait(cuda::StreamView stream) {
    if (waiting_.add(stream)) slot().ready.hold_back(stream);
    readers_.add(stream);
  }
  void add_reader(cuda::StreamView stream) { readers_.add(stream); }
  // The memory may be used again once `stream`, and every stream of wait(), has done what it has
  // been given so far.
  void release(cuda::StreamView stream) {
    readers_.add(stream);
    give_back();
  }

 private:
  // Called by the destructor: a GPU that fails here ends the ring, and the next call of the feed
  // throws why.
  void give_back() noexcept {
    const std::shared_ptr<DeviceRing> ring = std::exchange(ring_, nullptr);
    if (!is_owner_) return;
    try {
      ring->give_back(slot_, readers_);
    } catch (const Failure& failure) {
      ring->fail(failure.error());
    } catch (const std::bad_alloc&) {
      ring->fail({.code = &pipeline::kPipeMemory});
    }
  }

  std::shared_ptr<DeviceRing> ring_;
  std::uint32_t slot_ = 0;
  bool is_owner_ = true;
  ReadingStreams readers_;
  ReadingStreams waiting_;  // those that were held back: once is enough
};

}  // namespace stoker::feed
