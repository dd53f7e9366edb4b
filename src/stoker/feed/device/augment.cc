#include "stoker/feed/device/augment.h"

#include <span>
#include <utility>

#include "stoker/feed/device/alignment.h"

namespace stoker::feed {

std::size_t DeviceAugment::needed_bytes(const BatchFormat& format,
                                        const Augmentation& augmentation) {
  return device_aligned(format.payload_bytes()) +
         device_aligned(audio::augment_scratch_bytes(format.max_rows)) +
         device_aligned(augmentation.noise_samples().size_bytes()) +
         device_aligned(augmentation.noise_begins().size_bytes()) +
         device_aligned(augmentation.noise_lengths().size_bytes());
}

DeviceAugment::DeviceAugment(const Parts& parts, const cuda::Stream& stream) : parts_(parts) {
  std::byte* at = parts.memory;
  const auto take = [&at](std::size_t size_bytes) {
    return std::exchange(at, at + device_aligned(size_bytes));
  };
  const auto bring = [&]<class T>(std::span<const T> values) {
    std::byte* const to = take(values.size_bytes());
    if (!values.empty()) {
      parts.api.copy({.to = to, .from = values.data(), .size_bytes = values.size_bytes()},
                     stream.view().handle());
    }
    return reinterpret_cast<const T*>(to);
  };
  out_ = take(parts.format.payload_bytes());
  scratch_ = take(audio::augment_scratch_bytes(parts.format.max_rows));
  noises_ = {.samples = bring(parts.augmentation.noise_samples()),
             .begins = bring(parts.augmentation.noise_begins()),
             .lengths = bring(parts.augmentation.noise_lengths()),
             .num_noises = static_cast<int>(parts.augmentation.noise_lengths().size())};
  stream.synchronize();
}

void DeviceAugment::run(const Batch& batch, cuda::StreamView stream) const {
  const DevicePack& pack = batch.pack;
  const std::size_t longest =
      pack.made_frames * parts_.format.hop_samples + parts_.format.max_extra_samples;
  const std::byte* const at = batch.pack_memory;
  parts_.kernels.augment(
      {.samples = reinterpret_cast<const std::int16_t*>(batch.samples),
       .begins = reinterpret_cast<const std::int64_t*>(at + pack.begins),
       .lengths = reinterpret_cast<const std::int32_t*>(at + pack.lengths),
       .utterances = reinterpret_cast<const std::uint64_t*>(at + pack.row_keys),
       .num_utterances = static_cast<int>(pack.num_rows),
       .max_samples = static_cast<int>(longest),
       .noises = noises_,
       .out = out_,
       .out_begins = reinterpret_cast<const std::int64_t*>(at + pack.changed_begins)},
      parts_.augmentation.rule(batch.epoch), {scratch_, stream});
}

}  // namespace stoker::feed
