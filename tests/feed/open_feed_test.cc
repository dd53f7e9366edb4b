// The feed over real files and caches: every path gives the same bytes, and faults end as they
// should.
#include "stoker/feed/open_feed.h"

#include <gtest/gtest.h>

#include <set>

#include "stoker/base/error.h"
#include "stoker/feed/errors.h"
#include "tests/feed/npy_file.h"
#include "tests/feed/small_data_set.h"

namespace stoker::feed {
namespace {

using Mode = config::PreprocessingMode;

std::vector<std::string> epoch_digests(Feed& feed) {
  std::vector<std::string> found;
  while (const auto batch = feed.next()) found.push_back(batch->content_digest().hex());
  return found;
}

std::vector<std::string> digests_of(const config::Settings& settings) {
  OpenedFeed opened = open_feed(settings);
  return epoch_digests(opened.feed);
}

TEST(OpenFeedTest, FilesCachedMelsAndCachedSamplesGiveTheSameBytes) {
  for (const config::MelDtype dtype : {config::MelDtype::kF16, config::MelDtype::kF32}) {
    SmallDataSet set(40);
    config::Settings settings = set.settings();
    settings.batch.batch_dtype = dtype;
    settings.loader.preprocessing_mode = Mode::kRuntime;
    const std::vector<std::string> from_files = digests_of(settings);
    ASSERT_GE(from_files.size(), 3U);
    for (const config::CacheContent content :
         {config::CacheContent::kMel, config::CacheContent::kPcm}) {
      set.settings().cache.content = content;
      set.settings().cache.dir =
          set.folder() / (content == config::CacheContent::kMel ? "mel" : "pcm");
      set.build_cache();
      config::Settings cached = set.settings();
      cached.batch.batch_dtype = dtype;
      cached.loader.preprocessing_mode = Mode::kPrecompute;
      EXPECT_EQ(digests_of(cached), from_files);
      cached.loader.preprocessing_mode = Mode::kAuto;
      cached.cache.enable_memory_mapping = false;
      EXPECT_EQ(digests_of(cached), from_files);
    }
  }
}

TEST(OpenFeedTest, AutoUsesWhatIsValidAndComputesTheRest) {
  SmallDataSet set(30);
  config::Settings runtime = set.settings();
  runtime.loader.preprocessing_mode = Mode::kRuntime;
  const std::vector<std::string> from_files = digests_of(runtime);
  set.build_cache();
  std::filesystem::copy_file(set.wav(4), set.wav(5),
                             std::filesystem::copy_options::overwrite_existing);
  OpenedFeed opened = open_feed(set.settings());
  EXPECT_FALSE(opened.source->routes()[5].mel.has_value()) << "a stale record is used";
  EXPECT_TRUE(opened.source->routes()[6].mel.has_value());
  EXPECT_EQ(epoch_digests(opened.feed), digests_of(runtime));
  EXPECT_NE(from_files, digests_of(runtime));
}

TEST(OpenFeedTest, AutoCompletesTheCacheMeanwhile) {
  SmallDataSet set(20);
  set.settings().cache.dir = set.folder() / "cache";
  {
    OpenedFeed opened = open_feed(set.settings());
    const Stopwatch watch;
    while (watch.seconds() < 30.0 && !std::filesystem::exists(set.folder() / "cache/config.yaml")) {
      opened.feed.next();
    }
  }
  set.settings().loader.preprocessing_mode = Mode::kPrecompute;
  OpenedFeed cached = open_feed(set.settings());
  set.settings().loader.preprocessing_mode = Mode::kRuntime;
  EXPECT_EQ(epoch_digests(cached.feed), digests_of(set.settings()));
}

TEST(OpenFeedTest, PrecomputeNeedsEveryRow) {
  SmallDataSet set(12);
  set.settings().loader.preprocessing_mode = Mode::kPrecompute;
  try {
    open_feed(set.settings());
    FAIL() << "opened without a cache";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.error().code, &kFeedNotCached);
  }
}

TEST(OpenFeedTest, RebuildSwitchedOffConcernsStaleRecordsOnly) {
  SmallDataSet set(16);
  set.settings().cache.dir = set.folder() / "cache";
  set.settings().cache.auto_rebuild_mel_cache = false;
  set.settings().cache.auto_rebuild_token_cache = false;
  config::Settings runtime = set.settings();
  runtime.loader.preprocessing_mode = Mode::kRuntime;
  const std::vector<std::string> from_files = digests_of(runtime);
  EXPECT_EQ(digests_of(set.settings()), from_files) << "missing records are computed";
  set.build_cache();
  EXPECT_EQ(digests_of(set.settings()), from_files);
  std::filesystem::copy_file(set.wav(4), set.wav(5),
                             std::filesystem::copy_options::overwrite_existing);
  EXPECT_NE(digests_of(runtime), from_files) << "runtime does not read the cache";
  try {
    open_feed(set.settings());
    FAIL() << "a stale record was replaced";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.error().code, &kFeedNotCached);
    EXPECT_NE(failure.error().found.find("1; the first is "), std::string::npos);
  }
}

