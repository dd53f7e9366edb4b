// A feed of formula rows into a simulated GPU, for tests of everything between host and device.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "stoker/cache/read/fused_read.h"
#include "stoker/feed/feed.h"
#include "tests/doubles/simulated_gpu.h"
#include "tests/feed/synthetic_source.h"

namespace stoker::feed {

// Kernels as plain code that runs in stream order; the mel of a frame is that of SyntheticSource.
class SimulatedKernels final : public DeviceKernels {
 public:
  // Places at or past `end` are taken for memory that was not copied in time.
  SimulatedKernels(SimulatedGpu& gpu, config::MelDtype dtype, std::int64_t end)
      : gpu_(gpu), dtype_(dtype), end_(end) {}

  std::size_t mel_scratch_bytes(std::size_t, std::size_t) const override { return 0; }
  void make_mel(const audio::DeviceMelBatch& batch, cuda::StreamView stream) override {
    gpu_.launch(stream, [this, batch] { make(batch); });
  }
  void augment(const audio::AugmentBatch&, const audio::AugmentRule&,
               const audio::AugmentPlace&) override {}
  void gather(const GatherBatch& batch, cuda::StreamView stream) override {
    gpu_.launch(stream, [this, batch] {
      for (std::size_t s = 0; s < batch.num_segments; ++s) gather_one(batch, s);
    });
  }

 private:
  static constexpr int kHopSamples = 4;
  static constexpr int kNumMels = 8;

  bool is_sane(std::int64_t begin, std::int64_t length) const {
    return begin >= 0 && length >= 0 && begin + length < end_;
  }

  // A row whose place makes no sense stays unwritten.
  void gather_one(GatherBatch batch, std::size_t segment) const {
    batch.begins += segment;
    batch.lengths += segment;
    batch.out_begins += segment;
    batch.rooms += segment;
    batch.num_segments = 1;
    if (is_sane(*batch.begins, *batch.lengths) && is_sane(*batch.out_begins, *batch.rooms) &&
        *batch.rooms >= *batch.lengths) {
      gather_pad_on_host(batch);
    }
  }

  void make(const audio::DeviceMelBatch& batch) const {
    const auto* const samples = static_cast<const std::int16_t*>(batch.samples);
    const std::size_t frame_bytes = kNumMels * config::bytes_per_value(dtype_);
    for (int row = 0; row < batch.num_utterances; ++row) {
      const int num_frames = batch.lengths[row] / kHopSamples;
      if (!is_sane(batch.begins[row], batch.lengths[row])) continue;
      for (int frame = 0; frame < batch.padded_frames; ++frame) {
        const float value =
            frame < num_frames
                ? static_cast<float>(samples[batch.begins[row] + frame * kHopSamples]) / 4.0F
                : -11.5F;
        cache::fill_values(
            static_cast<std::byte*>(batch.mel) +
                static_cast<std::size_t>(row * batch.padded_frames + frame) * frame_bytes,
            cache::element_of(dtype_), kNumMels, value);
      }
    }
  }

  SimulatedGpu& gpu_;
  config::MelDtype dtype_;
  std::int64_t end_;
};

// What tests vary.
struct DeviceCase {
  SlotPayload payload = SlotPayload::kPaddedMel;
  DeviceTier tier = DeviceTier::kStreamed;
  DeviceAhead ahead = DeviceAhead::kFilled;
  std::optional<int> model_device{};
  PeerLink link = PeerLink::kPeer;
  unsigned buffer_size = 4;
  FallbackPolicy fallbacks = FallbackPolicy::kAllow;
  std::int64_t sane_end = std::int64_t{1} << 30U;  // of SimulatedKernels
};

inline std::shared_ptr<DeviceSetup> simulated_device(SimulatedGpu& gpu, const DeviceCase& wanted) {
  auto setup = std::make_shared<DeviceSetup>();
  setup->api = &gpu;
  setup->payload = wanted.payload;
  setup->tier = wanted.tier;
  setup->ahead = wanted.ahead;
  setup->model_device = wanted.model_device;
  setup->link = wanted.link;
  setup->buffer_size = wanted.buffer_size;
  setup->memory_bytes = std::uint64_t{1} << 30U;
  setup->pool_bytes = std::uint64_t{8} << 20U;
  setup->make_kernels = [&gpu, end = wanted.sane_end] {
    return std::make_unique<SimulatedKernels>(gpu, config::MelDtype::kF16, end);
  };
  setup->fallbacks = std::make_shared<Fallbacks>(wanted.fallbacks);
  return setup;
}

// Content digests of the first epochs, read on the device by a consumer's stream.
inline std::vector<std::string> read_digests(Feed& feed, int num_epochs) {
  std::vector<std::string> found;
  for (int epoch = 0; epoch < num_epochs; ++epoch) {
    while (const auto batch = feed.next()) found.push_back(batch->content_digest().hex());
    found.emplace_back("end of epoch");
  }
  return found;
}

}  // namespace stoker::feed
