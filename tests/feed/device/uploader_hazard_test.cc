// Batches held, dropped and released while kernels run: no byte that a consumer reads may change.
// Each wait of the design is taken away once; the test must notice.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <string>

#include "stoker/base/philox.h"
#include "tests/doubles/sanitizers.h"
#include "tests/feed/device/simulated_device.h"

namespace stoker::feed {
namespace {

// Streams in the order a feed and then the consumer create them.
constexpr int kCopies = 0;
constexpr int kKernels = 1;
constexpr int kConsumer = 2;
constexpr std::size_t kNumReaders = 6;  // more than a batch remembers without memory of its own

using Seen = std::map<std::string, std::string>;  // bytes of each batch, by epoch and index

std::string name_of_batch(const Batch& batch) {
  return std::to_string(batch.epoch()) + "/" + std::to_string(batch.index());
}

Seen host_batches() {
  Feed feed(synthetic_setup(std::make_shared<SyntheticSource>(speech_like_rows(60))));
  Seen seen;
  for (int epoch = 0; epoch < 3; ++epoch) {
    while (const auto batch = feed.next()) {
      seen[name_of_batch(*batch)] =
          std::string(static_cast<const char*>(batch->mel().data), batch->mel().size_bytes());
    }
  }
  return seen;
}

// A consumer without manners, drawn from a seed: of each batch it reads with any number of its
// streams, whose kernels run late, or with none; it waits and reads nothing, skips batches, holds
// some for a while, releases or destroys them.
class Consumer {
 public:
  Consumer(SimulatedGpu& gpu, std::uint64_t seed)
      : gpu_(gpu), draws_({.seed = seed, .stage = "test/consumer", .epoch = 0, .item = 0}) {
    for (std::size_t i = 0; i < kNumReaders; ++i)
      streams_.emplace_back(0, cuda::StreamPriority::kNormal, gpu);
  }

  void take(Batch batch) {
    if (draws_.next_below(3) == 0) return;  // destroyed without a wait
    for (std::uint64_t left = draws_.next_below(4); left > 0; --left) read(batch);
    if (draws_.next_below(4) == 0) batch.wait(any_stream());
    held_.push_back(std::move(batch));
    // At most one: the smallest buffer has two slots.
    if (held_.size() > draws_.next_below(2)) drop_oldest();
  }
  void finish() {
    while (!held_.empty()) drop_oldest();
    for (const cuda::Stream& stream : streams_) stream.synchronize();
  }
  std::size_t num_wrong(const Seen& expected) const {
    return static_cast<std::size_t>(
        std::count_if(reads_.begin(), reads_.end(),
                      [&](const Read& read) { return expected.at(read.name) != read.bytes; }));
  }
  std::size_t num_reads() const { return reads_.size(); }

 private:
  struct Read {
    std::string name;
    std::string bytes;
  };

  const cuda::Stream& any_stream() { return streams_[draws_.next_below(kNumReaders)]; }
  void read(Batch& batch) {
    const cuda::Stream& stream = any_stream();
    Read& read = reads_.emplace_back(Read{name_of_batch(batch), {}});
    read.bytes.resize(batch.mel().size_bytes());
    batch.wait(stream);
    gpu_.launch(stream, [&bytes = read.bytes, from = batch.mel().data] {
      std::memcpy(bytes.data(), from, bytes.size());
    });
  }
  void drop_oldest() {
    if (draws_.next_below(2) == 0) held_.front().release(any_stream());
    held_.pop_front();
  }