TEST(OpenFeedTest, AFileThatVanishesLeavesAnEmptyRow) {
  SmallDataSet set(24);
  set.settings().loader.preprocessing_mode = Mode::kRuntime;
  set.settings().loader.num_workers = 0;
  OpenedFeed opened = open_feed(set.settings());
  std::filesystem::remove(set.wav(3));
  std::set<std::string> empty;
  while (const auto batch = opened.feed.next()) {
    for (std::size_t at = 0; at < batch->num_rows(); ++at) {
      if (!batch->id(at).empty() && batch->mel_len()[at] == 0) empty.emplace(batch->id(at));
    }
  }
  EXPECT_EQ(empty, std::set<std::string>{"spk0_1003"});
  ASSERT_EQ(opened.feed.bad_rows().size(), 1U);
  EXPECT_EQ(opened.feed.bad_rows()[0].line, 4U);
}

// Flips one byte in the middle of the largest shard.
void corrupt_a_record(const std::string& cache) {
  std::filesystem::path largest;
  for (const auto& entry : std::filesystem::directory_iterator(cache)) {
    if (entry.path().extension() != ".stk") continue;
    if (largest.empty() || entry.file_size() > std::filesystem::file_size(largest)) {
      largest = entry.path();
    }
  }
  std::fstream shard(largest, std::ios::in | std::ios::out | std::ios::binary);
  const auto middle = static_cast<std::streamoff>(std::filesystem::file_size(largest) / 2);
  shard.seekg(middle);
  const auto byte = static_cast<char>(shard.get() ^ 0x10);
  shard.seekp(middle);
  shard.put(byte);
}

TEST(OpenFeedTest, ACorruptRecordIsMadeAgainFromItsSourceOrEndsTheRun) {
  SmallDataSet set(30);
  const std::string cache = set.build_cache();
  const std::vector<std::string> sound = digests_of(set.settings());
  corrupt_a_record(cache);
  OpenedFeed opened = open_feed(set.settings());
  EXPECT_EQ(epoch_digests(opened.feed), sound);
  ASSERT_EQ(opened.feed.stats().fallbacks.size(), 1U);
  EXPECT_GE(opened.feed.stats().fallbacks[0].count, 1U) << "epochs ahead count too";
  set.settings().run.strict = true;
  OpenedFeed strict = open_feed(set.settings());
  try {
    epoch_digests(strict.feed);
    FAIL() << "a corrupt record passed --strict";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.exit_code(), ExitCode::kStorage);
  }
}

TEST(OpenFeedTest, StateIsRefusedForOtherDataAndOtherSettings) {
  SmallDataSet set(30);
  set.settings().loader.preprocessing_mode = Mode::kRuntime;
  OpenedFeed opened = open_feed(set.settings());
  opened.feed.next();
  const std::string state = opened.feed.state();
  EXPECT_LE(state.size(), kMaxStateBytes);
  EXPECT_NO_THROW(open_feed(set.settings(), {.state = state}));
  config::Settings other = set.settings();
  other.batch.batch_frames = 700;
  try {
    open_feed(other, {.state = state});
    FAIL() << "other order settings were accepted";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.error().code, &kFeedChanged);
    EXPECT_NE(failure.error().found.find("order settings"), std::string::npos);
  }
  std::ofstream(set.folder() / "metadata.csv", std::ios::app) << "spk0_1000|again|again\n";
  std::filesystem::remove(set.wav(7));
  EXPECT_THROW(open_feed(set.settings(), {.state = state}), DataError);
}

