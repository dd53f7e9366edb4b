// Rows A1 to A20 of the catalogue of bad input: what the grammar accepts, rejects and says.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/data/data_set.h"

namespace stoker::data {
namespace {

struct RowCase {
  std::string name;
  std::string metadata;  // ids a and b have files
  std::uint64_t accepted;
  std::string code;  // of the first reject; empty = none
  std::uint64_t line = 0;
  std::uint64_t at_bytes = 0;
  std::string found{};  // a part of it
};

void PrintTo(const RowCase& row, std::ostream* out) { *out << row.name; }

const std::string kFfd = "\xEF\xBF\xBD";

std::vector<RowCase> accepted_forms() {
  return {
      {"Plain", "a|Raw|norm\nb|Raw|norm\n", 2, ""},
      {"ByteOrderMark",
       "\xEF\xBB\xBF"
       "a|Raw|norm\nb|Raw|norm\n",
       2, ""},
      {"CarriageReturns", "a|Raw|norm\r\nb|Raw|norm\n", 2, ""},
      {"TwoFields", "a|text\nb|Raw|norm\n", 2, ""},
      {"UnbalancedQuotes", "a|He said \"no|he said \"no\nb|Raw|norm\n", 2, ""},
      {"ZeroWidthDropped", "a|Raw|no\xE2\x80\x8Brm\nb|Raw|norm\n", 2, ""},
      {"NoFinalNewline", "a|Raw|norm\nb|Raw|norm", 2, ""},
      {"HeaderLine", "ID|Text|Normalised\na|Raw|norm\nb|Raw|norm\n", 2, ""},
      {"HeaderFileId", "fileid|text\na|Raw|norm\nb|Raw|norm\n", 2, ""},
      {"BlankLines", "a|Raw|norm\n\n  \nb|Raw|norm\n\n", 2, ""},
      {"Persian", "a|\xD8\xB3\xD9\x84\xD8\xA7\xD9\x85|\xD8\xB3\xD9\x84\xD8\xA7\xD9\x85\nb|x|y\n", 2,
       ""},
  };
}

std::vector<RowCase> rejected_rows() {
  return {
      {"FourFields", "a|x|y|z\nb|Raw|norm\n", 1, "E-META-FIELDS", 1, 0, "4 fields"},
      {"OneField", "b|Raw|norm\nlost\n", 1, "E-META-FIELDS", 2, 11, "1 field"},
      {"HeaderOnlyAsLine1", "b|Raw|norm\nid|text\n", 1, "E-META-NOFILE", 2, 0, "none"},
      {"SameTextTwice", "a|x|y\nb|Raw|norm\na|x|y\n", 2, "E-META-DUP", 3, 17, "lines 1 and 3"},
      {"OtherTextTwice", "a|x|y\nb|Raw|norm\na|x|z\n", 1, "E-META-DUPTEXT", 1, 0, "lines 1 and 3"},
      {"NoFile", "c|x|y\nb|Raw|norm\n", 1, "E-META-NOFILE", 1, 0, "none"},
      {"EmptyId", "|x|y\nb|Raw|norm\n", 1, "E-META-ID", 1, 0, "empty"},
      {"BlankId", "  |x|y\nb|Raw|norm\n", 1, "E-META-ID", 1, 0, "empty"},
      {"NulInId", std::string("a\0|x|y\nb|Raw|norm\n", 18), 1, "E-META-ID", 1, 1, "a\\x00"},
      {"BellInId", "a\ab|x|y\nb|Raw|norm\n", 1, "E-META-ID", 1, 1, "a\\x07b"},
      {"ParentPath", "../../etc/passwd|x|y\nb|Raw|norm\n", 1, "E-META-PATH", 1, 0, "../../etc"},
      {"AbsolutePath", "/etc/passwd|x|y\nb|Raw|norm\n", 1, "E-META-PATH", 1, 0, "/etc/passwd"},
      {"Backslashes", "..\\x|x|y\nb|Raw|norm\n", 1, "E-META-PATH", 1, 0, "..\\x"},
      {"ParentInside", "a/../../b|x|y\nb|Raw|norm\n", 1, "E-META-PATH", 1, 0, "a/../../b"},
      {"DriveLetter", "C:\\a|x|y\nb|Raw|norm\n", 1, "E-META-PATH", 1, 0, "C:"},
      {"BrokenUtf8", "a|x|y\xFFz\nb|Raw|norm\n", 1, "E-META-UTF8", 1, 5, "0xFF"},
      {"Overlong", "a|x|\xC0\xAF\nb|Raw|norm\n", 1, "E-META-UTF8", 1, 4, "0xC0"},
      {"Surrogate", "a|x|\xED\xA0\x80\nb|Raw|norm\n", 1, "E-META-UTF8", 1, 4, "0xED"},
      {"InRawText", "a|\xFF|y\nb|Raw|norm\n", 1, "E-META-UTF8", 1, 2, "0xFF"},
      {"InId", "a\xFF|x|y\nb|Raw|norm\n", 1, "E-META-UTF8", 1, 1, "0xFF"},
      {"Replacement", "a|x|y" + kFfd + "\nb|Raw|norm\n", 1, "E-META-UTF8", 1, 5, "U+FFFD"},
      {"EmptyText", "a|x|\nb|Raw|norm\n", 1, "E-META-NOTEXT", 1, 4, "empty"},
      {"OnlyMarks", "a|x|...!?\nb|Raw|norm\n", 1, "E-META-NOTEXT", 1, 4, "...!?"},
      {"LongLine", "a|" + std::string(3'000'000, 'x') + "\nb|Raw|norm\n", 1, "E-META-LINE", 1, 0,
       "3,000,002 bytes"},
      {"LoneReturnInALine", "a|x\ry|z\nb|Raw|norm\n", 1, "E-META-CR", 1, 3, "carriage return"},
  };
}

class MetadataRowTest : public testing::TestWithParam<RowCase> {};

TEST_P(MetadataRowTest, IsCountedAndTheRejectNamesCodeLineAndPlace) {
  const RowCase& row = GetParam();
  DataSet data;
  data.put_ids({"a", "b"});
  data.put_metadata(row.metadata);
  const Index index = data.scan();
  EXPECT_EQ(index.size(), row.accepted);
  const IndexCounts& counts = index.counts();
  EXPECT_EQ(counts.rows, counts.accepted + counts.filtered + counts.rejected);
  ASSERT_EQ(index.rejects().empty(), row.code.empty());
  if (row.code.empty()) return;
  const Reject& reject = index.rejects()[0];
  EXPECT_EQ(reject.error.code->name, row.code) << error_line(reject.error);
  EXPECT_EQ(reject.line, row.line);
  EXPECT_EQ(reject.error.place.byte.value_or(0), row.at_bytes);
  EXPECT_TRUE(contains(reject.error.found, row.found)) << reject.error.found;
}

std::string name_of(const testing::TestParamInfo<RowCase>& row) { return row.param.name; }
INSTANTIATE_TEST_SUITE_P(Accepted, MetadataRowTest, testing::ValuesIn(accepted_forms()), name_of);
INSTANTIATE_TEST_SUITE_P(Rejected, MetadataRowTest, testing::ValuesIn(rejected_rows()), name_of);

TEST(MetadataTest, TextHoldsNoCarriageReturn) {
  DataSet data;
  data.put_ids({"a"});
  data.put_metadata("a|Raw|norm\r\n");
  EXPECT_EQ(data.scan()[0].text, "norm");
  EXPECT_EQ(data.scan()[0].raw_text, "Raw");
}

TEST(MetadataTest, OldMacFileIsAnErrorThatNamesLine1) {
  DataSet data;
  data.put_ids({"a", "b"});
  data.put_metadata("a|x|y\rb|x|y\r");
  try {
    data.scan();
    FAIL() << "no error";
  } catch (const DataError& error) {
    EXPECT_EQ(error.error().code->name, "E-META-CR");
    EXPECT_EQ(error.error().place.line, 1U);
    EXPECT_EQ(error.error().place.byte, 5U);
  }
}

TEST(MetadataTest, ExtraPipesAreJoinedOnRequest) {
  DataSet data;
  data.put_ids({"a"});
  data.put_metadata("a|x|y|z\n");
  data.options.extra_pipes = ExtraPipes::kJoin;
  EXPECT_EQ(data.scan()[0].text, "y|z");
}

TEST(MetadataTest, ThreeRowsOfOneIdAreAllRejectedOnce) {
  DataSet data;
  data.put_ids({"a", "b"});
  data.put_metadata("a|x|y\na|x|z\na|x|y\nb|x|y\n");
  const Index index = data.scan();
  EXPECT_EQ(index.size(), 1U);
  EXPECT_EQ(index.counts().rejected, 3U);
}

TEST(MetadataTest, InvisibleCharactersAreDroppedAndCountedOrRejected) {
  DataSet data;
  data.put_ids({"a"});
  data.put_metadata(
      "a|x|\xE2\x80\xAE"
      "right\xE2\x80\x8B\n");
  const Index index = data.scan();
  EXPECT_EQ(index[0].text, "right");
  EXPECT_EQ(index.account().notes().at("invisible characters dropped"), 1U);
  data.options.invisible = InvisibleCharacters::kReject;
  const Index strict = data.scan();
  ASSERT_EQ(strict.rejects().size(), 1U);
  EXPECT_EQ(strict.rejects()[0].error.code->name, "E-TEXT-CONTROL");
  EXPECT_TRUE(contains(strict.rejects()[0].error.found, "U+202E"));
}

TEST(MetadataTest, ZeroWidthNonJoinerStaysInPersianText) {
  DataSet data;
  data.put_ids({"a"});
  const std::string word = "\xD9\x85\xDB\x8C\xE2\x80\x8C\xD8\xB1\xD9\x88\xD9\x85";
  data.put_metadata("a|" + word + "\n");
  EXPECT_EQ(data.scan()[0].text, word);
}

TEST(MetadataTest, NoRowsAreAnErrorOfTheWholeSet) {
  for (const char* content : {"", "id|text|normalised\n", "\n\n"}) {
    DataSet data;
    data.put_ids({"a"});
    data.put_metadata(content);
    const Index index = data.scan();
    ASSERT_TRUE(index.refusal());
    EXPECT_EQ(index.refusal()->code->name, "E-DATA-NOROWS");
    EXPECT_TRUE(contains(index.refusal()->found, "none: "));
    EXPECT_EQ(index.refusal()->code->exit, ExitCode::kData);
  }
}

TEST(MetadataTest, AnEditWhileBuildingIsFoundAtTheEnd) {
  DataSet data;
  data.put_ids({"a"});
  data.put_metadata("a|x|y\n");
  const Index index = data.scan();
  EXPECT_TRUE(index.check_unchanged().ok());
  data.put_metadata("a|x|z\n");
  const auto changed = index.check_unchanged();
  ASSERT_FALSE(changed.ok());
  EXPECT_EQ(changed.error().code->name, "E-META-CHANGED");
}

}  // namespace
}  // namespace stoker::data
