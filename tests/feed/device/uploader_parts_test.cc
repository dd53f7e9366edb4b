// Optional parts and rows that come empty, on a simulated GPU: mel with its padding and every other
// part are those of the host, whatever the path.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "tests/feed/device/simulated_device.h"

namespace stoker::feed {
namespace {

constexpr ErrorCode kBadFile{"E-TEST-BAD", ExitCode::kData, "a file turned bad", ""};

Result<void> fail(std::uint32_t row) {
  return Error{.code = &kBadFile, .found = "row " + std::to_string(row)};
}

FeedSetup make_setup(BatchLayout layout) {
  auto store = std::make_shared<SyntheticSource>(speech_like_rows(60));
  store->extra_samples = 3;
  store->kinds = {{"f0", cache::ElementType::kF32, 6, 1}};
  store->before_mel = [](std::uint32_t row) { return row == 5 ? fail(row) : Result<void>(); };
  store->before_extra = [](std::uint32_t row) {
    return row == 11 || row == 40 ? fail(row) : Result<void>();
  };
  FeedSetup setup = synthetic_setup(std::move(store));
  setup.order.layout = layout;
  setup.extras = {
      .with_audio = true, .reference = ReferenceFrom::kSameSpeaker, .reference_frames = 40};
  return setup;
}

// Each batch as its digest and the bytes of the whole mel, padding included.
using Seen = std::vector<std::string>;

Seen read_host(Feed& feed) {
  Seen seen;
  for (int epoch = 0; epoch < 3; ++epoch) {
    while (const auto batch = feed.next()) {
      seen.push_back(batch->content_digest().hex());
      seen.emplace_back(static_cast<const char*>(batch->mel().data), batch->mel().size_bytes());
    }
  }
  return seen;
}

Seen read_device(Feed& feed, SimulatedGpu& gpu) {
  const cuda::Stream stream(0, cuda::StreamPriority::kNormal, gpu);
  Seen seen;
  for (int epoch = 0; epoch < 3; ++epoch) {
    while (auto batch = feed.next()) {
      seen.push_back(batch->content_digest().hex());
      std::string bytes(batch->mel().size_bytes(), '\0');
      batch->wait(stream);
      gpu.launch(stream, [&bytes, from = batch->mel().data] {
        std::memcpy(bytes.data(), from, bytes.size());
      });
      stream.synchronize();
      seen.push_back(std::move(bytes));
    }
  }
  return seen;
}

struct Path {
  const char* name;
  DeviceCase wanted;
};
const std::array kPaths{
    Path{"padded mel", {}},
    Path{"ragged mel", {.payload = SlotPayload::kRaggedMel}},
    Path{"samples", {.payload = SlotPayload::kRaggedPcm}},
    Path{"resident mel", {.payload = SlotPayload::kRaggedMel, .tier = DeviceTier::kResident}},
    Path{"resident samples", {.payload = SlotPayload::kRaggedPcm, .tier = DeviceTier::kResident}},
};

TEST(UploaderPartsTest, EveryPathGivesThePartsOfTheHost) {
  for (const BatchLayout layout : {BatchLayout::kPadded, BatchLayout::kPacked}) {
    Feed host(make_setup(layout));
    const Seen expected = read_host(host);
    ASSERT_EQ(host.bad_rows().size(), 3U);
    for (const Path& path : kPaths) {
      SCOPED_TRACE(std::string(path.name) + ", layout " + std::to_string(static_cast<int>(layout)));
      SimulatedGpu gpu({.num_devices = 2, .seed = 7});
      FeedSetup setup = make_setup(layout);
      setup.device = simulated_device(gpu, path.wanted);
      Feed feed(std::move(setup));
      EXPECT_EQ(read_device(feed, gpu), expected);
      EXPECT_EQ(feed.bad_rows().size(), 3U);
    }
  }
}

}  // namespace
}  // namespace stoker::feed
