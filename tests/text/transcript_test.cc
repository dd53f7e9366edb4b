// Agreement with the normalised transcripts of LJSpeech, where the folder with them is at hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>

#include "stoker/text/normalizer.h"

namespace stoker::text {
namespace {

std::string data_file(const std::string& name) {
  const char* folder = std::getenv("STOKER_TEST_DATA");
  return folder == nullptr ? std::string() : std::string(folder) + "/" + name;
}

// LJSpeech keeps titles, initials and acronyms as printed; those rules may change a row, and none
// of the others may.
bool is_spelling(const NormalizeStep& step) {
  constexpr std::string_view kAllowed[] = {"abbreviation", "initials", "acronym", "characters"};
  return std::find(std::begin(kAllowed), std::end(kAllowed), step.rule) != std::end(kAllowed);
}

TEST(TranscriptTest, NormalisedRowsNeedNothingButTitlesAndInitials) {
  const std::string path = data_file("ljspeech-transcripts.txt");
  if (path.empty()) GTEST_SKIP() << "STOKER_TEST_DATA is not set";
  std::ifstream file(path);
  const auto english = normalizer_for("en");
  std::size_t num_rows = 0;
  std::size_t num_changed = 0;
  for (std::string line; std::getline(file, line); ++num_rows) {
    std::string words;
    const auto steps = english->explain(line.substr(line.find('|') + 1), words);
    const auto changed = std::find_if_not(steps.begin(), steps.end(), is_spelling);
    if (changed == steps.end()) continue;
    ++num_changed;
    ADD_FAILURE() << line.substr(0, 10) << " " << changed->rule << ": " << changed->from << " -> "
                  << changed->to;
  }
  EXPECT_GT(num_rows, 13'000U);
  EXPECT_EQ(num_changed, 0U);
}

TEST(TranscriptTest, RawRowsBecomeTheirNormalisedColumn) {
  const std::string path = data_file("ljspeech-mini/metadata.csv");
  if (path.empty()) GTEST_SKIP() << "STOKER_TEST_DATA is not set";
  std::ifstream file(path);
  const auto english = normalizer_for("en");
  std::size_t num_rows = 0;
  for (std::string line; std::getline(file, line); ++num_rows) {
    const std::size_t first = line.find('|');
    const std::size_t second = line.find('|', first + 1);
    ASSERT_NE(second, std::string::npos);
    const std::string raw = line.substr(first + 1, second - first - 1);
    EXPECT_EQ(english->normalize(raw), english->normalize(line.substr(second + 1)));
  }
  EXPECT_GT(num_rows, 20U);
}

}  // namespace
}  // namespace stoker::text
