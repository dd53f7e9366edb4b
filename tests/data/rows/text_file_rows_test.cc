// Rows of text files: id, speaker and part are read off the path.
#include <gtest/gtest.h>

#include "stoker/data/rows/row_readers.h"
#include "tests/data/data_set.h"

namespace stoker::data {
namespace {

struct KeptRow {
  std::string id, text, speaker;
  std::optional<Split> split;
};

std::vector<KeptRow> rows_in(const ScratchFolder& folder, const TextFiles& texts,
                             std::vector<Error>* rejects = nullptr) {
  std::vector<KeptRow> rows;
  const RowSink sink{.row =
                         [&](const Row& row) {
                           rows.push_back({std::string(row.id), std::string(row.text),
                                           std::string(row.speaker), row.split});
                         },
                     .reject =
                         [&](std::string_view, std::uint64_t, Error error) {
                           if (rejects != nullptr) rejects->push_back(std::move(error));
                         },
                     .note = [](std::string_view) {}};
  const File opened = open_file(system_io(), folder.path(), OpenFor::kFolder).take_or_raise();
  EXPECT_TRUE(read_text_file_rows(opened, texts, {}, sink).ok());
  return rows;
}

TEST(TextFileRowsTest, TheSpeakerIsTheFolderAbove) {
  const ScratchFolder folder;
  folder.put("train-clean/84/121/84_121_1.normalized.txt", "Some text.");
  const auto rows = rows_in(folder, {.suffix = ".normalized.txt", .speaker_above = 2});
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].id, "84_121_1");
  EXPECT_EQ(rows[0].speaker, "84");
  EXPECT_EQ(rows[0].split, Split::kTrain);
}

TEST(TextFileRowsTest, WithoutSpeakersTheIdIsThePath) {
  const ScratchFolder folder;
  folder.put("LICENSE.txt", "Not a row.");
  folder.put("trainer/a.flac", "x");
  folder.put("trainer/a.txt", "\xEF\xBB\xBFOne line\r\nand another\n\n");
  const auto rows = rows_in(folder, {});
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].id, "trainer/a");
  EXPECT_EQ(rows[0].text, "One line and another");
  EXPECT_EQ(rows[0].speaker, "");
  EXPECT_FALSE(rows[0].split);
}

TEST(TextFileRowsTest, AnEmptyTextIsRejectedWithItsFile) {
  const ScratchFolder folder;
  folder.put("a.wav", "x");
  folder.put("a.txt", "\n");
  std::vector<Error> rejects;
  EXPECT_TRUE(rows_in(folder, {}, &rejects).empty());
  ASSERT_EQ(rejects.size(), 1U);
  EXPECT_EQ(rejects[0].code->name, "E-META-NOTEXT");
  EXPECT_TRUE(contains(rejects[0].place.file, "a.txt"));
}

TEST(TextFileRowsTest, ATextOfMegabytesIsNotKept) {
  const ScratchFolder folder;
  folder.put("a.wav", "x");
  folder.put("a.txt", std::string(kMaxLineBytes + 1, 'x'));
  std::vector<Error> rejects;
  EXPECT_TRUE(rows_in(folder, {}, &rejects).empty());
  EXPECT_EQ(rejects.size(), 1U);
}

}  // namespace
}  // namespace stoker::data
