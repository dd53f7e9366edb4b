#include "stoker/feed/device/uploader.h"

#include <algorithm>
#include <utility>

#include "stoker/base/invariant.h"
#include "stoker/base/number_text.h"
#include "stoker/cuda/errors.h"
#include "stoker/feed/device/kernels.h"

namespace stoker::feed {
namespace {

// One is being copied into, one is read by kernels, one waits between them.
constexpr std::size_t kNumStaging = 3;
constexpr unsigned kFewestSlots = 2;
constexpr std::uint64_t kMostTunedSlots = 4096;

// A batch's mel as [rows, longest, mels] before it is laid out: where that is not the batch itself.
std::size_t made_mel_bytes(const BatchFormat& format, const DeviceSetup& setup) {
  if (format.payload != SlotPayload::kRaggedPcm) return 0;
  const bool is_direct = format.layout == BatchLayout::kPadded && format.dtype == setup.made_dtype;
  if (is_direct) return 0;
  const std::size_t frames = format.layout == BatchLayout::kPadded
                                 ? format.max_mel_frames
                                 : format.max_rows * format.max_row_frames;
  return frames * format.num_mels * config::bytes_per_value(setup.made_dtype);
}

std::size_t augment_bytes(const BatchFormat& format, const DeviceSetup& setup) {
  return setup.augmentation ? DeviceAugment::needed_bytes(format, *setup.augmentation) : 0;
}

bool needs_staging(const BatchFormat& format, const DeviceSetup& setup) {
  return format.payload == SlotPayload::kRaggedPcm && setup.tier == DeviceTier::kStreamed;
}

void swap_small(BatchSlot& a, BatchSlot& b) {
  b.epoch = a.epoch;
  b.index = a.index;
  b.is_last = a.is_last;
  b.shape = a.shape;
  b.global_shape = a.global_shape;
  b.num_rows = a.num_rows;
  b.counts = a.counts;
  std::swap(a.utterances, b.utterances);
  std::swap(a.global_utterances, b.global_utterances);
  std::swap(a.text_len, b.text_len);
  std::swap(a.mel_len, b.mel_len);
  std::swap(a.speaker, b.speaker);
  std::swap(a.language, b.language);
  std::swap(a.frame_begins, b.frame_begins);
  std::swap(a.token_begins, b.token_begins);
  std::swap(a.tokens, b.tokens);
  std::swap(a.extra_places, b.extra_places);
  std::swap(a.audio_len, b.audio_len);
  std::swap(a.reference_len, b.reference_len);
  std::swap(a.array_len, b.array_len);
}

}  // namespace

DeviceBudget plan_device_memory(const BatchFormat& format, const DeviceSetup& setup,
                                std::size_t mel_scratch_bytes) {
  DeviceBudget budget{.slot_bytes = DeviceRing::slot_bytes(format),
                      .allowed_bytes = setup.memory_bytes};
  budget.fixed_bytes =
      aligned_part_bytes(made_mel_bytes(format, setup)) + aligned_part_bytes(mel_scratch_bytes) +
      aligned_part_bytes(augment_bytes(format, setup)) +
      (setup.tier == DeviceTier::kResident ? aligned_part_bytes(setup.pool_bytes) : 0) +
      (needs_staging(format, setup) ? kNumStaging * aligned_part_bytes(format.payload_bytes()) : 0);
  const std::uint64_t left = setup.memory_bytes - std::min(setup.memory_bytes, budget.fixed_bytes);
  const std::uint64_t slots =
      std::min<std::uint64_t>(left / budget.slot_bytes, std::max(setup.buffer_size, kFewestSlots));
  budget.num_slots = static_cast<unsigned>(slots);
  budget.most_slots = budget.num_slots;
  if (setup.is_buffer_tuned) {
    budget.most_slots = static_cast<unsigned>(
        std::clamp<std::uint64_t>(left / budget.slot_bytes, budget.num_slots, kMostTunedSlots));
  }
  if (budget.num_slots < kFewestSlots) {
    budget.num_slots = kFewestSlots;
    raise({.code = &cuda::kCudaMemory,
           .promised = bytes_text(budget.total_bytes()) + " on GPU " +
                       std::to_string(setup.data_device) + " for " + std::to_string(kFewestSlots) +
                       " batches of " + bytes_text(budget.slot_bytes) + " and " +
                       bytes_text(budget.fixed_bytes) + " of work memory",
           .found = "data_gpu_memory of " + bytes_text(setup.memory_bytes)});
  }
  return budget;
}

DeviceUploader::DeviceUploader(std::shared_ptr<const BatchFormat> format, const DeviceSetup& setup,
                               std::size_t num_utterances)
    : format_(std::move(format)),
      setup_(setup),
      kernels_(setup.make_kernels ? setup.make_kernels() : nullptr),
      copy_(setup.data_device, cuda::StreamPriority::kLow, *setup.api),
      compute_(setup.data_device, cuda::StreamPriority::kLow, *setup.api) {
  copies_.reserve(format_->max_rows + 3);
  if (setup.tier == DeviceTier::kResident)
    resident_ = std::make_shared<ResidentUtterances>(num_utterances);
  allocate(setup);
}

DeviceUploader::~DeviceUploader() {
  copy_.synchronize_quietly();
  compute_.synchronize_quietly();
}

std::size_t DeviceUploader::scratch_bytes_of(const BatchFormat& format) const {
  const bool makes_mel = format.payload == SlotPayload::kRaggedPcm;
  return makes_mel ? kernels_->mel_scratch_bytes(format.max_rows, format.max_row_frames) : 0;
}

DeviceBudget DeviceUploader::budget_with(const BatchFormat& format) const {
  return plan_device_memory(format, setup_, scratch_bytes_of(format));
}

void DeviceUploader::allocate(const DeviceSetup& setup) {
  budget_ = budget_with(*format_);
  memory_ = cuda::DeviceBuffer(setup.data_device, budget_.fixed_bytes, *setup.api);
  std::byte* at = memory_.data();
  const auto take = [&at](std::size_t size_bytes) {
    return std::exchange(at, at + aligned_part_bytes(size_bytes));
  };
  made_mel_ = take(made_mel_bytes(*format_, setup));
  mel_scratch_ = take(scratch_bytes_of(*format_));
  if (setup.augmentation != nullptr) {
    augment_ = std::make_unique<DeviceAugment>(
        DeviceAugment::Parts{.format = *format_,
                             .augmentation = *setup_.augmentation,
                             .kernels = *kernels_,
                             .api = *setup.api,
                             .memory = take(augment_bytes(*format_, setup))},
        copy_);
  }
  if (setup.tier == DeviceTier::kResident) pool_ = take(setup.pool_bytes);
  for (std::size_t i = 0; needs_staging(*format_, setup) && i < kNumStaging; ++i) {
    staging_.push_back(
        {.memory = take(format_->payload_bytes()),
         .used = cuda::Event(setup.data_device, cuda::EventUse::kOrder, *setup.api)});
  }
  for (;;) {
    try {
      ring_ = std::make_shared<DeviceRing>(*format_, RingOptions{.api = setup.api,
                                                                 .device = setup.data_device,
                                                                 .num_slots = budget_.num_slots,
                                                                 .most_slots = budget_.most_slots});
      return;
    } catch (const GpuError& failure) {
      if (failure.error().code != &cuda::kCudaMemory || budget_.num_slots == kFewestSlots) throw;
      const unsigned fewer = std::max(kFewestSlots, budget_.num_slots / 2);
      setup.fallbacks->take_or_raise({"buffer_size", "shorter", {}}, failure.error(),
                                     "trying a buffer of " + std::to_string(fewer) + " batches");
      budget_.num_slots = fewer;
      budget_.most_slots = fewer;
    }
  }
}

DeviceBudget DeviceUploader::budget() const {
  DeviceBudget now = budget_;
  now.num_slots = ring_->stats().num_slots;
  return now;
}

void DeviceUploader::grow_ring(unsigned num_slots) {
  if (num_slots <= ring_->stats().num_slots) return;
  try {
    setup_.api->enter_thread(setup_.data_device);
    ring_->grow(num_slots);
  } catch (const GpuError& failure) {
    if (failure.error().code != &cuda::kCudaMemory) throw;
    setup_.fallbacks->take(
        {"longer buffer", "buffer as it is", std::string(failure.error().code->name)},
        error_line(failure.error()) + "; the buffer stays as long as it is");
  }
}

void DeviceUploader::enqueue(BatchSlot& from, DeviceSlot& to, cuda::Event& copied,
                             UploadMarks* timed) {
  const UploadBlock block(from);
  to.hold_back_writer(copy_, format_->payload == SlotPayload::kPaddedMel
                                 ? DeviceSlot::LastWriter::kSameStream
                                 : DeviceSlot::LastWriter::kOtherStream);
  if (resident_ != nullptr) drop_known_rows(from);
  if (format_->payload == SlotPayload::kPaddedMel) {
    from.payload_used_bytes =
        std::size_t{from.shape.num_rows} * from.shape.num_frames * format_->bytes_per_frame();
  }
  list_copies(block, from, to);
  if (resident_ != nullptr) set_begins(from, block);
  const cuda::StreamHandle copies = copy_.view().handle();
  if (timed != nullptr) timed->copy_begin.record(copy_);
  if (copies_.size() > 2) {
    setup_.api->copy_all(copies_, copies);
  } else {
    for (const cuda::CopyRequest& request : copies_) setup_.api->copy(request, copies);
  }
  copied.record(copy_);
  if (timed != nullptr) timed->copy_end.record(copy_);
  if (format_->payload == SlotPayload::kPaddedMel) {
    to.ready.record(copy_);
  } else {
    copied.hold_back(compute_);
    if (timed != nullptr) timed->kernel_begin.record(compute_);
    run_kernels(block, from, to);
    to.ready.record(compute_);
    if (timed != nullptr) timed->kernel_end.record(compute_);
    if (timed != nullptr) timed->has_kernels = true;
  }
  swap_small(from, to.host);
}

// The small arrays and what is optional first, then the rows: as one copy, or one by one where they
// are not consecutive.
void DeviceUploader::list_copies(const UploadBlock& block, const BatchSlot& from, DeviceSlot& to) {
  copies_.clear();
  const bool with_mel = is_one_piece(from, to);
  const std::size_t block_bytes =
      with_mel ? UploadBlock::room_bytes(*format_) + from.payload_used_bytes : block.size_bytes;
  copies_.push_back({.to = to.block, .from = from.block.data(), .size_bytes = block_bytes});
  if (const std::size_t delivered_bytes = from.extra_places.delivered_bytes; delivered_bytes > 0) {
    copies_.push_back({.to = to.extras, .from = from.extras.data(), .size_bytes = delivered_bytes});
  }
  std::byte* const target = payload_target(from, to);
  if (with_mel || from.payload_used_bytes == 0) return;
  const bool is_ragged = format_->payload != SlotPayload::kPaddedMel;
  if (lays_out_by_copies() || (is_ragged && from.num_in_place > 0)) {
    list_rows(from, to, target);
  } else {
    copies_.push_back(
        {.to = target, .from = from.mel.data(), .size_bytes = from.payload_used_bytes});
  }
}

bool DeviceUploader::is_one_piece(const BatchSlot& from, const DeviceSlot& to) const {
  return format_->payload == SlotPayload::kPaddedMel &&
         from.mel.data() - from.block.data() == to.mel - to.block;
}

void DeviceUploader::list_rows(const BatchSlot& from, const DeviceSlot& to, std::byte* target) {
  const bool is_pcm = format_->payload == SlotPayload::kRaggedPcm;
  const std::size_t unit_bytes = is_pcm ? sizeof(std::int16_t) : format_->bytes_per_frame();
  for (std::size_t at = 0; at < from.num_rows; ++at) {
    if (from.payload_len[at] == 0 || from.payload_begins[at] == BatchSlot::kOnDevice) continue;
    std::byte* const row =
        lays_out_by_copies()
            ? to.mel + from.frame_begins[at] * unit_bytes
            : target + static_cast<std::size_t>(from.payload_begins[at]) * unit_bytes;
    copies_.push_back({.to = row,
                       .from = from.payload_from[at],
                       .size_bytes = static_cast<std::size_t>(from.payload_len[at]) * unit_bytes});
  }
}

std::byte* DeviceUploader::payload_target(const BatchSlot& from, DeviceSlot& to) {
  if (format_->payload == SlotPayload::kPaddedMel) return to.mel;
  if (lays_out_by_copies()) {
    rows_ = nullptr;
    return nullptr;
  }
  if (pool_ != nullptr) {
    rows_ = pool_;
    check_invariant(pool_used_bytes_ + from.payload_used_bytes <= setup_.pool_bytes,
                    "the resident rows fit their memory");
    return pool_ + std::exchange(pool_used_bytes_, pool_used_bytes_ + from.payload_used_bytes);
  }
  Staging& staging = staging_[next_staging_];
  staging.used.hold_back(copy_);
  rows_ = staging.memory;
  return staging.memory;
}

// Two workers may have read the same utterances before either batch was uploaded; the second need
// not be copied.
void DeviceUploader::drop_known_rows(BatchSlot& from) const {
  for (std::size_t at = 0; at < from.num_rows; ++at) {
    if (from.payload_len[at] > 0 && !resident_->is_here(from.utterances[at])) return;
  }
  for (std::size_t at = 0; at < from.num_rows; ++at) {
    if (from.payload_len[at] > 0) from.payload_begins[at] = BatchSlot::kOnDevice;
  }
  from.payload_used_bytes = 0;
}

// Kernels read utterances from the pool: those of this batch, and those of earlier ones.
void DeviceUploader::set_begins(BatchSlot& from, const UploadBlock& block) {
  const bool is_pcm = format_->payload == SlotPayload::kRaggedPcm;
  const std::size_t unit_bytes = is_pcm ? sizeof(std::int16_t) : format_->bytes_per_frame();
  const auto first =
      static_cast<std::int64_t>((pool_used_bytes_ - from.payload_used_bytes) / unit_bytes);
  auto* const begins = reinterpret_cast<std::int64_t*>(from.block.data() + block.begins);
  auto* const lengths = reinterpret_cast<std::int32_t*>(from.block.data() + block.lengths);
  for (std::size_t at = 0; at < from.num_rows; ++at) {
    if (from.payload_begins[at] == BatchSlot::kOnDevice) {
      const ResidentUtterances::Place place = resident_->place(from.utterances[at]);
      begins[at] = place.begin;
      lengths[at] = place.length;
      continue;
    }
    if (from.payload_len[at] == 0) continue;
    begins[at] = first + from.payload_begins[at];
    if (!resident_->is_here(from.utterances[at])) {
      resident_->put(from.utterances[at], {begins[at], from.payload_len[at]});
    }
  }
}

void DeviceUploader::run_kernels(const UploadBlock& block, const BatchSlot& from, DeviceSlot& to) {
  if (format_->payload == SlotPayload::kRaggedPcm) {
    make_mel(block, from, to);
  } else {
    kernels_->gather(gather_batch(block, to), compute_);
  }
  if (staging_.empty()) return;
  staging_[next_staging_].used.record(compute_);
  next_staging_ = (next_staging_ + 1) % staging_.size();
}

void DeviceUploader::make_mel(const UploadBlock& block, const BatchSlot& from, DeviceSlot& to) {
  if (augment_ != nullptr) augment_->run({block, to.block, rows_, from.epoch}, compute_);
  const bool is_direct = made_mel_bytes(*format_, setup_) == 0;
  const std::size_t frames =
      is_direct ? from.shape.num_frames : std::max<std::size_t>(1, block.made_frames);
  const std::size_t begins = augment_ != nullptr ? block.changed_begins : block.begins;
  kernels_->make_mel({.samples = augment_ != nullptr ? augment_->out() : rows_,
                      .begins = reinterpret_cast<const std::int64_t*>(to.block + begins),
                      .lengths = reinterpret_cast<const std::int32_t*>(to.block + block.lengths),
                      .num_utterances = static_cast<int>(block.num_rows),
                      .padded_frames = static_cast<int>(frames),
                      .mel = is_direct ? to.mel : made_mel_,
                      .scratch = mel_scratch_},
                     compute_);
  if (is_direct) return;
  GatherBatch gather = gather_batch(block, to);
  gather.rows = made_mel_;
  gather.from = setup_.made_dtype;
  gather.begins = reinterpret_cast<const std::int64_t*>(to.block + block.made_begins);
  gather.lengths = reinterpret_cast<const std::int32_t*>(to.block + block.mel_len);
  kernels_->gather(gather, compute_);
}

GatherBatch DeviceUploader::gather_batch(const UploadBlock& block, const DeviceSlot& to) const {
  return {.rows = rows_,
          .from = format_->dtype,
          .begins = reinterpret_cast<const std::int64_t*>(to.block + block.begins),
          .lengths = reinterpret_cast<const std::int32_t*>(to.block + block.lengths),
          .out_begins = reinterpret_cast<const std::int32_t*>(to.block + block.out_begins),
          .rooms = reinterpret_cast<const std::int32_t*>(to.block + block.rooms),
          .num_segments = block.num_segments,
          .out = to.mel,
          .to = format_->dtype,
          .num_mels = format_->num_mels,
          .padding = format_->padding};
}

void DeviceUploader::forget_ready() {
  while (const auto slot = ring_->try_pop_ready()) ring_->give_back(*slot, {});
  if (resident_ != nullptr) resident_->restart();
}

}  // namespace stoker::feed
