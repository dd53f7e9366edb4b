#include "stoker/cache/build/precompute.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "stoker/audio/file/wav_writer.h"
#include "stoker/cache/maintain/verify.h"
#include "stoker/cache/read/reader.h"
#include "tests/cache/format/shard_fixture.h"
#include "tests/cache/small_world.h"

namespace stoker::cache {
namespace {

constexpr std::size_t kRows = 6;

class PrecomputeTest : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(temp_.file("data/wavs"));
    write_metadata("");
    for (std::size_t i = 0; i < kRows; ++i) write_wav(i, 1.0);
    settings_.data.path = temp_.file("data");
  }
  void write_metadata(const std::string& added) {
    std::ofstream out(temp_.file("data/metadata.csv"));
    for (std::size_t i = 0; i < kRows; ++i)
      out << "r" << i << "|Chapter " << i << " begins" << (i == 2 ? added : "") << ".\n";
  }
  void write_wav(std::size_t row, double gain) {
    std::vector<std::int16_t> samples(8000 + 700 * row);
    for (std::size_t i = 0; i < samples.size(); ++i)
      samples[i] = static_cast<std::int16_t>(gain * static_cast<double>((i * (row + 37)) % 9000));
    const std::string name = "r" + std::to_string(row) + ".wav";
    std::filesystem::remove(temp_.file("data/wavs/" + name));
    const File folder =
        open_file(system_io(), temp_.file("data/wavs"), OpenFor::kFolder).take_or_raise();
    audio::write_wav_pcm16(folder, name, samples, 22050).take_or_raise();
  }
  PrecomputeReport run(Overwrite overwrite = Overwrite::kNo) {
    PrecomputeOptions options;
    options.num_workers = 2;
    options.overwrite = overwrite;
    options.say = [this](const std::string& line) { said_ += line + "\n"; };
    return precompute(settings_, system_io(), options);
  }
  VerifyReport verify() {
    const WantedData data(settings_, system_io(), {});
    const File folder = open_file(system_io(), data.place.folder, OpenFor::kFolder).take_or_raise();
    return verify_cache(folder, data.target(), {});
  }

  TempFolder temp_;
  config::Settings settings_;
  std::string said_;
};

TEST_F(PrecomputeTest, BuildsBesideTheDataAndReusesEverythingTheSecondTime) {
  const PrecomputeReport first = run();
  EXPECT_EQ(first.counts.accepted, kRows);
  EXPECT_EQ(first.build.rows_built, kRows);
  EXPECT_EQ(first.place.folder.find(temp_.file("data/.stoker/")), 0U);
  for (const char* name : {"manifest.json", "config.yaml", "rejects.jsonl", "sources.bin", "lock"})
    EXPECT_TRUE(std::filesystem::exists(first.place.folder + "/" + name)) << name;
  const PrecomputeReport again = run();
  EXPECT_EQ(again.build.rows_built, 0U);
  EXPECT_EQ(again.build.rows_reused, kRows);
  EXPECT_TRUE(verify().is_good());
}

TEST_F(PrecomputeTest, TwoFoldersHaveTheSameBytes) {
  settings_.cache.dir = temp_.file("one");
  run();
  settings_.cache.dir = temp_.file("two");
  settings_.loader.num_workers = 7;
  run();
  EXPECT_EQ(files_of(temp_.file("one")), files_of(temp_.file("two")));
}

TEST_F(PrecomputeTest, ChangedSettingsMakeExactlyTheRightEntriesStale) {
  settings_.cache.dir = temp_.file("cache");
  run();
  const config::Settings before = settings_;

  settings_.features.hop_samples = 200;
  EXPECT_EQ(verify().stale, kRows);
  EXPECT_EQ(verify().ok_entries, kRows);
  settings_ = before;

  settings_.features.preset = "tacotron2";
  EXPECT_EQ(verify().stale, kRows);
  settings_ = before;

  settings_.text.cleaner = "basic_cleaners";
  EXPECT_EQ(verify().stale, kRows);
  EXPECT_EQ(verify().ok_entries, kRows);
  settings_ = before;

  write_metadata(" again");
  EXPECT_EQ(verify().stale, 1U);
  write_metadata("");
  EXPECT_TRUE(verify().is_good());

  write_wav(4, 0.5);
  EXPECT_EQ(verify().stale, 1U);
}

TEST_F(PrecomputeTest, OtherSettingsInAGivenFolderAreRefusedWithATable) {
  settings_.cache.dir = temp_.file("cache");
  run();
  settings_.features.hop_samples = 200;
  try {
    run();
    FAIL() << "another hop was not noticed";
  } catch (const ConfigError& error) {
    EXPECT_EQ(error.error().code->name, "E-CACHE-SETTINGS");
  }
  EXPECT_NE(said_.find("hop"), std::string::npos);
  const PrecomputeReport report = run(Overwrite::kYes);
  EXPECT_EQ(report.build.kinds.at("mel").built, kRows);
  EXPECT_EQ(report.build.kinds.at("tokens").built, 0U);
}

TEST_F(PrecomputeTest, ACleanerChangeBesideTheDataKeepsTheMels) {
  run();
  settings_.text.cleaner = "basic_cleaners";
  const PrecomputeReport report = run();
  EXPECT_EQ(report.build.kinds.at("mel").built, 0U);
  EXPECT_EQ(report.build.kinds.at("tokens").built, kRows);
}

TEST_F(PrecomputeTest, PlacesThatCannotBeAreRefusedBeforeAnyWork) {
  for (const std::string& place : {std::string("/"), temp_.file("data")}) {
    settings_.cache.dir = place;
    EXPECT_THROW(run(), ConfigError) << place;
  }
}

TEST_F(PrecomputeTest, SamplesCanBeStoredBesideTheMels) {
  settings_.cache.content = config::CacheContent::kBoth;
  const PrecomputeReport report = run();
  EXPECT_EQ(report.build.kinds.at("pcm").built, kRows);
  const Reader reader = Reader::open(system_io(), report.place.folder).take_or_raise();
  EXPECT_EQ(reader.info(reader.record(RecordKind::kPcm, 1)).shape.axes[0], 8700U);
  settings_.cache.content = config::CacheContent::kMel;
  EXPECT_EQ(run().build.rows_built, 0U);
  EXPECT_EQ(
      Reader::open(system_io(), report.place.folder).take_or_raise().num_records(RecordKind::kPcm),
      kRows);
}

TEST_F(PrecomputeTest, RealSpeechInMixedFormatsIsBuiltAndVerified) {
  const char* data = std::getenv("STOKER_TEST_DATA");
  if (data == nullptr) GTEST_SKIP() << "STOKER_TEST_DATA names no folder of real files";
  settings_.data.path = std::string(data) + "/ljspeech-mini";
  settings_.cache.dir = temp_.file("real");
  const PrecomputeReport report = run();
  EXPECT_EQ(report.counts.accepted, report.build.rows_built);
  EXPECT_GT(report.build.rows_built, 20U);
  EXPECT_TRUE(verify().is_good());
}

}  // namespace
}  // namespace stoker::cache
