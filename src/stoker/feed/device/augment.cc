#include "stoker/feed/device/augment.h"

#include <span>
#include <utility>

namespace stoker::feed {

std::size_t DeviceAugment::needed_bytes(const BatchFormat& format,
                                        const Augmentation& augmentation) {
  return aligned_part_bytes(format.payload_bytes()) +
         aligned_part_bytes(audio::augment_scratch_bytes(format.max_rows)) +
         aligned_part_bytes(augmentation.noise_samples().size_bytes()) +
         aligned_part_bytes(augmentation.noise_begins().size_bytes()) +
         aligned_part_bytes(augmentation.noise_lengths().size_bytes());
}

DeviceAugment::DeviceAugment(const Parts& parts, const cuda::Stream& stream) : parts_(parts) {
  std::byte* at = parts.memory;
  const auto take = [&at](std::size_t size_bytes) {
    return std::exchange(at, at + aligned_part_bytes(size_bytes));
  };
  const auto upload = [&]<class T>(std::span<const T> values) {
    std::byte* const to = take(values.size_bytes());
    if (!values.empty()) {
      parts.api.copy({.to = to, .from = values.data(), .size_bytes = values.size_bytes()},
                     stream.view().handle());
    }
    return reinterpret_cast<const T*>(to);
  };
  out_ = take(parts.format.payload_bytes());
  scratch_ = take(audio::augment_scratch_bytes(parts.format.max_rows));
  noises_ = {.samples = upload(parts.augmentation.noise_samples()),
             .begins = upload(parts.augmentation.noise_begins()),
             .lengths = upload(parts.augmentation.noise_lengths()),
             .num_noises = static_cast<int>(parts.augmentation.noise_lengths().size())};
  stream.synchronize();
}

void DeviceAugment::run(const Batch& batch, cuda::StreamView stream) const {
  const UploadBlock& block = batch.block;
  const std::size_t longest =
      block.made_frames * parts_.format.hop_samples + parts_.format.max_extra_samples;
  const std::byte* const at = batch.block_memory;
  parts_.kernels.augment(
      {.samples = reinterpret_cast<const std::int16_t*>(batch.samples),
       .begins = reinterpret_cast<const std::int64_t*>(at + block.begins),
       .lengths = reinterpret_cast<const std::int32_t*>(at + block.lengths),
       .utterances = reinterpret_cast<const std::uint64_t*>(at + block.row_keys),
       .num_utterances = static_cast<int>(block.num_rows),
       .max_samples = static_cast<int>(longest),
       .noises = noises_,
       .out = out_,
       .out_begins = reinterpret_cast<const std::int64_t*>(at + block.changed_begins)},
      parts_.augmentation.rule(batch.epoch), {scratch_, stream});
}

}  // namespace stoker::feed
