#include "stoker/data/utterance.h"

#include <gtest/gtest.h>

#include <string>

namespace stoker::data {
namespace {

TEST(UtteranceTableTest, RowsComeBackAsTheyWereAppended) {
  UtteranceTable table;
  for (int i = 0; i < 20000; ++i) {
    const std::string id = "id" + std::to_string(i);
    const std::string text(static_cast<std::size_t>(i % 200), 'x');
    const std::string raw = i % 2 == 0 ? text : "raw " + id;
    table.append({.id = id, .text = text, .raw_text = raw, .file = "wavs/" + id, .speaker = 7});
  }
  for (std::size_t i = 0; i < table.size(); ++i) {
    const Utterance row = table[i];
    ASSERT_EQ(row.id, "id" + std::to_string(i));
    ASSERT_EQ(row.text.size(), i % 200);
    ASSERT_EQ(row.raw_text, i % 2 == 0 ? std::string(row.text) : "raw " + std::string(row.id));
    ASSERT_EQ(row.file, "wavs/" + std::string(row.id));
    ASSERT_EQ(row.speaker, 7U);
  }
}

TEST(UtteranceTableTest, KeepOnlyLeavesTheFlaggedRowsInOrder) {
  UtteranceTable table;
  for (const char* id : {"a", "b", "c", "d"})
    table.append({.id = id, .text = "t", .raw_text = "t"});
  table.keep_only({1, 0, 0, 1});
  ASSERT_EQ(table.size(), 2U);
  EXPECT_EQ(table[0].id, "a");
  EXPECT_EQ(table[1].id, "d");
}

TEST(UtteranceTableTest, SoundIsSetAfterTheFact) {
  UtteranceTable table;
  table.append({.id = "a", .text = "t", .raw_text = "t"});
  table.set_sound(0, {.first_sample = 5, .num_samples = 44100, .rate_hz = 22050});
  EXPECT_EQ(table[0].first_sample, 5U);
  EXPECT_DOUBLE_EQ(table[0].duration_s(), 2.0);
}

TEST(UtteranceTableTest, ARowCostsLittleBeyondItsText) {
  UtteranceTable table;
  constexpr std::size_t kRows = 100'000;
  const std::string text(100, 't');
  for (std::size_t i = 0; i < kRows; ++i)
    table.append(
        {.id = "LJ001-0001", .text = text, .raw_text = text, .file = "wavs/LJ001-0001.wav"});
  EXPECT_LE(table.memory_bytes() / kRows, 100 + 150U);
}

}  // namespace
}  // namespace stoker::data
