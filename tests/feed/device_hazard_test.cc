// Batches held, dropped and released while kernels run: no byte that a consumer reads may change.
// Each wait of the design is taken away once; the test must notice.
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <string>

#include "tests/doubles/sanitizers.h"
#include "tests/feed/simulated_device.h"

namespace stoker::feed {
namespace {

// Streams in the order a feed and then the consumer create them.
constexpr int kCopies = 0;
constexpr int kKernels = 1;
constexpr int kConsumer = 2;

using Seen = std::map<std::string, std::string>;  // bytes of each batch, by epoch and index

std::string name_of_batch(const Batch& batch) {
  return std::to_string(batch.epoch()) + "/" + std::to_string(batch.index());
}

Seen host_batches() {
  Feed feed(synthetic_setup(std::make_shared<SyntheticStore>(speech_like_rows(60))));
  Seen seen;
  for (int epoch = 0; epoch < 3; ++epoch) {
    while (const auto batch = feed.next()) {
      seen[name_of_batch(*batch)] =
          std::string(static_cast<const char*>(batch->mel().data), batch->mel().size_bytes());
    }
  }
  return seen;
}

// Reads every batch with kernels that run late. Some batches are released by their stream, some
// destroyed; a few are held at a time.
Seen consume(SimulatedGpu& gpu, SlotPayload payload) {
  // Batches of 4,000 frames: that many places in a batch, and four samples to each.
  const std::int64_t sane_end = payload == SlotPayload::kRaggedPcm ? 16'100 : 4'001;
  FeedSetup setup = synthetic_setup(std::make_shared<SyntheticStore>(speech_like_rows(60)));
  setup.device =
      simulated_device(gpu, {.payload = payload, .buffer_size = 8, .sane_end = sane_end});
  Feed feed(std::move(setup));
  const cuda::Stream stream(0, cuda::StreamPriority::kNormal, gpu);
  Seen seen;
  std::vector<Batch> held;
  for (int epoch = 0; epoch < 3; ++epoch) {
    while (auto batch = feed.next()) {
      std::string& bytes = seen[name_of_batch(*batch)];
      bytes.resize(batch->mel().size_bytes());
      batch->wait(stream);
      gpu.launch(stream, [&bytes, from = batch->mel().data] {
        std::memcpy(bytes.data(), from, bytes.size());
      });
      held.push_back(std::move(*batch));
      if (held.size() < 4) continue;
      if (seen.size() % 2 == 0) held.front().release(stream);
      held.erase(held.begin());
    }
  }
  held.clear();
  stream.synchronize();
  return seen;
}

struct Mistake {
  const char* name;
  SlotPayload payload;
  SimulatedGpu::Edge edge;
  bool without_host_waits = false;
};
const std::array kMistakes{
    Mistake{"kernels do not wait for the copy", SlotPayload::kRaggedPcm, {kCopies, kKernels}},
    Mistake{"the copy does not wait for kernels that read the staging memory",
            SlotPayload::kRaggedPcm,
            {kKernels, kCopies}},
    Mistake{"the consumer does not wait for the kernels",
            SlotPayload::kRaggedMel,
            {kKernels, kConsumer}},
    Mistake{
        "the consumer does not wait for the copy", SlotPayload::kPaddedMel, {kCopies, kConsumer}},
    Mistake{
        "the copy does not wait for the consumer", SlotPayload::kPaddedMel, {kConsumer, kCopies}},
    Mistake{
        "host memory is used again before it is copied", SlotPayload::kPaddedMel, {-1, -1}, true},
};

class DeviceHazardTest : public testing::TestWithParam<Mistake> {};

TEST_P(DeviceHazardTest, IsNoticedWhenMadeAndAbsentOtherwise) {
  const Mistake& mistake = GetParam();
  if (kUnderThreadSanitizer && mistake.without_host_waits) {
    GTEST_SKIP() << "this mistake is a data race of the host, which ThreadSanitizer reports itself";
  }
  const Seen expected = host_batches();
  int num_noticed = 0;
  // Threads of the host decide, too, whether a mistake shows: more seeds where none did yet.
  for (std::uint64_t seed = 1; seed <= 12 || (num_noticed == 0 && seed <= 300); ++seed) {
    SimulatedGpu sound({.seed = seed});
    ASSERT_TRUE(consume(sound, mistake.payload) == expected) << "seed " << seed;
    SimulatedGpu broken({.seed = seed});
    broken.forget_edge(mistake.edge);
    if (mistake.without_host_waits) broken.forget_host_waits();
    num_noticed += consume(broken, mistake.payload) != expected ? 1 : 0;
  }
  EXPECT_GT(num_noticed, 0);
}

INSTANTIATE_TEST_SUITE_P(Mistakes, DeviceHazardTest, testing::ValuesIn(kMistakes),
                         [](const auto& made) { return "Mistake" + std::to_string(made.index); });

void PrintTo(const Mistake& mistake, std::ostream* out) { *out << mistake.name; }

}  // namespace
}  // namespace stoker::feed
