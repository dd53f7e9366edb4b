#include "stoker/feed/assembly/slot_memory.h"

#include "stoker/base/checked.h"
#include "stoker/feed/device/pack.h"

namespace stoker::feed {
namespace {

constexpr std::size_t kPageBytes = 4096;

}  // namespace

SlotMemory::SlotMemory(const BatchFormat& format, const SlotMemoryOptions& options,
                       Fallbacks& fallbacks)
    : num_slots_(options.num_slots),
      mel_bytes_(round_up(format.payload_bytes(), kPageBytes)),
      pack_bytes_(round_up(DevicePack::most_bytes(format), kPageBytes)),
      kind_(options.kind) {
  if (kind_ == HostMemory::kPinned) {
    try {
      pinned_ = cuda::PinnedBuffer(size_bytes(), *options.api);
      return;
    } catch (const GpuError& failure) {
      if (!fallbacks.are_allowed()) throw;
      fallbacks.take({"pinned", "pageable", std::string(failure.error().code->name)},
                     error_line(failure.error()) + "; batches are copied from ordinary memory");
      kind_ = HostMemory::kPageable;
    }
  }
  plain_ = AlignedBytes(size_bytes());
}

BatchSlot::Memory SlotMemory::of(std::uint32_t slot) const {
  std::byte* const first = begin() + slot * (mel_bytes_ + pack_bytes_);
  return {{first, mel_bytes_}, {first + mel_bytes_, pack_bytes_}};
}

}  // namespace stoker::feed
