// What rows a file holds is judged by its first lines, so that a suffix alone misleads nobody.
#include "stoker/data/metadata_kind.h"

#include <gtest/gtest.h>

#include "tests/data/data_set.h"

namespace stoker::data {
namespace {

struct KindCase {
  std::string name;
  std::string head;
  LayoutKind kind;
};

void PrintTo(const KindCase& kind, std::ostream* out) { *out << kind.name; }

class MetadataKindTest : public testing::TestWithParam<KindCase> {};

TEST_P(MetadataKindTest, IsJudgedByItsFirstLines) {
  EXPECT_EQ(kind_of_rows("metadata.csv", GetParam().head, false), GetParam().kind);
}

INSTANTIATE_TEST_SUITE_P(
    FirstLines, MetadataKindTest,
    testing::Values(
        KindCase{"Pipes", "a|some text\nb|x|y\n", LayoutKind::kPipes},
        KindCase{"PipeHeader", "id|text|normalised\na|x|y\n", LayoutKind::kPipes},
        KindCase{"PipeHeaderWithSpeaker", "id|text|speaker\na|x|bob\n", LayoutKind::kTable},
        KindCase{"PipeHeaderWithFile", "audio_file|text\na.wav|x\n", LayoutKind::kTable},
        KindCase{"CommaHeader", "file_name,text\na.wav,x\n", LayoutKind::kTable},
        KindCase{"CommaHeaderAfterByteOrderMark",
                 "\xEF\xBB\xBF"
                 "path,sentence\r\na,b\r\n",
                 LayoutKind::kTable},
        KindCase{"TabHeader", "path\tsentence\na\tb\n", LayoutKind::kTable},
        KindCase{"BrokenFirstRow", "Hello, world\nb|x|y\n", LayoutKind::kPipes},
        KindCase{"Json", "{\"audio_filepath\": \"a.wav\"}\n", LayoutKind::kJson},
        KindCase{"Nothing", "", LayoutKind::kPipes}),
    [](const auto& kind) { return kind.param.name; });

TEST(MetadataKindFileTest, ASoundFileIsNamedAsWhatItIs) {
  DataSet data;
  data.put_wav("x.wav");
  data.options.sources[0].path = data.folder / "x.wav";
  try {
    data.scan();
    FAIL() << "no error";
  } catch (const DataError& error) {
    EXPECT_EQ(error.error().code->name, "E-DATA-LAYOUT");
    EXPECT_EQ(error.error().found, "a WAV file");
    EXPECT_TRUE(contains(error.error().cure, "stoker features"));
  }
}

TEST(MetadataKindFileTest, AnIdMayBeginLikeASoundFile) {
  DataSet data;
  data.put_ids({"FORM1", "ID3"});
  data.put_metadata("FORM1|some text\nID3|some text\n");
  EXPECT_EQ(data.scan().size(), 2U);
}

TEST(MetadataKindFileTest, AnArchiveIsNamedAsWhatItIs) {
  DataSet data;
  data.folder.put("set.zip", std::string("PK\x03\x04rest", 8));
  data.options.sources[0].path = data.folder / "set.zip";
  try {
    data.scan();
    FAIL() << "no error";
  } catch (const DataError& error) {
    EXPECT_EQ(error.error().found, "a ZIP archive");
  }
}

}  // namespace
}  // namespace stoker::data
