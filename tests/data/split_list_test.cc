// splits.txt decides the parts where it is beside the metadata.
#include "stoker/data/split_list.h"

#include <gtest/gtest.h>

#include "tests/data/data_set.h"

namespace stoker::data {
namespace {

using Ids = std::vector<std::string>;

Ids part(DataSet& data, Split split) {
  data.options.splits.split = split;
  const Index index = data.scan();
  Ids out;
  for (std::size_t i = 0; i < index.size(); ++i) out.emplace_back(index[i].id);
  return out;
}

TEST(SplitListTest, ItsPartsAreUsedInsteadOfDrawnOnes) {
  DataSet data;
  data.put_ids({"a", "b", "c", "d"});
  data.put_metadata("a|some text\nb|some text\nc|some text\nd|some text\n");
  data.folder.put("splits.txt",
                  "\xEF\xBB\xBF"
                  "b|train\r\nd|eval\nc|unused\n");
  EXPECT_EQ(part(data, Split::kTrain), Ids{"b"});
  EXPECT_EQ(part(data, Split::kEval), Ids{"d"});
  EXPECT_EQ(part(data, Split::kAll).size(), 4U);
}

TEST(SplitListTest, AnIdMayHoldAPipe) {
  const ScratchFolder folder;
  folder.put("splits.txt", "odd|id|eval\n");
  const File opened = open_file(system_io(), folder.path(), OpenFor::kFolder).take_or_raise();
  const auto list = SplitList::load(opened).take_or_raise();
  ASSERT_TRUE(list);
  EXPECT_EQ(list->find("odd|id"), Split::kEval);
  EXPECT_EQ(list->find("other"), Split::kAll);
}

TEST(SplitListTest, AWrongLineIsAnErrorWithItsNumber) {
  for (const char* bad : {"a|train\nb|tarin\n", "a|train\nb\n", "a|train\na|eval\n"}) {
    DataSet data;
    data.put_ids({"a"});
    data.put_metadata("a|some text\n");
    data.folder.put("splits.txt", bad);
    data.options.splits.split = Split::kTrain;
    try {
      data.scan();
      FAIL() << "no error for " << bad;
    } catch (const DataError& error) {
      EXPECT_EQ(error.error().code->name, "E-META-SPLITS");
      EXPECT_EQ(error.error().place.line, 2U);
    }
  }
}

}  // namespace
}  // namespace stoker::data
