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
      block_bytes_(UploadBlock::room_bytes(format)),
      mel_bytes_(round_up(block_bytes_ + format.payload_bytes(), kPageBytes) - block_bytes_),
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
  std::byte* const block = begin() + slot * (block_bytes_ + mel_bytes_ + extras_bytes_);
  std::byte* const mel = block + block_bytes_;
  return {{mel, mel_bytes_}, {block, block_bytes_}, {mel + mel_bytes_, extras_bytes_}};
}

}  // namespace stoker::feed
