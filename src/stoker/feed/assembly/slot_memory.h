// The host memory of all slots as one page-locked allocation, so that copies to the GPU run at the
// bus's speed.
#pragma once

#include <cstddef>
#include <cstdint>

#include "stoker/cuda/pinned_buffer.h"
#include "stoker/feed/assembly/batch_slot.h"
#include "stoker/feed/fallbacks.h"

namespace stoker::feed {

enum class HostMemory { kPinned, kPageable };

struct SlotMemoryOptions {
  unsigned num_slots = 0;
  HostMemory kind = HostMemory::kPinned;
  cuda::DeviceApi* api = nullptr;
};

// Immutable; each slot's memory is disjoint.
class SlotMemory {
 public:
  // Ordinary memory, as a fallback, where the system gives no page-locked memory; throws GpuError
  // where fallbacks are refused.
  SlotMemory(const BatchFormat& format, const SlotMemoryOptions& options, Fallbacks& fallbacks);

  BatchSlot::Memory of(std::uint32_t slot) const;
  HostMemory kind() const { return kind_; }
  std::size_t size_bytes() const {
    return num_slots_ * (mel_bytes_ + block_bytes_ + extras_bytes_);
  }

 private:
  std::byte* begin() const { return kind_ == HostMemory::kPinned ? pinned_.data() : plain_.data(); }

  std::size_t num_slots_;
  std::size_t block_bytes_;
  std::size_t mel_bytes_;
  std::size_t extras_bytes_;
  HostMemory kind_;
  cuda::PinnedBuffer pinned_;
  AlignedBytes plain_;
};

}  // namespace stoker::feed
