// Row A21: characters outside the vocabulary, as the index meets them.
#include <gtest/gtest.h>

#include "tests/data/data_set.h"

namespace stoker::data {
namespace {

Index scan_with(text::UnknownPolicy policy) {
  DataSet data;
  data.put_ids({"a", "b"});
  data.put_metadata("a|x|plain words\nb|x|a sign \xE6\xBC\xA2 and again \xE6\xBC\xA2\n");
  data.options.text = text::TokenizerOptions{.unknown = policy};
  return data.scan();
}

TEST(VocabularyRowTest, AnUnknownCharacterIsNamedOnceWithItsLineAndCount) {
  const Index index = scan_with(text::UnknownPolicy::kUnknownId);
  EXPECT_EQ(index.size(), 2U);
  ASSERT_EQ(index.warnings().size(), 1U);
  const Error& warning = index.warnings()[0].error;
  EXPECT_EQ(warning.code->name, "E-TEXT-UNKNOWN");
  EXPECT_EQ(warning.place.line, 2U);
  EXPECT_TRUE(contains(warning.found, "\xE6\xBC\xA2")) << warning.found;
  EXPECT_TRUE(contains(warning.found, "2 times")) << warning.found;
}

TEST(VocabularyRowTest, UnderRejectTheRowIsRejected) {
  const Index index = scan_with(text::UnknownPolicy::kReject);
  EXPECT_EQ(index.size(), 1U);
  ASSERT_EQ(index.rejects().size(), 1U);
  EXPECT_EQ(index.rejects()[0].id, "b");
  EXPECT_EQ(index.rejects()[0].error.code->name, "E-TEXT-UNKNOWN");
}

}  // namespace
}  // namespace stoker::data
