// Named arrays from cache and files: one kind, never stale, the same by every route.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <string>

#include "stoker/cache/errors.h"
#include "stoker/feed/errors.h"
#include "stoker/feed/open_feed.h"
#include "tests/feed/npy_file.h"
#include "tests/feed/small_data_set.h"

namespace stoker::feed {
namespace {

constexpr unsigned kRows = 12;
using Mode = config::PreprocessingMode;

// Twelve utterances with an array "f0" each: [3 + i, 2] of value i.
class WithArrays : public testing::Test {
 protected:
  WithArrays() {
    std::filesystem::create_directories(set_.folder() / "f0");
    for (unsigned i = 0; i < kRows; ++i) write(i, static_cast<float>(i));
    set_.settings().cache.arrays = {{"f0", set_.folder() / "f0"}};
    set_.settings().batch.arrays = {"f0"};
    set_.settings().loader.num_workers = 0;
  }

  std::string id(unsigned i) const { return std::filesystem::path(set_.wav(i)).stem(); }
  std::string npy(unsigned i) const { return set_.folder() / ("f0/" + id(i) + ".npy"); }
  void write(unsigned i, float value) const { write_npy(npy(i), 3 + i, value, "<f4"); }

  struct Found {
    std::map<std::string, float> values;  // the first of each row that has one; -1: an empty row
    std::vector<BadRow> bad_rows;
    std::vector<FallbackCount> fallbacks;
  };
  Found run(
      Mode mode, const std::function<void()>& when_open = [] {}) {
    config::Settings settings = set_.settings();
    settings.loader.preprocessing_mode = mode;
    OpenedFeed opened = open_feed(settings);
    when_open();
    Found found;
    while (const auto batch = opened.feed.next()) {
      const NamedArray f0 = batch->array("f0");
      EXPECT_EQ(f0.element, cache::ElementType::kF32);
      for (std::size_t at = 0; at < batch->num_rows(); ++at) {
        if (batch->id(at).empty()) continue;
        const auto* row = reinterpret_cast<const float*>(f0.data) + at * f0.shape[1] * f0.shape[2];
        const auto count = static_cast<std::size_t>(f0.lengths[at]) * 2;
        const std::size_t room = f0.shape[1] * f0.shape[2];
        for (std::size_t i = 0; i < room; ++i) {
          EXPECT_EQ(row[i], i < count ? row[0] : 0.0F) << batch->id(at) << " value " << i;
        }
        found.values[std::string(batch->id(at))] = count > 0 ? row[0] : -1.0F;
      }
    }
    found.bad_rows = opened.feed.bad_rows();
    found.fallbacks = opened.feed.stats().fallbacks;
    return found;
  }

  Error refusal(Mode mode) {
    try {
      run(mode);
    } catch (const Failure& failure) {
      return failure.error();
    }
    ADD_FAILURE() << "nothing was refused";
    return {};
  }

