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

struct Wanted {
  BatchLayout layout = BatchLayout::kPadded;
  std::uint32_t segment_frames = 0;  // cut from padded mels only
  bool with_audio = true;
};

FeedSetup make_setup(const Wanted& wanted) {
  auto store = std::make_shared<SyntheticSource>(speech_like_rows(60));
  store->extra_samples = 3;
  store->kinds = {{"f0", cache::ElementType::kF32, 6, 1}, {"pair", cache::ElementType::kI16, 3, 2}};
  store->before_mel = [](std::uint32_t row) { return row == 5 ? fail(row) : Result<void>(); };
  store->before_extra = [](std::uint32_t row) {
    return row == 11 || row == 40 ? fail(row) : Result<void>();
  };
  FeedSetup setup = synthetic_setup(std::move(store));
  setup.order.layout = wanted.layout;
  setup.extras = {.with_audio = wanted.with_audio,
                  .reference = ReferenceFrom::kSameSpeaker,
                  .reference_frames = 40,
                  .segment_frames = wanted.segment_frames};
  return setup;
}

// One part of a batch: what its accessor points to, padding included.
struct Part {
  const void* data = nullptr;
  std::size_t size_bytes = 0;
};

std::vector<Part> parts_of(const Batch& batch) {
  std::vector<Part> parts{
      {batch.mel().data, batch.mel().size_bytes()},
      {batch.tokens().data, batch.tokens().size() * sizeof(std::int32_t)},
      {batch.audio().data, batch.audio().size() * sizeof(float)},
      {batch.reference_mel().data, batch.reference_mel().size_bytes()},
      {batch.wav_segment().data, batch.wav_segment().size() * sizeof(float)},
      {batch.mel_segment().data, batch.mel_segment().size_bytes()},
  };
  for (const ArrayKind& kind : batch.format().arrays) {
    parts.push_back(
        {batch.array(kind.name).data, batch.num_rows() * kind.max_length * kind.bytes_per_step()});
  }
  return parts;
}

template <class Lengths>
Part lengths_part(const Lengths* lengths, const Batch& batch) {
  return {lengths, batch.num_rows() * sizeof(std::int32_t)};
}

// The lengths as they are on the device, or in host memory.
std::vector<Part> lengths_of(const Batch& batch) {
  const bool is_here = batch.device().is_cpu();
  const Batch::DeviceLengths there = batch.device_lengths();
  std::vector<Part> parts{
      lengths_part(is_here ? batch.mel_len().data() : there.mel_len, batch),
      lengths_part(is_here ? batch.reference_len().data() : there.reference_len, batch)};
  if (batch.format().with_audio)
    parts.push_back(lengths_part(is_here ? batch.audio_len().data() : there.audio_len, batch));
  for (const ArrayKind& kind : batch.format().arrays) {
    const NamedArray array = batch.array(kind.name);
    parts.push_back(lengths_part(is_here ? array.lengths.data() : array.device_lengths, batch));
  }
  return parts;
}

// Each batch as its digest and the bytes of every part.
using Seen = std::vector<std::string>;

void add(const Part& part, Seen& seen) {
  seen.emplace_back(part.size_bytes == 0 ? "" : static_cast<const char*>(part.data),
                    part.size_bytes);
}

Seen read_host(Feed& feed) {
  Seen seen;
  for (int epoch = 0; epoch < 3; ++epoch) {
    while (const auto batch = feed.next()) {
      seen.push_back(batch->content_digest().hex());
      for (const Part& part : parts_of(*batch)) add(part, seen);
      for (const Part& part : lengths_of(*batch)) add(part, seen);
    }
  }
  return seen;
}

