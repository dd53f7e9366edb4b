// Sound files that change after they were indexed: each row comes empty and is recorded, nothing
// ends, nothing wrong is delivered.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "stoker/audio/file/wav_writer.h"
#include "stoker/feed/errors.h"
#include "stoker/feed/open_feed.h"
#include "tests/doubles/fault_io.h"
#include "tests/feed/small_data_set.h"

namespace stoker::feed {
namespace {

using Mode = config::PreprocessingMode;
namespace fs = std::filesystem;

struct Found {
  std::map<std::string, int> frames;
  std::map<std::string, std::string> errors;  // code by id
};

// Nothing is read before next(), so `change` comes between the index and the first reading.
Found run(config::Settings settings, const std::function<void()>& change, Io& io = system_io()) {
  settings.loader.num_workers = 0;
  settings.loader.read_ahead_batches = 0;
  OpenedFeed opened = open_feed(settings, {.io = &io});
  change();
  Found found;
  while (const auto batch = opened.feed.next()) {
    for (std::size_t at = 0; at < batch->num_rows(); ++at) {
      if (!batch->id(at).empty()) found.frames[std::string(batch->id(at))] = batch->mel_len()[at];
    }
  }
  for (const BadRow& bad : opened.feed.bad_rows()) found.errors[bad.id] = bad.error.code->name;
  return found;
}

// Another value in the middle of the samples; size and header stay.
void change_sample(const std::string& path) {
  const auto before = fs::last_write_time(path);
  {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(4000);
    file.write("\x01\x23\x45\x67", 4);
  }
  // A clock tick may be coarser than this test.
  if (fs::last_write_time(path) == before) {
    fs::last_write_time(path, before + std::chrono::milliseconds(20));
  }
}

void touch(const std::string& path) {
  fs::last_write_time(path, fs::last_write_time(path) + std::chrono::seconds(5));
}

TEST(ChangedSourceTest, EveryKindOfChangeLeavesAnEmptyRow) {
  struct Case {
    const char* name;
    std::function<void(const std::string& path)> change;
  };
  for (const Case& row : {
           Case{"samples changed in place", change_sample},
           Case{"a file of its own in its place",
                [](const std::string& path) {
                  fs::copy_file(path, path + ".new");
                  fs::rename(path + ".new", path);
                  change_sample(path);
                }},
           Case{"a pipe",
                [](const std::string& path) {
                  fs::remove(path);
                  ASSERT_EQ(mkfifo(path.c_str(), 0644), 0);
                }},
           Case{"a folder",
                [](const std::string& path) {
                  fs::remove(path);
                  fs::create_directory(path);
                }},
           Case{"gone", [](const std::string& path) { fs::remove(path); }},
           Case{"empty", [](const std::string& path) { std::ofstream(path, std::ios::trunc); }},
       }) {
    SCOPED_TRACE(row.name);
    SmallDataSet set(10);
    set.settings().loader.preprocessing_mode = Mode::kRuntime;
    const std::string id = fs::path(set.wav(4)).stem();
    const Found found = run(set.settings(), [&] { row.change(set.wav(4)); });
    EXPECT_EQ(found.frames.size(), 10U);
    EXPECT_EQ(found.frames.at(id), 0);
    EXPECT_EQ(found.errors.size(), 1U);
    EXPECT_TRUE(found.errors.contains(id));
    for (const auto& [other, frames] : found.frames) EXPECT_EQ(frames == 0, other == id) << other;
  }
}

TEST(ChangedSourceTest, AFileThatThisUserMayNoLongerReadLeavesAnEmptyRow) {
  SmallDataSet set(10);
  set.settings().loader.preprocessing_mode = Mode::kRuntime;
  FaultIo io;
  const Found found = run(
      set.settings(),
      [&] { io.plan({.at_call = 3, .calls = {IoCall::kOpen}, .error_number = EACCES}); }, io);
  ASSERT_EQ(found.errors.size(), 1U);
  EXPECT_EQ(found.errors.begin()->second, kFeedFileChanged.name);
  EXPECT_EQ(found.frames.at(found.errors.begin()->first), 0);
}

TEST(ChangedSourceTest, WithACacheTheContentDecidesAndATouchIsNothing) {
  SmallDataSet set(10);
  set.settings().batch.with_audio = true;  // mels are cached, samples come from the files
  set.build_cache();
  for (const Mode mode : {Mode::kPrecompute, Mode::kAuto}) {
    set.settings().loader.preprocessing_mode = mode;
    const Found touched = run(set.settings(), [&] { touch(set.wav(4)); });
    EXPECT_TRUE(touched.errors.empty());
    EXPECT_GT(touched.frames.at(fs::path(set.wav(4)).stem()), 0);
  }
  const Found changed = run(set.settings(), [&] { change_sample(set.wav(4)); });
  EXPECT_EQ(changed.errors.size(), 1U);
  EXPECT_EQ(changed.frames.at(fs::path(set.wav(4)).stem()), 0);
}

// Rows that are parts of one long file, as in a manifest with offset and duration.
class Segments : public testing::Test {
 protected:
  Segments() {
    put(60'000);
    std::ofstream manifest(folder_ / "train.jsonl");
    for (int i = 0; i < 5; ++i) {
      manifest << R"({"audio_filepath": "long.wav", "text": "part )" << i << R"(", "offset": )"
               << 0.5 * i << R"(, "duration": 0.45, "id": "part)" << i << "\"}\n";
    }
    settings_.data.path = folder_ / "train.jsonl";
    settings_.loader.preprocessing_mode = Mode::kRuntime;
    settings_.data.max_bad_rows = 100;
  }

  void put(std::size_t num_samples) const {
    std::vector<std::int16_t> samples(num_samples);
    for (std::size_t i = 0; i < num_samples; ++i) {
      samples[i] = static_cast<std::int16_t>(i * 37 % 5000);
    }
    fs::remove(folder_ / "long.wav");
    const File root = open_file(system_io(), folder_.path(), OpenFor::kFolder).take_or_raise();
    audio::write_wav_pcm16(root, "long.wav", samples, 22050).take_or_raise();
  }

  ScratchFolder folder_;
  config::Settings settings_;
};

TEST_F(Segments, AShorterFileInItsPlaceIsNoAbort) {
  const Found found = run(settings_, [this] { put(20'000); });
  EXPECT_EQ(found.frames.size(), 5U);
  EXPECT_EQ(found.errors.size(), 5U);
  for (const auto& [id, frames] : found.frames) EXPECT_EQ(frames, 0) << id;
}

TEST_F(Segments, ACacheBuiltFromAFileThatBecameShorterRejectsItsRows) {
  const data::Index index = data::open_index(data::index_options_of(settings_), system_io());
  const data::FeatureSpec spec(settings_, index, SimdLevel::kScalar);
  const cache::CacheTarget target(settings_, spec, system_io());
  put(20'000);
  cache::MadeRecord made;
  std::size_t num_refused = 0;
  for (const cache::RecordMaker* maker : target.target().makers) {
    if (maker->kind() != cache::RecordKind::kMel) continue;
    const auto worker = maker->make_worker();
    for (std::size_t row = 0; row < maker->num_rows(); ++row) {
      if (!worker->make(row, made)) ++num_refused;
    }
  }
  EXPECT_EQ(num_refused, 4U);  // the first part still fits
}

}  // namespace
}  // namespace stoker::feed