  SmallDataSet set_{kRows};
};

TEST_F(WithArrays, EveryRouteGivesTheSame) {
  const Found from_files = run(Mode::kRuntime);
  EXPECT_EQ(from_files.values.size(), kRows);
  for (unsigned i = 0; i < kRows; ++i) EXPECT_EQ(from_files.values.at(id(i)), i);
  set_.build_cache();
  EXPECT_EQ(run(Mode::kPrecompute).values, from_files.values);
  EXPECT_EQ(run(Mode::kAuto).values, from_files.values);
}

TEST_F(WithArrays, MixedElementTypesAreRefusedWithBothFiles) {
  write_npy(npy(7), 9, 7.0, "<f8");
  for (const Mode mode : {Mode::kRuntime, Mode::kAuto}) {
    const Error error = refusal(mode);
    EXPECT_EQ(error.code, &cache::kNpyMixed);
    EXPECT_NE(error_line(error).find("f64 [9, 2]"), std::string::npos) << error_line(error);
    EXPECT_NE(error_line(error).find(id(7) + ".npy"), std::string::npos) << error_line(error);
    EXPECT_NE(error_line(error).find(id(0) + ".npy"), std::string::npos) << error_line(error);
    EXPECT_NE(error_line(error).find("f32"), std::string::npos) << error_line(error);
  }
  EXPECT_THROW(set_.build_cache(), DataError);
}

TEST_F(WithArrays, StaleArraysAreReadAnewOrRefused) {
  set_.build_cache();
  for (unsigned i = 0; i < kRows; ++i) write(i, static_cast<float>(100 + i));
  const Found found = run(Mode::kAuto);
  for (unsigned i = 0; i < kRows; ++i) EXPECT_EQ(found.values.at(id(i)), 100 + i);
}

TEST_F(WithArrays, PrecomputeRefusesStaleArrays) {
  set_.build_cache();
  write(4, 104);
  const Error error = refusal(Mode::kPrecompute);
  EXPECT_EQ(error.code, &kFeedNotCached);
  EXPECT_NE(error.found.find(id(4)), std::string::npos) << error.found;
  set_.build_cache();
  EXPECT_EQ(run(Mode::kPrecompute).values.at(id(4)), 104);
}

TEST_F(WithArrays, AnArrayThatIsNotFiniteEmptiesItsRowByEveryRoute) {
  write(5, std::nanf(""));
  const Found from_files = run(Mode::kRuntime);
  EXPECT_EQ(from_files.values.at(id(5)), -1.0F);
  ASSERT_EQ(from_files.bad_rows.size(), 1U);
  EXPECT_EQ(from_files.bad_rows[0].error.code, &cache::kNpyValue);
  set_.build_cache();
  const Found cached = run(Mode::kPrecompute);
  EXPECT_EQ(cached.values, from_files.values);
  ASSERT_EQ(cached.bad_rows.size(), 1U);
  EXPECT_EQ(cached.bad_rows[0].id, id(5));
}

TEST_F(WithArrays, AFileThatChangesWhileRunningEmptiesItsRow) {
  const Found found = run(Mode::kRuntime, [this] {
    write(2, 77);                         // the same size
    write_npy(npy(3), 900, 3.0F, "<f4");  // more than the batch has room for
    std::filesystem::remove(npy(6));
    std::filesystem::remove(npy(8));
    std::filesystem::create_directory(npy(8));
  });
  for (const unsigned i : {2U, 3U, 6U, 8U}) EXPECT_EQ(found.values.at(id(i)), -1.0F) << i;
  EXPECT_EQ(found.bad_rows.size(), 4U);
  for (const BadRow& bad : found.bad_rows) {
    EXPECT_EQ(bad.error.code, &kFeedFileChanged) << error_line(bad.error);
  }
  EXPECT_EQ(found.values.at(id(1)), 1.0F);
}

TEST_F(WithArrays, ARowWithoutAFileHasNone) {
  std::filesystem::remove(npy(9));
  EXPECT_EQ(run(Mode::kRuntime).values.at(id(9)), -1.0F);
  set_.build_cache();
  const Found found = run(Mode::kPrecompute);
  EXPECT_EQ(found.values.at(id(9)), -1.0F);
  EXPECT_TRUE(found.bad_rows.empty());
}

TEST_F(WithArrays, ADamagedRecordIsMadeAgainFromItsFile) {
  const std::string folder = set_.build_cache();
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
    std::string bytes((std::istreambuf_iterator<char>(file)), {});
    const float value = 10.0F;  // of row 10: the only payload with this value
    const std::string wanted(reinterpret_cast<const char*>(&value), sizeof(value));
    const std::size_t at = bytes.find(wanted + wanted + wanted);
    if (entry.path().extension() != ".stk" || at == std::string::npos) continue;
    file.clear();
    file.seekp(static_cast<std::streamoff>(at));
    file.put('\x7F');
  }
  const Found found = run(Mode::kPrecompute);
  EXPECT_EQ(found.values.at(id(10)), 10.0F);
  ASSERT_EQ(found.fallbacks.size(), 1U);
  EXPECT_EQ(found.fallbacks.front().from, "cache record");
  set_.settings().run.strict = true;
  EXPECT_EQ(refusal(Mode::kPrecompute).code->exit, ExitCode::kStorage);
}

TEST_F(WithArrays, RecordsWithoutAFolderAreSaidToBeUnchecked) {
  set_.build_cache();
  set_.settings().cache.arrays.clear();
  const Found found = run(Mode::kPrecompute);
  EXPECT_EQ(found.values.at(id(3)), 3.0F);
  ASSERT_EQ(found.fallbacks.size(), 1U);
  EXPECT_EQ(found.fallbacks.front().reason, kFeedArrays.name);
  set_.settings().run.strict = true;
  EXPECT_EQ(refusal(Mode::kPrecompute).code, &kFeedArrays);
  EXPECT_EQ(refusal(Mode::kRuntime).code, &kFeedNotCached);
}

}  // namespace
}  // namespace stoker::feed
