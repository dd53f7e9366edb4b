#include "stoker/feed/assembly/slot_memory.h"

#include "stoker/base/checked.h"
#include "stoker/feed/assembly/upload_block.h"

namespace stoker::feed {
namespace {

constexpr std::size_t kPageBytes = 4096;

}  // namespace

SlotMemory::SlotMemory(const BatchFormat& format, const SlotMemoryOptions& options,
                       Fallbacks& fallbacks)
    : num_slots_(options.num_slots),
      mel_bytes_(round_up(format.payload_bytes(), kPageBytes)),
      block_bytes_(round_up(UploadBlock::most_bytes(format), kPageBytes)),
      extras_bytes_(round_up(ExtrasBlock::most(format).size_bytes, kPageBytes)),
      kind_(options.kind) {
  if (kind_ == HostMemory::kPinned) {
    try {
      pinned_ = cuda::PinnedBuffer(size_bytes(), *options.api);
      return;
    } catch (const GpuError& failure) {
      fallbacks.take_or_raise({"pinned", "pageable", {}}, failure.error(),
                              "batches are copied from ordinary memory");
      kind_ = HostMemory::kPageable;
    }
  }
  plain_ = AlignedBytes(size_bytes());
}

BatchSlot::Memory SlotMemory::of(std::uint32_t slot) const {
  std::byte* const first = begin() + slot * (mel_bytes_ + block_bytes_ + extras_bytes_);
  std::byte* const block = first + mel_bytes_;
  return {{first, mel_bytes_}, {block, block_bytes_}, {block + block_bytes_, extras_bytes_}};
}

}  // namespace stoker::feed
