// Uploads one batch after the other: memory, streams and kernels, all made once.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "stoker/feed/assembly/resident_utterances.h"
#include "stoker/feed/device/augment.h"
#include "stoker/feed/device/ring.h"
#include "stoker/feed/device/setup.h"
#include "stoker/feed/device/upload_timer.h"

namespace stoker::feed {

// What the feed takes on the data device, in bytes.
struct DeviceBudget {
  std::uint64_t slot_bytes = 0;   // a batch of the ring
  std::uint64_t fixed_bytes = 0;  // staging, scratch, resident rows
  unsigned num_slots = 0;         // of the ring, within the bound
  unsigned most_slots = 0;        // what it may grow to
  std::uint64_t allowed_bytes = 0;
  std::uint64_t total_bytes() const { return fixed_bytes + num_slots * slot_bytes; }
  std::uint64_t most_bytes() const { return fixed_bytes + most_slots * slot_bytes; }
};

// What the upload thread spent its time on. A new time is a member, a line of
// kUploadTimeFields, and a line where the thread measures it: reports use the list.
struct UploadStats {
  std::uint64_t num_moved = 0;  // batches
  double launch_s = 0;          // in calls that start copies and kernels
  double copy_wait_s = 0;       // until a copy was done, so that workers get its memory back
};

struct UploadTimeField {
  double UploadStats::*member;
  std::string_view share_key;  // of its share of the thread's time, in the JSON of `bench feed`
};
inline constexpr std::array kUploadTimeFields{
    UploadTimeField{&UploadStats::copy_wait_s, "waits_for_copy"},
    UploadTimeField{&UploadStats::launch_s, "launches"},
};
static_assert(sizeof(UploadStats) ==
                  sizeof(std::uint64_t) + kUploadTimeFields.size() * sizeof(double),
              "every time of UploadStats has a line in kUploadTimeFields");

// Throws GpuError E-CUDA-MEMORY, with the sizes, when not even two batches fit.
DeviceBudget plan_device_memory(const BatchFormat& format, const DeviceSetup& setup,
                                std::size_t mel_scratch_bytes);

// One thread calls enqueue(). Nothing is allocated after construction.
//
// Order on the device: the copy stream waits until the consumer and the slot's last kernels are
// done with the slot, and kernels with the staging memory; the kernels wait for the copy; the
// consumer's streams wait for the kernels.
class DeviceUploader {
 public:
  // With less memory than planned the ring becomes shorter, as a fallback. Throws GpuError.
  DeviceUploader(std::shared_ptr<const BatchFormat> format, const DeviceSetup& setup,
                 std::size_t num_utterances);
  ~DeviceUploader();

  const std::shared_ptr<DeviceRing>& ring() const { return ring_; }
  const std::shared_ptr<ResidentUtterances>& resident() const { return resident_; }
  DeviceBudget budget() const;
  // With batches of another format. Throws GpuError where they do not fit into what is allowed.
  DeviceBudget budget_with(const BatchFormat& format) const;
  // Lengthens the ring as far as the memory allowed goes; a GPU that has not as much left is a
  // fallback. For the thread that tunes the feed.
  void grow_ring(unsigned num_slots);
  cuda::StreamView compute_stream() const { return compute_; }

  // Asynchronous. `from` may be written again once `copied` is done; its small arrays and those of
  // to.host are swapped. `timed` is for the GPU's own times; null: none.
  void enqueue(BatchSlot& from, DeviceSlot& to, cuda::Event& copied, UploadMarks* timed = nullptr);

  // Until it returns host memory may still be read; never throws.
  void finish_copies() const noexcept { copy_.synchronize_quietly(); }

  // Takes back what is ready but was never asked for, before the feed seeks.
  void forget_ready();

 private:
  struct Staging {
    std::byte* memory = nullptr;
    cuda::Event used;  // kernels have read it
  };

  void allocate(const DeviceSetup& setup);
  std::size_t scratch_bytes_of(const BatchFormat& format) const;
  std::byte* payload_target(const BatchSlot& from, DeviceSlot& to);
  // Whether the block and the mel behind it are one copy.
  bool is_one_piece(const BatchSlot& from, const DeviceSlot& to) const;
  // Copies write every row where the batch has it; the kernel fills only the padding.
  bool lays_out_by_copies() const {
    return format_->payload == SlotPayload::kRaggedMel && pool_ == nullptr;
  }
  void list_copies(const UploadBlock& block, const BatchSlot& from, DeviceSlot& to);
  void list_rows(const BatchSlot& from, const DeviceSlot& to, std::byte* target);
  void drop_known_rows(BatchSlot& from) const;
  void set_begins(BatchSlot& from, const UploadBlock& block);
  void run_kernels(const UploadBlock& block, const BatchSlot& from, DeviceSlot& to);
  void make_mel(const UploadBlock& block, const BatchSlot& from, DeviceSlot& to);
  GatherBatch gather_batch(const UploadBlock& block, const DeviceSlot& to) const;

  std::shared_ptr<const BatchFormat> format_;
  DeviceSetup setup_;
  std::unique_ptr<DeviceKernels> kernels_;
  DeviceBudget budget_;
  cuda::Stream copy_;
  cuda::Stream compute_;
  cuda::DeviceBuffer memory_;  // staging, scratch and resident rows
  std::vector<Staging> staging_;
  std::size_t next_staging_ = 0;
  std::vector<cuda::CopyRequest> copies_;  // of the batch in work
  std::byte* rows_ = nullptr;              // what begins of the batch in work count from
  std::byte* made_mel_ = nullptr;
  std::byte* mel_scratch_ = nullptr;
  std::unique_ptr<DeviceAugment> augment_;  // null: samples stay as they are
  std::byte* pool_ = nullptr;
  std::size_t pool_used_bytes_ = 0;
  std::shared_ptr<ResidentUtterances> resident_;
  std::shared_ptr<DeviceRing> ring_;
};

}  // namespace stoker::feed