TEST(OpenFeedTest, StateIsRefusedForOtherPhones) {
  SmallDataSet set(6);
  set.settings().text.vocabulary = "phonemes";
  const auto write_phones = [&](const char* first) {
    std::ofstream phones(set.folder() / "phonemes.csv");
    for (unsigned i = 0; i < 6; ++i) {
      phones << "spk" << i % 3 << "_" << 1000 + i << "|" << (i == 0 ? first : "a b") << "\n";
    }
  };
  write_phones("a b");
  const std::string state = open_feed(set.settings()).feed.state();
  EXPECT_NO_THROW(open_feed(set.settings(), {.state = state}));
  write_phones("b a");
  try {
    open_feed(set.settings(), {.state = state});
    ADD_FAILURE() << "tokens changed unseen";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.error().code, &kFeedChanged) << failure.what();
  }
}

TEST(OpenFeedTest, SpeakersFilesAndTokensReachTheBatch) {
  SmallDataSet set(12);
  set.settings().rows.enable_multispeaker = true;
  set.settings().batch.with_audio = true;
  OpenedFeed opened = open_feed(set.settings());
  while (const auto batch = opened.feed.next()) {
    for (std::size_t at = 0; at < batch->num_rows(); ++at) {
      if (batch->id(at).empty()) continue;
      EXPECT_EQ(std::to_string(batch->speaker()[at]), std::string(batch->id(at).substr(3, 1)));
      EXPECT_GT(batch->text_len()[at], 10);
      EXPECT_NE(batch->audio_len()[at], 0);
    }
  }
}

TEST(OpenFeedTest, NamedArraysComeWithTheirRows) {
  SmallDataSet set(12);
  std::filesystem::create_directories(set.folder() / "f0");
  for (unsigned i = 0; i < 12; ++i) {
    const std::string id = std::filesystem::path(set.wav(i)).stem();
    write_npy(set.folder() / ("f0/" + id + ".npy"), 3 + i, static_cast<float>(i), "<f4");
  }
  set.settings().cache.arrays = {{"f0", set.folder() / "f0"}};
  set.settings().batch.arrays = {"f0"};
  set.build_cache();
  OpenedFeed opened = open_feed(set.settings());
  std::size_t seen = 0;
  while (const auto batch = opened.feed.next()) {
    const NamedArray f0 = batch->array("f0");
    ASSERT_EQ(f0.shape, (std::array<std::size_t, 3>{batch->num_rows(), 14, 2}));
    for (std::size_t at = 0; at < batch->num_rows(); ++at) {
      if (batch->id(at).empty()) continue;
      const auto number = std::stoul(std::string(batch->id(at).substr(5))) - 1000;
      const auto* values = reinterpret_cast<const float*>(f0.data) + at * 14 * 2;
      EXPECT_EQ(f0.lengths[at], static_cast<std::int32_t>(3 + number));
      EXPECT_EQ(values[2 * (2 + number)], static_cast<float>(number));
      EXPECT_EQ(values[27], number == 11 ? 11.0F : 0.0F);
      ++seen;
    }
  }
  EXPECT_EQ(seen, 12U);
}

TEST(OpenFeedTest, TenLinesAreEnough) {
  SmallDataSet set(20);
  Feed feed = Feed::open({.data = set.folder().path(), .batch_frames = 600});
  std::size_t rows = 0;
  while (auto batch = feed.next()) rows += batch->num_rows();
  EXPECT_GE(rows, 20U);
}

TEST(FeedOptionsTest, WhatIsNotGivenIsTheSettingsDefault) {
  SmallDataSet set(20);
  config::Settings settings;
  settings.data.path = set.folder().path();
  settings.loader.preprocessing_mode = Mode::kRuntime;
  const OpenedFeed opened = open_feed(settings);
  const Feed feed = Feed::open({.data = set.folder().path(), .preprocessing_mode = "runtime"});
  EXPECT_EQ(feed.state(), opened.feed.state());
  EXPECT_EQ(feed.num_batches(), opened.feed.num_batches());
  EXPECT_EQ(feed.num_workers(), opened.feed.num_workers());
}

TEST(FeedOptionsTest, WhatIsGivenReplacesIt) {
  SmallDataSet set(20);
  const std::string path = set.folder().path();
  Feed feed = Feed::open({.data = path, .batch_size = 4, .seed = 7, .num_workers = 0});
  EXPECT_EQ(feed.identity().seed, 7U);
  EXPECT_EQ(feed.num_workers(), 0U);
  EXPECT_LE(feed.next()->num_rows(), 4U);
  EXPECT_THROW(Feed::open({.data = path, .batch_frames = 600, .batch_size = 4}), ConfigError);
  EXPECT_THROW(Feed::open({.data = path, .batch_dtype = "f8"}), ConfigError);
}

}  // namespace
}  // namespace stoker::feed
