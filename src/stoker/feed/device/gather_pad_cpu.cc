#include "stoker/cache/read/fused_read.h"
#include "stoker/feed/device/gather_pad.h"

namespace stoker::feed {

void gather_pad_on_host(const GatherBatch& batch) {
  const std::size_t from_bytes = batch.num_mels * config::bytes_per_value(batch.from);
  const std::size_t to_bytes = batch.num_mels * config::bytes_per_value(batch.to);
  for (std::size_t s = 0; s < batch.num_segments; ++s) {
    const auto num_frames = static_cast<std::size_t>(batch.lengths[s]);
    const auto room = static_cast<std::size_t>(batch.rooms[s]);
    auto* const to = static_cast<std::byte*>(batch.out) +
                     static_cast<std::size_t>(batch.out_begins[s]) * to_bytes;
    if (batch.rows != nullptr) {
      const auto* const from = static_cast<const std::byte*>(batch.rows) +
                               static_cast<std::size_t>(batch.begins[s]) * from_bytes;
      cache::copy_without_crc({.payload = {from, num_frames * from_bytes},
                               .from = cache::element_of(batch.from),
                               .to = cache::element_of(batch.to),
                               .out = to});
    }
    cache::fill_values(to + num_frames * to_bytes, cache::element_of(batch.to),
                       (room - num_frames) * batch.num_mels, batch.padding);
  }
}

}  // namespace stoker::feed
