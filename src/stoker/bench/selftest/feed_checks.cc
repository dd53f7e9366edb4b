#include "stoker/bench/selftest/feed_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "stoker/base/clock.h"
#include "stoker/base/cpu_count.h"
#include "stoker/base/number_text.h"
#include "stoker/base/progress.h"
#include "stoker/cache/build/precompute.h"
#include "stoker/cache/maintain/verify.h"
#include "stoker/data/voice/data_set_maker.h"
#include "stoker/feed/open_feed.h"
#include "stoker/observe/batch_source.h"
#include "stoker/observe/feed_consumer.h"
#include "stoker/observe/statistics.h"

namespace stoker::bench {
namespace {

constexpr std::uint64_t kNumClips = 24;
constexpr std::int64_t kBatchSize = 4;
constexpr std::size_t kFolderBytes = std::size_t{4} << 20U;
constexpr unsigned kManyWorkers = 4;

std::vector<std::string> digests_of(feed::Feed& feed, const SelftestPlace& place,
                                    std::size_t most = ~std::size_t{0}) {
  std::vector<std::string> digests;
  while (digests.size() < most) {
    const std::optional<feed::Batch> batch = feed.next(place.stop);
    if (!batch) break;
    digests.push_back(batch->content_digest().hex());
  }
  return digests;
}

feed::OpenedFeed open(const SelftestPlace& place, const config::Settings& settings,
                      const std::optional<std::string>& state = {}) {
  return feed::open_feed(settings,
                         {.io = place.io, .state = state, .num_epochs = 1, .stop = place.stop});
}

// One byte in the middle of the first shard becomes another; twice: itself again.
void flip_byte(const SelftestPlace& place) {
  const std::string path = place.cache() + "/shard-00000.stk";
  const File file = open_file(*place.io, path, OpenFor::kReadWrite).take_or_raise();
  const std::uint64_t at = file.info().take_or_raise().size_bytes / 2;
  std::byte value{};
  static_cast<void>(file.read_at({&value, 1}, at).take_or_raise());
  value ^= std::byte{0x40};
  file.write_at({&value, 1}, at).take_or_raise();
}

cache::VerifyReport verify(const SelftestPlace& place) {
  const File folder = open_file(*place.io, place.cache(), OpenFor::kFolder).take_or_raise();
  return cache::verify_bytes(folder, {.stop = place.stop});
}

void build(const SelftestPlace& place) {
  cache::PrecomputeOptions options;
  options.num_workers = count_cpus().allowed;
  options.stop = place.stop;
  static_cast<void>(cache::precompute(selftest_settings(place), *place.io, options));
}

}  // namespace

config::Settings selftest_settings(const SelftestPlace& place) {
  config::Settings settings;
  settings.run.device = "cpu";
  settings.data.path = place.data();
  settings.cache.dir = place.cache();
  settings.batch.batch_size = kBatchSize;
  settings.batch.batch_frames = {};
  settings.loader.num_workers = 1;
  settings.loader.preprocessing_mode = config::PreprocessingMode::kPrecompute;
  return settings;
}

std::string check_folder(const SelftestPlace& place) {
  make_folders(*place.io, place.folder).take_or_raise();
  const File folder = open_file(*place.io, place.folder, OpenFor::kFolder).take_or_raise();
  const std::vector<std::byte> bytes(kFolderBytes, std::byte{7});
  const Stopwatch watch;
  publish_file(folder, "probe", bytes).take_or_raise();
  const double seconds = watch.seconds();
  const File file = open_beneath(folder, "probe", OpenFor::kRead).take_or_raise();
  expect(read_whole(file, 2 * kFolderBytes).take_or_raise() == bytes, "the bytes that were written",
         "others");
  std::uint64_t free_bytes = 0;
  place.io->free_space(folder.handle(), free_bytes);
  return fmt::format("{}, written at {:.0f} MB/s, {} free", place.folder,
                     static_cast<double>(kFolderBytes) / 1e6 / std::max(seconds, 1e-9),
                     bytes_text(free_bytes));
}

std::string check_voice(const SelftestPlace& place) {
  const data::voice::MakeReport made =
      data::voice::make_data_set(
          *place.io,
          {.out = place.data(),
           .num_utterances = kNumClips,
           .num_speakers = 2,
           .lengths = data::voice::parse_lengths("uniform:1-3").take_or_raise(),
           .num_workers = count_cpus().allowed},
          place.stop, no_progress())
          .take_or_raise();
  expect(made.num_made == kNumClips, grouped(kNumClips) + " clips", grouped(made.num_made));
  return fmt::format("{} clips, {:.0f} s of sound", made.num_made, made.audio_s);
}

std::string check_cache(const SelftestPlace& place) {
  build(place);
  const cache::VerifyReport good = verify(place);
  expect(good.is_good() && good.checked > 0, "a cache without a fault",
         fmt::format("{} of {} records bad", good.num_bad(), good.checked));
  flip_byte(place);
  const cache::VerifyReport bad = verify(place);
  flip_byte(place);  // back again
  expect(!bad.is_good(), "the changed byte to be found", "no fault");
  return fmt::format("{} records, {}; a changed byte was found", good.checked,
                     bytes_text(good.size_bytes));
}

std::string check_workers(const SelftestPlace& place) {
  std::optional<std::vector<std::string>> expected;
  for (const unsigned num_workers : {0U, 1U, kManyWorkers}) {
    config::Settings settings = selftest_settings(place);
    settings.loader.num_workers = num_workers;
    feed::OpenedFeed opened = open(place, settings);
    const std::vector<std::string> found = digests_of(opened.feed, place);
    if (!expected) expected = found;
    expect(found == *expected, "the batches of 0 workers",
           fmt::format("others with {}", num_workers));
  }
  expect(expected->size() > 2, "several batches", grouped(expected->size()));
  return fmt::format("0, 1 and {} workers: {} equal batches", kManyWorkers, expected->size());
}

std::string check_resume(const SelftestPlace& place) {
  const config::Settings settings = selftest_settings(place);
  feed::OpenedFeed whole = open(place, settings);
  const std::vector<std::string> expected = digests_of(whole.feed, place);
  const std::size_t middle = expected.size() / 2;
  std::string state;
  {
    feed::OpenedFeed dropped = open(place, settings);
    static_cast<void>(digests_of(dropped.feed, place, middle));
    state = dropped.feed.state();
  }
  feed::OpenedFeed resumed = open(place, settings, state);
  const std::vector<std::string> found = digests_of(resumed.feed, place);
  expect(std::equal(found.begin(), found.end(),
                    expected.begin() + static_cast<std::ptrdiff_t>(middle), expected.end()),
         "the batches after the one it stopped at", "others");
  return fmt::format("stopped after {} of {} batches, went on with the same bytes", middle,
                     expected.size());
}

std::string check_stability(const SelftestPlace& place) {
  constexpr double kStepS = 0.01, kSeconds = 1;
  constexpr double kAllowed = 0.5;  // of the mean interval, beyond what the machine itself does
  const config::Settings settings = selftest_settings(place);
  feed::OpenedFeed opened = feed::open_feed(settings, {.io = place.io, .stop = place.stop});
  const observe::ConsumerOptions consumer{
      .step_s = kStepS, .warm_batches = 8, .seconds = kSeconds, .stop = place.stop};
  observe::FeedSource source(opened.feed);
  const observe::ConsumerReport fed = observe::run_consumer(source, consumer);
  observe::MemorySource memory(opened.feed, 4, place.stop);
  const observe::ConsumerReport still = observe::run_consumer(memory, consumer);
  const double cv = observe::summarize_intervals(fed.intervals_s).cv();
  const double own = observe::summarize_intervals(still.intervals_s).cv();
  expect(cv <= kAllowed + 2 * own, "batches as even as from memory",
         fmt::format("std/mean {:.3f}, from memory {:.3f}", cv, own));
  return fmt::format("steps of 10 ms: std/mean {:.3f} (from memory {:.3f}), stall {:.2f} %", cv,
                     own, 100 * fed.stall_share());
}

}  // namespace stoker::bench
