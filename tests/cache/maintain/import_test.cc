#include "stoker/cache/maintain/import.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "stoker/audio/float16.h"
#include "stoker/base/bytes.h"
#include "stoker/cache/build/cache_lock.h"
#include "stoker/cache/maintain/export.h"
#include "stoker/cache/maintain/legacy_folder.h"
#include "tests/cache/format/shard_fixture.h"
#include "tests/cache/small_world.h"

namespace stoker::cache {
namespace {

class ImportTest : public testing::Test {
 protected:
  void put_tokens(const std::string& path, const std::vector<std::int32_t>& ids) {
    const ArrayShape shape{ElementType::kI32, 1, {static_cast<std::uint32_t>(ids.size())}};
    put(path, encode_npy(shape, std::as_bytes(std::span(ids))));
  }
  void put(const std::string& path, std::span<const std::byte> bytes) {
    const std::string whole = temp_.file(path);
    std::filesystem::create_directories(std::filesystem::path(whole).parent_path());
    write_bytes(whole, bytes);
  }
  // A [frames, mels] array as myxtts stored it: by columns.
  void put_fortran_mel(const std::string& path, std::uint32_t frames, std::uint32_t mels) {
    std::string text = "{'descr': '<f4', 'fortran_order': True, 'shape': (" +
                       std::to_string(frames) + ", " + std::to_string(mels) + "), }";
    text.resize(117, ' ');
    text += '\n';
    std::string file("\x93NUMPY\x01\x00", 8);
    file += static_cast<char>(text.size());
    file += '\0';
    file += text;
    for (std::uint32_t m = 0; m < mels; ++m)
      for (std::uint32_t t = 0; t < frames; ++t) {
        const float value = static_cast<float>(t) + static_cast<float>(m) / 100.0F;
        file.append(reinterpret_cast<const char*>(&value), 4);
      }
    put(path, view_bytes(file));
  }
  BuildReport import(const ImportPlan& plan) {
    make_folders(system_io(), temp_.file("cache")).take_or_raise();
    const File folder = open_file(system_io(), temp_.file("cache"), OpenFor::kFolder).value();
    const CacheLock lock = CacheLock::take(folder, {}).take_or_raise();
    return build_cache(folder, plan.target, {.num_workers = 2});
  }
  Reader reader() { return Reader::open(system_io(), temp_.file("cache")).take_or_raise(); }

