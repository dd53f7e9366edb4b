// Batches on a real GPU; the same suite is run under compute-sanitizer.
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "stoker/cuda/pinned_buffer.h"
#include "stoker/feed/feed.h"
#include "tests/doubles/gpu_present.h"
#include "tests/feed/device/gather_kernels.h"
#include "tests/feed/synthetic_source.h"

namespace stoker::feed {
namespace {

using config::MelDtype;

using UploaderGpuTest = cuda::GpuTest;

struct Path {
  const char* name;
  SlotPayload payload;
  DeviceTier tier = DeviceTier::kStreamed;
  std::optional<int> model_device{};
  PeerLink link = PeerLink::kPeer;
};
constexpr std::array kPaths{
    Path{"padded", SlotPayload::kPaddedMel},
    Path{"ragged", SlotPayload::kRaggedMel},
    Path{"resident", SlotPayload::kRaggedMel, DeviceTier::kResident},
    Path{"two devices that are one", SlotPayload::kRaggedMel, DeviceTier::kStreamed, 0},
    Path{"staged", SlotPayload::kPaddedMel, DeviceTier::kStreamed, 0, PeerLink::kStaged},
};

FeedSetup setup_for(const Path* path) {
  auto store = std::make_shared<SyntheticSource>(speech_like_rows(60));
  store->kinds = {{"f0", cache::ElementType::kF32, 6, 1}};
  FeedSetup setup = synthetic_setup(std::move(store));
  setup.extras = {
      .with_audio = true, .reference = ReferenceFrom::kSameSpeaker, .reference_frames = 40};
  if (path == nullptr) return setup;
  auto device = std::make_shared<DeviceSetup>();
  device->payload = path->payload;
  device->tier = path->tier;
  device->model_device = path->model_device;
  device->link = path->link;
  device->buffer_size = 3;
  device->memory_bytes = std::uint64_t{1} << 30U;
  device->pool_bytes = std::uint64_t{8} << 20U;
  device->make_kernels = [] { return std::make_unique<GatherKernels>(); };
  device->fallbacks = std::make_shared<Fallbacks>(FallbackPolicy::kRefuse);
  setup.device = device;
  setup.fallbacks = device->fallbacks;
  return setup;
}

std::vector<std::string> digests(Feed& feed) {
  std::vector<std::string> found;
  for (int epoch = 0; epoch < 3; ++epoch) {
    while (const auto batch = feed.next()) found.push_back(batch->content_digest().hex());
  }
  return found;
}

TEST_F(UploaderGpuTest, EveryPathGivesTheBytesOfTheHost) {
  Feed host(setup_for(nullptr));
  const std::vector<std::string> expected = digests(host);
  for (const Path& path : kPaths) {
    Feed feed(setup_for(&path));
    EXPECT_EQ(digests(feed), expected) << path.name;
    EXPECT_TRUE(feed.stats().fallbacks.empty());
  }
}

// What is optional is on the GPU: a copy from there to the host finds it, with its lengths.
TEST_F(UploaderGpuTest, WhatIsOptionalIsInGpuMemory) {
  Feed host(setup_for(nullptr));
  for (const Path& path : kPaths) {
    host.seek({0, 0});
    Feed feed(setup_for(&path));
    const cuda::Stream stream(0);
    const auto batch = feed.next();
    const auto twin = host.next();
    batch->wait_briefly(stream);
    const auto load = [&](const void* from, std::size_t size_bytes) {
      std::string bytes(size_bytes, '\0');
      cuda::system_device_api().copy({bytes.data(), from, size_bytes, cuda::CopyKind::kToHost},
                                     stream.view().handle());
      stream.synchronize();
      return bytes;
    };
    const auto here = [](const void* from, std::size_t size_bytes) {
      return std::string(static_cast<const char*>(from), size_bytes);
    };
    const std::size_t audio_bytes = twin->audio().size() * sizeof(float);
    const std::size_t lengths_bytes = twin->num_rows() * sizeof(std::int32_t);
    EXPECT_EQ(load(batch->audio().data, audio_bytes), here(twin->audio().data, audio_bytes));
    EXPECT_EQ(load(batch->reference_mel().data, batch->reference_mel().size_bytes()),
              here(twin->reference_mel().data, twin->reference_mel().size_bytes()));
    EXPECT_EQ(load(batch->device_lengths().reference_len, lengths_bytes),
              here(twin->reference_len().data(), lengths_bytes));
    EXPECT_EQ(load(batch->array("f0").device_lengths, lengths_bytes),
              here(twin->array("f0").lengths.data(), lengths_bytes));
  }
}

// A ring that nobody set the length of takes more memory while the GPU works.
TEST_F(UploaderGpuTest, ARingGrows) {
  const FeedSetup setup = setup_for(&kPaths[0]);
  const Sampler order(setup.rows, setup.order);
  auto format = std::make_shared<BatchFormat>(make_format(setup, order));
  DeviceSetup device = *setup.device;
  device.is_buffer_tuned = true;
  DeviceUploader uploader(format, device, setup.rows.size());
  uploader.grow_ring(12);
  EXPECT_EQ(uploader.budget().num_slots, 12U);
  EXPECT_TRUE(device.fallbacks->counts().empty());
  for (int i = 0; i < 12; ++i) EXPECT_TRUE(uploader.ring()->take_free({}));
}

// Copies on the consumer's stream read late, while the ring goes on: nothing may change under them.
TEST_F(UploaderGpuTest, ReleasedBatchesKeepTheirBytesUntilTheStreamHasReadThem) {
  Feed host(setup_for(nullptr));
  std::vector<std::string> expected;
  for (int epoch = 0; epoch < 3; ++epoch) {
    while (const auto batch = host.next()) {
      expected.emplace_back(static_cast<const char*>(batch->mel().data), batch->mel().size_bytes());
    }
  }
  for (const Path& path : kPaths) {
    Feed feed(setup_for(&path));
    const cuda::Stream stream(0);
    std::vector<cuda::PinnedBuffer> seen;
    for (int epoch = 0; epoch < 3; ++epoch) {
      while (auto batch = feed.next()) {
        seen.emplace_back(batch->mel().size_bytes());
        batch->wait(stream);
        cuda::system_device_api().copy({seen.back().data(), batch->mel().data,
                                        seen.back().size_bytes(), cuda::CopyKind::kToHost},
                                       stream.view().handle());
        if (seen.size() % 2 == 0) batch->release(stream);
      }
    }
    stream.synchronize();
    ASSERT_EQ(seen.size(), expected.size());
    for (std::size_t i = 0; i < seen.size(); ++i) {
      EXPECT_EQ(std::memcmp(seen[i].data(), expected[i].data(), expected[i].size()), 0)
          << path.name << ", batch " << i;
    }
  }
}

struct GatherCase {
  MelDtype from, to;
  std::uint32_t num_mels;
};

// Segments of random lengths in random order, on the host and on the GPU.
void compare_gather(const GatherCase& wanted) {
  std::mt19937 draws(11);
  constexpr int kSegments = 37;
  std::vector<std::int64_t> begins;
  std::vector<std::int32_t> lengths, out_begins, rooms;
  std::int64_t from_frames = 0;
  std::int32_t to_frames = 0;
  for (int i = 0; i < kSegments; ++i) {
    lengths.push_back(i % 9 == 4 ? 0 : static_cast<std::int32_t>(draws() % 300));
    rooms.push_back(lengths.back() + static_cast<std::int32_t>(draws() % 40));
    begins.push_back(from_frames);
    out_begins.push_back(to_frames);
    from_frames += lengths.back();
    to_frames += rooms.back();
  }
  const std::size_t from_bytes = static_cast<std::size_t>(from_frames) * wanted.num_mels *
                                 config::bytes_per_value(wanted.from);
  const std::size_t to_bytes =
      static_cast<std::size_t>(to_frames) * wanted.num_mels * config::bytes_per_value(wanted.to);
  std::vector<std::byte> rows(from_bytes), expected(to_bytes), found(to_bytes);
  for (std::size_t at = 0; at < from_bytes; at += config::bytes_per_value(wanted.from)) {
    const float value = static_cast<float>(draws() % 4000) / 100.0F - 20.0F;
    cache::fill_values(&rows[at], cache::element_of(wanted.from), 1, value);
  }
  GatherBatch batch{.rows = rows.data(),
                    .from = wanted.from,
                    .begins = begins.data(),
                    .lengths = lengths.data(),
                    .out_begins = out_begins.data(),
                    .rooms = rooms.data(),
                    .num_segments = kSegments,
                    .out = expected.data(),
                    .to = wanted.to,
                    .num_mels = wanted.num_mels,
                    .padding = -11.5F};
  gather_pad_on_host(batch);

  cuda::DeviceApi& api = cuda::system_device_api();
  const cuda::Stream stream(0);
  std::vector<cuda::DeviceBuffer> memory;
  const auto upload = [&](const void* from, std::size_t size_bytes) {
    memory.emplace_back(0, size_bytes);
    api.copy({memory.back().data(), from, size_bytes, cuda::CopyKind::kToDevice},
             stream.view().handle());
    return memory.back().data();
  };
  batch.rows = upload(rows.data(), from_bytes);
  batch.begins = reinterpret_cast<std::int64_t*>(upload(begins.data(), kSegments * 8));
  batch.lengths = reinterpret_cast<std::int32_t*>(upload(lengths.data(), kSegments * 4));
  batch.out_begins = reinterpret_cast<std::int32_t*>(upload(out_begins.data(), kSegments * 4));
  batch.rooms = reinterpret_cast<std::int32_t*>(upload(rooms.data(), kSegments * 4));
  batch.out = upload(found.data(), to_bytes);
  gather_pad_on_device(batch, stream);
  api.copy({found.data(), batch.out, to_bytes, cuda::CopyKind::kToHost}, stream.view().handle());
  stream.synchronize();
  EXPECT_EQ(found, expected) << name_of(wanted.from) << " to " << name_of(wanted.to) << ", "
                             << wanted.num_mels << " mels";
}

TEST_F(UploaderGpuTest, GatherAndPadEqualsTheHostInEveryFormat) {
  for (const MelDtype from : {MelDtype::kF32, MelDtype::kF16, MelDtype::kBf16}) {
    for (const MelDtype to : {MelDtype::kF32, MelDtype::kF16, MelDtype::kBf16}) {
      for (const std::uint32_t num_mels : {80U, 100U, 513U}) compare_gather({from, to, num_mels});
    }
  }
}

}  // namespace
}  // namespace stoker::feed