  SimulatedGpu& gpu_;
  KeyedDraws draws_;
  std::vector<cuda::Stream> streams_;
  std::deque<Read> reads_;
  std::deque<Batch> held_;
};

struct Reads {
  std::size_t num = 0;
  std::size_t num_wrong = 0;
};

Reads consume(SimulatedGpu& gpu, SlotPayload payload, std::uint64_t seed, const Seen& expected) {
  // Batches of 4,000 frames: that many places in a batch, and four samples to each.
  const std::int64_t sane_end = payload == SlotPayload::kRaggedPcm ? 16'100 : 4'001;
  constexpr unsigned kSizes[] = {2, 3, 8};
  FeedSetup setup = synthetic_setup(std::make_shared<SyntheticSource>(speech_like_rows(60)));
  setup.device = simulated_device(
      gpu, {.payload = payload, .buffer_size = kSizes[seed % 3], .sane_end = sane_end});
  Feed feed(std::move(setup));
  Consumer consumer(gpu, seed);
  for (int epoch = 0; epoch < 3; ++epoch) {
    while (auto batch = feed.next()) consumer.take(std::move(*batch));
  }
  consumer.finish();
  return {consumer.num_reads(), consumer.num_wrong(expected)};
}

struct Mistake {
  const char* name;
  SlotPayload payload;
  SimulatedGpu::Edge edge;
  bool without_host_waits = false;
};
const std::array kMistakes{
    Mistake{"KernelsDoNotWaitForTheCopy", SlotPayload::kRaggedPcm, {kCopies, kKernels}},
    Mistake{"TheCopyDoesNotWaitForKernelsThatReadTheStagingMemory",
            SlotPayload::kRaggedPcm,
            {kKernels, kCopies}},
    Mistake{"TheConsumerDoesNotWaitForTheKernels", SlotPayload::kRaggedMel, {kKernels, kConsumer}},
    Mistake{"TheConsumerDoesNotWaitForTheCopy", SlotPayload::kPaddedMel, {kCopies, kConsumer}},
    Mistake{"TheCopyDoesNotWaitForTheConsumer", SlotPayload::kPaddedMel, {kConsumer, kCopies}},
    Mistake{"TheCopyDoesNotWaitForThePaddingOfABatchThatNobodyWaitedFor",
            SlotPayload::kRaggedMel,
            {kKernels, kCopies}},
    Mistake{"TheCopyDoesNotWaitForTheLastOfSeveralReadingStreams",
            SlotPayload::kRaggedMel,
            {kConsumer + kNumReaders - 1, kCopies}},
    Mistake{"HostMemoryIsUsedAgainBeforeItIsCopied", SlotPayload::kPaddedMel, {-1, -1}, true},
};

class UploaderHazardTest : public testing::TestWithParam<Mistake> {};

TEST_P(UploaderHazardTest, IsNoticedWhenMadeAndAbsentOtherwise) {
  const Mistake& mistake = GetParam();
  if (kUnderThreadSanitizer && mistake.without_host_waits) {
    GTEST_SKIP() << "this mistake is a data race of the host, which ThreadSanitizer reports itself";
  }
  const Seen expected = host_batches();
  int num_noticed = 0;
  // Threads of the host decide, too, whether a mistake shows: more seeds where none did yet.
  for (std::uint64_t seed = 1; seed <= 30 || (num_noticed == 0 && seed <= 300); ++seed) {
    SimulatedGpu sound({.seed = seed});
    const Reads reads = consume(sound, mistake.payload, seed, expected);
    ASSERT_EQ(reads.num_wrong, 0U) << "of " << reads.num << ", seed " << seed;
    ASSERT_GT(reads.num, 0U);
    SimulatedGpu broken({.seed = seed});
    broken.forget_edge(mistake.edge);
    if (mistake.without_host_waits) broken.forget_host_waits();
    num_noticed += consume(broken, mistake.payload, seed, expected).num_wrong > 0 ? 1 : 0;
  }
  EXPECT_GT(num_noticed, 0);
}

INSTANTIATE_TEST_SUITE_P(Mistakes, UploaderHazardTest, testing::ValuesIn(kMistakes),
                         [](const auto& made) { return std::string(made.param.name); });

void PrintTo(const Mistake& mistake, std::ostream* out) { *out << mistake.name; }

}  // namespace
}  // namespace stoker::feed
