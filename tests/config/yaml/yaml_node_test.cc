#include "stoker/config/yaml/yaml_node.h"

#include <gmock/gmock.h>

#include <ctime>

#include "stoker/config/errors.h"
#include "tests/config/load_from_text.h"

namespace stoker::config {
namespace {

struct BadText {
  std::string name;
  std::string text;
  std::string code;
  std::uint64_t line;    // 0: not looked at
  std::uint64_t column;  // 0: not looked at
};

class BadYamlTest : public testing::TestWithParam<BadText> {};

TEST_P(BadYamlTest, IsRefusedWithItsPlace) {
  const BadText& bad = GetParam();
  const Error error = load_error(bad.text);
  EXPECT_EQ(code_of(error), bad.code) << error.found;
  if (bad.line != 0) {
    EXPECT_EQ(error.place.line, bad.line);
  }
  if (bad.column != 0) {
    EXPECT_EQ(error.place.column, bad.column);
  }
}

INSTANTIATE_TEST_SUITE_P(
    RowsD1D2D3D7, BadYamlTest,
    testing::Values(
        BadText{"D1DeepLists", "data: " + std::string(100'000, '['), "E-CONFIG-DEPTH", 1, 0},
        BadText{"D1DeepMaps", "data: " + std::string(100'000, '{'), "E-CONFIG-DEPTH", 1, 0},
        BadText{"D2Anchor", "data: &a\n  path: x\n", "E-CONFIG-ANCHOR", 1, 0},
        BadText{"D2Alias", "seed: &a 1\ndevice: *a\n", "E-CONFIG-ANCHOR", 1, 0},
        BadText{"D2CyclicAlias", "data: &a [*a]\n", "E-CONFIG-ANCHOR", 1, 0},
        BadText{"D2Tag", "seed: !!int \"3\"\n", "E-CONFIG-ANCHOR", 1, 0},
        BadText{"D3DuplicateKey", "data:\n  path: a\n  batch_size: 4\n  path: b\n",
                "E-CONFIG-DUPLICATE", 4, 3},
        BadText{"D3DuplicateSection", "data:\n  path: a\ndata:\n  shuffle: true\n",
                "E-CONFIG-DUPLICATE", 3, 1},
        BadText{"D7Tab", "data:\n\tpath: a\n", "E-CONFIG-YAML", 2, 1},
        BadText{"D7Nul", std::string("seed: 1\ndata:\n  pa\0th: a\n", 24), "E-CONFIG-YAML", 3, 5},
        BadText{"D7NotUtf8", "seed: 1\n# \xff\n", "E-CONFIG-YAML", 2, 3},
        BadText{"D7Utf16", std::string("\xff\xfes\0e\0", 6), "E-CONFIG-YAML", 1, 1},
        BadText{"D7TooLarge", "# " + std::string(1 << 20, 'x'), "E-CONFIG-SIZE", 0, 0},
        BadText{"Unclosed", "data: [1, 2\n", "E-CONFIG-YAML", 0, 0},
        BadText{"ListAtTop", "- data\n", "E-CONFIG-YAML", 0, 0},
        BadText{"ScalarAtTop", "data\n", "E-CONFIG-YAML", 0, 0},
        BadText{"KeyIsAList", "? [a]\n: b\n", "E-CONFIG-YAML", 0, 0},
        BadText{"TwoDocuments", "seed: 1\n---\nseed: 2\n", "E-CONFIG-YAML", 3, 0}),
    [](const auto& row) { return row.param.name; });

TEST(YamlNodeTest, DuplicateKeyNamesBothLines) {
  const Error error = load_error("data:\n  path: a\n  batch_size: 4\n  path: b\n");
  EXPECT_EQ(error.place.line, 4U);
  EXPECT_THAT(error.found, testing::HasSubstr("line 2"));
}

// Comparing each key with every earlier one took 18 s for as many.
TEST(YamlNodeTest, ManyKeysTakeTimeInProportion) {
  std::string unknown;
  std::string columns = "data:\n  columns:\n";
  for (int i = 0; i < 60'000; ++i) {
    unknown += "key" + std::to_string(i) + ": 1\n";
    columns += "    key" + std::to_string(i) + ": b\n";
  }
  const std::clock_t begin = std::clock();
  EXPECT_EQ(code_of(load_error(unknown)), "E-CONFIG-UNKNOWN");
  EXPECT_EQ(load_from_text(columns).settings.data.columns.size(), 60'000U);
  EXPECT_LT(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC, 5.0) << "processor seconds";
}

TEST(YamlNodeTest, ByteOrderMarkIsLeftOut) {
  EXPECT_EQ(load_from_text("\xEF\xBB\xBFseed: 7\n").settings.run.seed, 7);
}

TEST(YamlNodeTest, EmptyFilesAndCommentsAreGood) {
  EXPECT_EQ(load_from_text("").settings.run.seed, 42);
  EXPECT_EQ(load_from_text("# nothing\n\n").settings.run.seed, 42);
  EXPECT_EQ(load_from_text("---\nseed: 3\n").settings.run.seed, 3);
  EXPECT_EQ(load_from_text("data:\n").settings.run.seed, 42);
}

TEST(YamlNodeTest, IndentedFragmentsLoad) {
  const auto loaded = load_from_text("   data:\n     num_workers: 24  # more\n   \n");
  EXPECT_EQ(loaded.settings.loader.num_workers, 24);
}

TEST(YamlNodeTest, WindowsLineEndsLoad) {
  EXPECT_EQ(load_from_text("data:\r\n  batch_size: 8\r\n").settings.batch.batch_size, 8);
}

TEST(YamlNodeTest, MissingFileAndFolderAreNamed) {
  const ScratchFolder folder;
  for (const std::string& path : {folder / "absent.yaml", folder.path()}) {
    try {
      load_yaml(path);
      FAIL() << path;
    } catch (const ConfigError& refused) {
      EXPECT_EQ(refused.error().code->name, "E-CONFIG-FILE");
      EXPECT_EQ(refused.error().place.file, path);
      EXPECT_FALSE(refused.error().found.empty());
    }
  }
}

}  // namespace
}  // namespace stoker::config
