// Which cache a list of utterances gets, and what makes its records stale: segments, several lists
// of one folder, shapes that no settings give, and places that cannot be.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "stoker/audio/file/wav_writer.h"
#include "stoker/cache/build/precompute.h"
#include "stoker/cache/maintain/cache_gc.h"
#include "stoker/cache/maintain/verify.h"
#include "stoker/cache/read/cache_location.h"
#include "tests/cache/format/shard_fixture.h"
#include "tests/cache/small_world.h"

namespace stoker::cache {
namespace {

namespace fs = std::filesystem;

class CacheLocationTest : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(temp_.file("data/wavs"));
    for (std::size_t i = 0; i < 6; ++i) write_wav("r" + std::to_string(i), 8000 + 700 * i);
    write_wav("long", 120000);
  }
  void write_wav(const std::string& id, std::size_t num_samples) {
    std::vector<std::int16_t> samples(num_samples);
    for (std::size_t i = 0; i < samples.size(); ++i)
      samples[i] = static_cast<std::int16_t>((i * (i / 1000 + 37)) % 9000);
    const File folder =
        open_file(system_io(), temp_.file("data/wavs"), OpenFor::kFolder).take_or_raise();
    audio::write_wav_pcm16(folder, id + ".wav", samples, 22050).take_or_raise();
  }
  // Rows [first, last) of the files, as a manifest.
  void write_list(const std::string& name, int first, int last) {
    std::ofstream out(temp_.file("data/" + name));
    for (int i = first; i < last; ++i)
      out << R"({"id":"r)" << i << R"(","audio_filepath":"wavs/r)" << i
          << R"(.wav","text":"Chapter )" << i << " begins.\"}\n";
  }
  void write_segments(double shift_s, double duration_s) {
    std::ofstream out(temp_.file("data/segments.jsonl"));
    for (int i = 0; i < 4; ++i)
      out << R"({"id":"s)" << i << R"(","audio_filepath":"wavs/long.wav","offset":)"
          << 0.7 * i + shift_s << R"(,"duration":)" << duration_s << R"(,"text":"Part )" << i
          << ".\"}\n";
  }
  config::Settings of(const std::string& name) const {
    config::Settings settings;
    settings.data.path = name.empty() ? temp_.file("data") : temp_.file("data/" + name);
    return settings;
  }
  static PrecomputeReport run(const config::Settings& settings) {
    return precompute(settings, system_io(), {.num_workers = 2});
  }
  static VerifyReport verify(const config::Settings& settings) {
    const WantedData data(settings, system_io(), {});
    return verify_cache(open_file(system_io(), data.place.folder, OpenFor::kFolder).take_or_raise(),
                        data.target(), {});
  }

  TempFolder temp_;
};

TEST_F(CacheLocationTest, MovedAndLongerSegmentsAreNoticed) {
  const config::Settings settings = of("segments.jsonl");
  write_segments(0, 0.5);
  const Digest128 before = WantedData(settings, system_io(), {}).index.data_digest();
  EXPECT_EQ(run(settings).build.rows_built, 4U);
  write_segments(1.25, 0.5);
  EXPECT_NE(WantedData(settings, system_io(), {}).index.data_digest(), before);
  EXPECT_EQ(verify(settings).stale, 4U);
  EXPECT_EQ(run(settings).build.kinds.at("mel").built, 4U);
  write_segments(1.25, 0.75);
  EXPECT_EQ(verify(settings).stale, 4U);
  EXPECT_EQ(run(settings).build.kinds.at("mel").built, 4U);
  EXPECT_EQ(run(settings).build.rows_built, 0U);
  EXPECT_TRUE(verify(settings).is_good());
}

