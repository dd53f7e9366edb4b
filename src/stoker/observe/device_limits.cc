// The limits that concern a GPU: the bus, and the cores that fill page-locked memory.
#include "stoker/observe/feed_limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

#include "stoker/base/aligned_bytes.h"
#include "stoker/base/clock.h"
#include "stoker/base/thread/parallel.h"
#include "stoker/cuda/device_buffer.h"
#include "stoker/cuda/pinned_buffer.h"
#include "stoker/cuda/stream.h"

namespace stoker::observe {
namespace {

constexpr std::size_t kCopyBytes = std::size_t{16} << 20U;
constexpr std::size_t kBusBytes = 8 * kCopyBytes;
constexpr std::size_t kChunkBytes = std::size_t{256} << 10U;
constexpr std::size_t kThreadBytes = std::size_t{32} << 20U;  // more than a core's caches

double measure_bus(const TransferLimitOptions& options) {
  const cuda::PinnedBuffer from(kBusBytes);
  const cuda::DeviceBuffer to(options.device, kBusBytes);
  const cuda::Stream stream(options.device);
  std::memset(from.data(), 1, kBusBytes);
  const auto copy_all = [&] {
    for (std::size_t at = 0; at < kBusBytes; at += kCopyBytes) {
      cuda::system_device_api().copy(
          {to.data() + at, from.data() + at, kCopyBytes, cuda::CopyKind::kToDevice},
          stream.view().handle());
    }
    stream.synchronize();
  };
  copy_all();
  double best = 0;
  const Stopwatch watch;
  while (watch.seconds() < options.seconds) {
    const Stopwatch one;
    copy_all();
    best = std::max(best, static_cast<double>(kBusBytes) / one.seconds());
  }
  return best;
}

double measure_memcpy(const TransferLimitOptions& options) {
  const unsigned threads = options.num_threads;
  const cuda::PinnedBuffer to(threads * kThreadBytes);
  const AlignedBytes from(threads * kThreadBytes);
  std::memset(from.data(), 1, from.size());
  std::memset(to.data(), 1, to.size_bytes());
  std::vector<double> rates(threads);
  run_parallel(threads, threads, [&](std::size_t thread) {
    const std::size_t first = thread * kThreadBytes;
    std::size_t copied = 0;
    const Stopwatch watch;
    while (watch.seconds() < options.seconds) {
      for (std::size_t at = 0; at < kThreadBytes; at += kChunkBytes) {
        std::memcpy(to.data() + first + at, from.data() + first + at, kChunkBytes);
      }
      copied += kThreadBytes;
    }
    rates[thread] = static_cast<double>(copied) / watch.seconds();
  });
  return std::accumulate(rates.begin(), rates.end(), 0.0);
}

// Bytes that cross the bus for an utterance, on average.
double bytes_per_clip(const feed::Feed& feed) {
  const feed::BatchFormat& format = feed.format();
  double frames = 0;
  for (const feed::SampledUtterance& row : feed.order().rows()) frames += row.num_frames;
  frames /= static_cast<double>(feed.order().rows().size());
  return format.payload == feed::SlotPayload::kRaggedPcm
             ? frames * format.hop_samples * sizeof(std::int16_t)
             : frames * static_cast<double>(format.bytes_per_frame());
}

}  // namespace

TransferLimits measure_transfer_limits(const TransferLimitOptions& options) {
  return {.bus_bytes_per_s = measure_bus(options), .memcpy_bytes_per_s = measure_memcpy(options)};
}

double bus_limit(const feed::Feed& feed, const TransferLimits& limits) {
  return limits.bus_bytes_per_s / bytes_per_clip(feed);
}

FeedLimit device_limit(const feed::Feed& feed, const TransferLimits& limits) {
  const double least = std::min(limits.bus_bytes_per_s, limits.memcpy_bytes_per_s);
  return {fmt::format("pinned H2D {:.1f} GB/s, memcpy into pinned {:.1f} GB/s: the smaller",
                      limits.bus_bytes_per_s * 1e-9, limits.memcpy_bytes_per_s * 1e-9),
          least / bytes_per_clip(feed)};
}

}  // namespace stoker::observe