// A kernel of the consumer's stream reads the parts, late.
Seen read_device(Feed& feed, SimulatedGpu& gpu, int device) {
  const cuda::Stream stream(device, cuda::StreamPriority::kNormal, gpu);
  Seen seen;
  for (int epoch = 0; epoch < 3; ++epoch) {
    while (auto batch = feed.next()) {
      EXPECT_EQ(batch->device(), Device::cuda(device));
      seen.push_back(batch->content_digest().hex());
      batch->wait(stream);
      gpu.launch(stream, [&seen, parts = parts_of(*batch), lengths = lengths_of(*batch)] {
        for (const Part& part : parts) add(part, seen);
        for (const Part& part : lengths) add(part, seen);
      });
      stream.synchronize();
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
    Path{"on demand", {.payload = SlotPayload::kRaggedPcm, .ahead = DeviceAhead::kOnDemand}},
    Path{"two devices", {.payload = SlotPayload::kRaggedPcm, .model_device = 1}},
    Path{"two devices, padded mel", {.model_device = 1}},
    Path{"two devices without a peer link",
         {.payload = SlotPayload::kRaggedMel, .model_device = 1, .link = PeerLink::kStaged}},
    Path{"two devices, resident samples",
         {.payload = SlotPayload::kRaggedPcm, .tier = DeviceTier::kResident, .model_device = 1}},
};

void compare_paths(const Wanted& wanted) {
  Feed host(make_setup(wanted));
  const Seen expected = read_host(host);
  ASSERT_EQ(host.bad_rows().size(), 3U);
  for (const Path& path : kPaths) {
    const bool cuts_segments = path.wanted.payload == SlotPayload::kPaddedMel;
    if (wanted.segment_frames > 0 && !cuts_segments) continue;
    SCOPED_TRACE(std::string(path.name) + ", layout " +
                 std::to_string(static_cast<int>(wanted.layout)));
    SimulatedGpu gpu({.num_devices = 2, .seed = 7});
    FeedSetup setup = make_setup(wanted);
    setup.device = simulated_device(gpu, path.wanted);
    Feed feed(std::move(setup));
    EXPECT_EQ(read_device(feed, gpu, path.wanted.model_device.value_or(0)), expected);
    EXPECT_EQ(feed.bad_rows().size(), 3U);
  }
}

TEST(UploaderPartsTest, EveryPathGivesThePartsOfTheHost) {
  for (const BatchLayout layout : {BatchLayout::kPadded, BatchLayout::kPacked}) {
    compare_paths({.layout = layout});
    compare_paths({.layout = layout, .segment_frames = 16});
    compare_paths({.layout = layout, .segment_frames = 16, .with_audio = false});
  }
}

// A slot of the ring has room for what is delivered, and for a waveform only where it is.
TEST(UploaderPartsTest, TheBudgetCountsWhatIsDelivered) {
  const auto slot_bytes = [](const Wanted& wanted, bool with_arrays) {
    SimulatedGpu gpu;
    FeedSetup setup = make_setup(wanted);
    if (!with_arrays) {
      auto store = std::make_shared<SyntheticSource>(speech_like_rows(60));
      setup.store = store;
      setup.extras = {};
    }
    setup.device = simulated_device(gpu, {});
    const Feed feed(std::move(setup));
    EXPECT_GE(gpu.allocated_bytes(), feed.stats().device->total_bytes());
    return std::pair(feed.stats().device->slot_bytes, feed.format());
  };
  const auto [plain, plain_format] = slot_bytes({}, false);
  const auto [all, format] = slot_bytes({}, true);
  const auto [cut, cut_format] = slot_bytes({.segment_frames = 16, .with_audio = false}, true);
  const std::size_t audio_bytes = format.max_mel_frames * format.hop_samples * sizeof(float);
  EXPECT_GE(all, plain + audio_bytes + format.max_rows * 40 * format.bytes_per_frame());
  EXPECT_LT(cut, all);
  EXPECT_GT(cut, plain + cut_format.max_rows * 16 * cut_format.hop_samples * sizeof(float));
}

// What the feed would take with other batches is what it takes when it has them.
TEST(UploaderPartsTest, TheBudgetOfOtherBatchesIsForeseen) {
  for (const Path& path : kPaths) {
    SCOPED_TRACE(path.name);
    const auto opened = [&](SimulatedGpu& gpu, std::uint32_t batch_frames) {
      FeedSetup setup = make_setup({});
      setup.order.batch_frames = batch_frames;
      setup.device = simulated_device(gpu, path.wanted);
      return Feed(std::move(setup));
    };
    SimulatedGpu gpu({.num_devices = 2, .seed = 7}), larger_gpu({.num_devices = 2, .seed = 7});
    const Feed feed = opened(gpu, 500);
    const Feed larger = opened(larger_gpu, 2'000);
    const DeviceBudget budget = *larger.stats().device;
    const bool is_elsewhere = path.wanted.model_device.value_or(0) != 0;
    const std::uint64_t foreseen = feed.device_bytes_with(2'000).value();
    EXPECT_GE(foreseen, is_elsewhere ? budget.slot_bytes : budget.total_bytes());
    EXPECT_LE(foreseen, budget.total_bytes() + 3 * budget.slot_bytes);
    EXPECT_GT(foreseen, feed.device_bytes_with(500).value());
  }
  SimulatedGpu gpu;
  FeedSetup setup = make_setup({});
  setup.order.batch_frames = 500;
  const auto device = std::make_shared<DeviceSetup>(*simulated_device(gpu, {}));
  device->memory_bytes = 3 * Feed(make_setup({})).format().slot_bytes();
  setup.device = device;
  const Feed bounded(std::move(setup));
  EXPECT_EQ(bounded.device_bytes_with(100'000), std::nullopt);
}

// Under the driver's lock every call costs the consumer: one moves the small arrays with the mel
// behind them, or all rows; what is optional is one more.
TEST(UploaderPartsTest, ABatchIsOneCopyAndWhatIsOptionalOneMore) {
  struct Case {
    SlotPayload payload;
    bool with_extras;
    std::uint64_t num_calls;
  };
  for (const Case& each : {Case{SlotPayload::kPaddedMel, false, 1},
                           {SlotPayload::kPaddedMel, true, 2},
                           {SlotPayload::kRaggedMel, false, 1},
                           {SlotPayload::kRaggedMel, true, 1}}) {
    SimulatedGpu gpu;
    FeedSetup setup = make_setup({});
    if (!each.with_extras) {
      setup.store = std::make_shared<SyntheticSource>(speech_like_rows(60));
      setup.extras = {};
    }
    setup.num_epochs = 2;
    setup.device = simulated_device(gpu, {.payload = each.payload});
    Feed feed(std::move(setup));
    while (!feed.has_ended()) feed.next();
    EXPECT_GT(feed.stats().num_batches, 4U);
    EXPECT_EQ(gpu.num_copy_calls(), each.num_calls * feed.stats().num_batches);
  }
}

}  // namespace
}  // namespace stoker::feed