TEST_F(CacheLocationTest, ListsOfOneFolderHaveCachesOfTheirOwn) {
  write_list("train.jsonl", 0, 4);
  write_list("val.jsonl", 4, 6);
  const PrecomputeReport train = run(of("train.jsonl"));
  const PrecomputeReport val = run(of("val.jsonl"));
  EXPECT_NE(train.place.folder, val.place.folder);
  EXPECT_EQ(run(of("train.jsonl")).build.rows_built, 0U);
  EXPECT_EQ(run(of("val.jsonl")).build.rows_built, 0U);
  const auto unused = [&] {
    return find_unused(system_io(), caches_of_data(of("train.jsonl"), system_io()),
                       {train.place.folder});
  };
  EXPECT_TRUE(unused().empty()) << unused().front().path;
  fs::remove(temp_.file("data/val.jsonl"));
  ASSERT_EQ(unused().size(), 1U);
  EXPECT_EQ(unused().front().path, val.place.folder);
  EXPECT_EQ(unused().front().why, "its list of utterances is gone");
}

TEST_F(CacheLocationTest, TheListOfAFolderKeepsThePlainPlace) {
  write_list("manifest.jsonl", 0, 6);
  const PrecomputeReport whole = run(of(""));
  EXPECT_EQ(fs::path(whole.place.folder).filename().string().size(), 16U);
  EXPECT_EQ(run(of("manifest.jsonl")).place.folder, whole.place.folder);
  config::Settings part = of("");
  for (const config::Split split : {config::Split::kTrain, config::Split::kEval}) {
    part.data.split = split;
    EXPECT_NE(run(part).place.folder, whole.place.folder);
  }
  EXPECT_EQ(run(of("")).build.rows_built, 0U);
}

TEST_F(CacheLocationTest, FilesForThePartsNeedNoSeedInTheirName) {
  for (const char* name : {"metadata_train.csv", "metadata_eval.csv"})
    std::ofstream(temp_.file(std::string("data/") + name)) << "r1|One.\n";
  config::Settings settings = of("");
  EXPECT_EQ(list_key(settings, system_io()), "");
  settings.data.split = config::Split::kTrain;
  EXPECT_EQ(list_key(settings, system_io()), "split=train");
  settings.run.seed = 7;
  EXPECT_EQ(list_key(settings, system_io()), "split=train");
  settings.data.train_subset_fraction = 0.5;
  EXPECT_NE(list_key(settings, system_io()), "split=train");
}

TEST_F(CacheLocationTest, AnotherListInAGivenFolderIsRefused) {
  write_list("train.jsonl", 0, 4);
  write_list("val.jsonl", 4, 6);
  config::Settings train = of("train.jsonl");
  config::Settings val = of("val.jsonl");
  train.cache.dir = val.cache.dir = temp_.file("cache");
  run(train);
  try {
    run(val);
    FAIL() << "the other list's records were replaced";
  } catch (const ConfigError& error) {
    EXPECT_EQ(error.error().code->name, "E-CACHE-SETTINGS");
  }
  EXPECT_EQ(run(train).build.rows_built, 0U);
}

TEST_F(CacheLocationTest, NoCacheInsideTheFolderOfSound) {
  write_list("manifest.jsonl", 0, 6);
  for (const char* place : {"data/wavs", "data/wavs/cache", "data/wavs/a/b"}) {
    config::Settings settings = of("");
    settings.cache.dir = temp_.file(place);
    EXPECT_THROW(run(settings), ConfigError) << place;
  }
  EXPECT_FALSE(fs::exists(temp_.file("data/wavs/cache")));
  config::Settings settings = of("");
  settings.cache.dir = temp_.file("data/cache");
  EXPECT_EQ(run(settings).build.rows_built, 6U);
}

TEST_F(CacheLocationTest, SoundThatIsNotOfTheDataSetRefusesNoCacheBelowIt) {
  fs::create_directories(temp_.file("data/work/other"));
  fs::copy(temp_.file("data/wavs/r0.wav"), temp_.file("data/work/loose.wav"));
  write_list("part.jsonl", 0, 2);
  write_list("rest.jsonl", 2, 6);
  config::Settings settings = of("part.jsonl");
  settings.cache.dir = temp_.file("data/work/other/cache");
  EXPECT_EQ(run(settings).build.rows_built, 2U) << "the list is not the data set of that folder";
  const fs::path before = fs::current_path();
  fs::current_path(temp_.file("data"));
  config::Settings cache_alone;
  cache_alone.cache.dir = "work/other/cache";
  EXPECT_NO_THROW(find_cache_location(cache_alone, {}, system_io()));
  fs::current_path(before);
  settings.cache.dir = temp_.file("data/work");
  EXPECT_THROW(run(settings), ConfigError) << "the cache would be among sound files";
}

