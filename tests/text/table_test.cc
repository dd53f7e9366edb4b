// The tables of sentences and their readings are the specification of the normalisers.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "stoker/text/normalizer.h"

namespace stoker::text {
namespace {

struct Row {
  std::size_t line = 0;
  std::string rule;
  std::string raw;
  std::string words;
};

std::vector<Row> load_rows(const std::string& name) {
  std::ifstream file(std::string(STOKER_TEXT_TABLES) + "/" + name);
  std::vector<Row> rows;
  std::string line;
  for (std::size_t number = 1; std::getline(file, line); ++number) {
    if (line.empty() || line.front() == '#') continue;
    const std::size_t first = line.find('\t');
    const std::size_t second = line.find('\t', first + 1);
    if (first == std::string::npos || second == std::string::npos) {
      ADD_FAILURE() << name << ":" << number << " has no three columns";
      continue;
    }
    rows.push_back({number, line.substr(0, first), line.substr(first + 1, second - first - 1),
                    line.substr(second + 1)});
  }
  return rows;
}

struct Table {
  const char* language;
  const char* file;
  std::size_t least_rows;
  std::size_t least_rules;
};

class TableTest : public testing::TestWithParam<Table> {};

TEST_P(TableTest, EverySentenceReadsAsItsRowSays) {
  const auto normalizer = normalizer_for(GetParam().language);
  for (const Row& row : load_rows(GetParam().file)) {
    EXPECT_EQ(normalizer->normalize(row.raw), row.words)
        << GetParam().file << ":" << row.line << " (" << row.rule << ")";
  }
}

TEST_P(TableTest, ReadSentencesAreReadTheSameAgain) {
  const auto normalizer = normalizer_for(GetParam().language);
  for (const Row& row : load_rows(GetParam().file)) {
    EXPECT_EQ(normalizer->normalize(row.words), row.words) << GetParam().file << ":" << row.line;
  }
}

TEST_P(TableTest, ExplainingGivesTheSameWords) {
  const auto normalizer = normalizer_for(GetParam().language);
  for (const Row& row : load_rows(GetParam().file)) {
    std::string words;
    const auto steps = normalizer->explain(row.raw, words);
    EXPECT_EQ(words, row.words);
    const bool same = row.raw == row.words;
    const bool only_spaces = row.raw.find("  ") != std::string::npos;
    if (!same && !only_spaces) {
      EXPECT_FALSE(steps.empty()) << GetParam().file << ":" << row.line;
    }
  }
}

TEST_P(TableTest, HasRowsForEveryRule) {
  std::map<std::string, int> rows_of_rule;
  const auto rows = load_rows(GetParam().file);
  for (const Row& row : rows) ++rows_of_rule[row.rule];
  EXPECT_GE(rows.size(), GetParam().least_rows);
  EXPECT_GE(rows_of_rule.size(), GetParam().least_rules);
}

INSTANTIATE_TEST_SUITE_P(Languages, TableTest,
                         testing::Values(Table{"en", "english_table.tsv", 400, 18},
                                         Table{"fa", "persian_table.tsv", 150, 14}),
                         [](const auto& table) { return std::string(table.param.language); });

}  // namespace
}  // namespace stoker::text