  TempFolder temp_;
};

TEST(LegacyNameTest, FolderNamesSayHowTheFilesWereMade) {
  EXPECT_TRUE(parse_tokens_name("tokens_custom_noph_blank_en")->add_blank);
  EXPECT_FALSE(parse_tokens_name("tokens_custom_ph_noblank_fa")->add_blank);
  EXPECT_EQ(parse_tokens_name("tokens_custom_ph_noblank_fa")->language, "fa");
  EXPECT_EQ(parse_mels_name("mels_sr22050_n80_hop256")->hop_samples, 256);
  for (const char* bad : {"tokens", "tokens_custom_x_blank_en", "tokens_custom_ph_blank_"})
    EXPECT_FALSE(parse_tokens_name(bad)) << bad;
  for (const char* bad :
       {"mels", "mels_sr22050_n80", "mels_sr22050_n80_hop256x", "mels_sr-1_n8_hop2"})
    EXPECT_FALSE(parse_mels_name(bad)) << bad;
}

TEST_F(ImportTest, TokensAndFortranMelsComeInAsTheyWere) {
  put_tokens("old/processed/tokens_custom_noph_blank_en/a.npy", {1, 88, 93});
  put_tokens("old/processed/tokens_custom_noph_blank_en/b.npy", {1, 4, 88, 93});
  put_tokens("old/processed/tokens_custom_noph_blank_en/b.npy.tmp.npy", {7});
  put_fortran_mel("old/processed/mels_sr22050_n80_hop256/a.npy", 5, 80);
  const ImportPlan plan = plan_import(system_io(), {.folder = temp_.file("old"), .arrays = {}});
  EXPECT_EQ(plan.num_files, 3U);
  EXPECT_EQ(plan.num_leftovers, 1U);
  const BuildReport report = import(plan);
  EXPECT_EQ(report.kinds.at("tokens").built, 2U);
  const Reader read = reader();
  ReadScratch scratch;
  std::vector<std::int32_t> row(4);
  ASSERT_TRUE(read.read_tokens_into(*read.find(RecordKind::kTokens, "b"), row, scratch).ok());
  EXPECT_EQ(row, (std::vector<std::int32_t>{1, 4, 88, 93}));
  std::vector<float> mel(400);
  ASSERT_TRUE(read.read_mel_into(*read.find(RecordKind::kMel, "a"),
                                 {mel.data(), ElementType::kF32, mel.size(), 0.0F}, scratch)
                  .ok());
  EXPECT_EQ(mel[3 * 80 + 50], audio::f16_value(audio::f16_bits_or_infinity(3.5F)));
}

TEST_F(ImportTest, WrongShapesAreRefusedWithBothShapesShown) {
  put_fortran_mel("old/mels_sr22050_n80_hop256/good.npy", 5, 80);
  put_fortran_mel("old/mels_sr22050_n80_hop256/transposed.npy", 80, 5);
  const BuildReport report =
      import(plan_import(system_io(), {.folder = temp_.file("old"), .arrays = {}}));
  ASSERT_EQ(report.rejects.size(), 1U);
  EXPECT_EQ(report.rejects[0].error.code->name, "E-IMPORT-SHAPE");
  EXPECT_NE(report.rejects[0].error.promised.find("[frames, 80]"), std::string::npos);
  EXPECT_NE(report.rejects[0].error.found.find("[80, 5]"), std::string::npos);
}

TEST_F(ImportTest, AFolderOfBothKindsIsToldApartByContent) {
  put_tokens("old/cached_features/a.npy", {1, 2});
  put_fortran_mel("old/cached_features/b.npy", 4, 80);
  const BuildReport report =
      import(plan_import(system_io(), {.folder = temp_.file("old"), .arrays = {}}));
  EXPECT_EQ(report.kinds.at("tokens").built, 1U);
  EXPECT_EQ(report.kinds.at("mel").built, 1U);
}

TEST_F(ImportTest, NamedArraysOfAnyShapeJoinAndAreExported) {
  const std::vector<double> f0{1.5, 2.5, 3.5};
  put("f0/a.npy", encode_npy({ElementType::kF64, 1, {3}}, std::as_bytes(std::span(f0))));
  const std::vector<float> codes(2 * 3 * 4, 1.0F);
  put("codes/a.npy",
      encode_npy({ElementType::kF32, 3, {2, 3, 4}}, std::as_bytes(std::span(codes))));
  import(plan_import(system_io(), {.folder = "", .arrays = {
                                     {"f0", temp_.file("f0")},
                                     { "codes",
                                       temp_.file("codes") }
                                   }}));
  const ExportReport exported = export_cache(reader(), system_io(), temp_.file("out"), {});
  EXPECT_EQ(exported.num_files, 2U);
  EXPECT_EQ(bytes_of_file(temp_.file("out/f0/a.npy")), bytes_of_file(temp_.file("f0/a.npy")));
  EXPECT_EQ(bytes_of_file(temp_.file("out/codes/a.npy")), bytes_of_file(temp_.file("codes/a.npy")));
}

// Ids of nested data sets and of several sources hold slashes.
TEST_F(ImportTest, ArraysInSubFoldersBelongToIdsWithSlashes) {
  put_tokens("f0/part0/a.npy", {1, 2});
  put_tokens("f0/part0/deeper/b.npy", {3});
  put_tokens("f0/c.npy", {4});
  import(plan_import(system_io(), {.folder = "", .arrays = { { "f0", temp_.file("f0") } }}));
  const Reader cache = reader();
  for (const char* const id : {"part0/a", "part0/deeper/b", "c"})
    EXPECT_TRUE(cache.find(RecordKind::kArray, id, "f0").has_value()) << id;
}

TEST_F(ImportTest, NothingToImportIsSaid) {
  std::filesystem::create_directories(temp_.file("empty"));
  EXPECT_THROW(plan_import(system_io(), {.folder = temp_.file("empty"), .arrays = {}}), DataError);
}

TEST_F(ImportTest, TheOriginalsOwnFilesAreRead) {
  const char* data = std::getenv("STOKER_TEST_DATA");
  if (data == nullptr) GTEST_SKIP() << "STOKER_TEST_DATA names no folder of real files";
  const ImportPlan plan =
      plan_import(system_io(), {.folder = std::string(data) + "/legacy-myxtts", .arrays = {}});
  EXPECT_EQ(plan.num_files, 20U);
  const BuildReport report = import(plan);
  EXPECT_EQ(report.kinds.at("tokens").built, 20U);
  EXPECT_TRUE(report.rejects.empty());
}

}  // namespace
}  // namespace stoker::cache