// Gives the records of another maker in another shape, whole by their CRC.
class Reshaping final : public RecordMaker {
 public:
  using Reshape = std::function<void(MadeRecord&)>;
  Reshaping(const RecordMaker& inner, Reshape reshape)
      : inner_(inner), reshape_(std::move(reshape)) {}
  RecordKind kind() const override { return inner_.kind(); }
  Digest128 settings() const override { return inner_.settings(); }
  std::size_t num_rows() const override { return inner_.num_rows(); }
  std::string_view id(std::size_t row) const override { return inner_.id(row); }
  std::uint64_t expected_bytes(std::size_t row) const override {
    return inner_.expected_bytes(row);
  }
  Result<std::optional<SourceStamp>> stamp(std::size_t row) const override {
    return inner_.stamp(row);
  }
  Result<Digest128> source_digest(std::size_t row) const override {
    return inner_.source_digest(row);
  }
  std::unique_ptr<Worker> make_worker() const override {
    struct Other final : Worker {
      Result<void> make(std::size_t row, MadeRecord& out) override {
        Result<void> made = worker->make(row, out);
        if (made) reshape(out);
        return made;
      }
      std::unique_ptr<Worker> worker;
      Reshape reshape;
    };
    auto other = std::make_unique<Other>();
    other->worker = inner_.make_worker();
    other->reshape = reshape_;
    return other;
  }

 private:
  const RecordMaker& inner_;
  Reshape reshape_;
};

void flatten(MadeRecord& record) {
  record.shape.axes[1] *= record.shape.axes[0];
  record.shape.axes[0] = 1;
}
void take_one_frame(MadeRecord& record) {
  ArrayShape shape = record.shape;
  --shape.axes[0];
  record.reset(shape);
}

TEST_F(CacheLocationTest, RecordsOfAShapeThatNoRowHasAreCorruptAndMadeAgain) {
  write_list("manifest.jsonl", 0, 6);
  for (const auto& reshape : {flatten, take_one_frame}) {
    config::Settings settings = of("");
    settings.cache.dir = temp_.file(reshape == flatten ? "flat" : "short");
    const WantedData data(settings, system_io(), {});
    BuildTarget target = data.target();
    const Reshaping mels(*target.makers.front(), reshape);
    target.makers.front() = &mels;
    fs::create_directories(settings.cache.dir);
    build_cache(open_file(system_io(), settings.cache.dir, OpenFor::kFolder).take_or_raise(),
                target, {});
    const VerifyReport report = verify(settings);
    EXPECT_EQ(report.corrupt, 6U);
    EXPECT_EQ(report.ok_entries, 6U);
    EXPECT_EQ(report.faults.size(), 6U);
    EXPECT_EQ(run(settings).build.kinds.at("mel").built, 6U);
    EXPECT_TRUE(verify(settings).is_good());
  }
}

TEST_F(CacheLocationTest, ACacheBegunWhileThisBuilderWaitedIsGoneOnWithAtItsLevel) {
  if (detect_simd_level() == SimdLevel::kScalar) GTEST_SKIP() << "there is one level only";
  write_list("manifest.jsonl", 0, 6);
  config::Settings settings = of("");
  settings.cache.dir = temp_.file("cache");
  WantedData waiting(settings, system_io(), {});
  const PrecomputeReport first =
      precompute(settings, system_io(), {.begin_at = SimdLevel::kScalar});
  const auto before = files_of(settings.cache.dir);
  EXPECT_EQ(precompute(settings, waiting, system_io(), {}).build.rows_built, 0U);
  EXPECT_EQ(files_of(settings.cache.dir), before) << "the manifest names another numeric path";
}

}  // namespace
}  // namespace stoker::cache
