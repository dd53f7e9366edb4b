// Every sentence and every word of a report exists in Persian.
#include "stoker/observe/report/sentences.h"

#include <gmock/gmock.h>

#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "stoker/base/report/markup.h"
#include "stoker/observe/diagnose/causes.h"
#include "stoker/observe/report/report_words.h"

namespace stoker::observe {
namespace {

std::size_t num_places(std::string_view pattern) {
  std::size_t count = 0;
  for (std::size_t at = pattern.find("{}"); at != pattern.npos; at = pattern.find("{}", at + 2))
    ++count;
  return count;
}

TEST(ReportWordsTest, EveryWordIsThereInBothLanguages) {
  for (const WordPair& pair : all_words()) {
    EXPECT_FALSE(pair.english.empty());
    EXPECT_FALSE(pair.persian.empty()) << pair.english;
    EXPECT_EQ(num_places(pair.english), num_places(pair.persian)) << pair.english;
    const bool is_name = pair.english == pair.persian;  // "p50 (ms)", "checkpoint"
    EXPECT_TRUE(is_name || pair.english == "; " || has_right_to_left_letter(pair.persian))
        << pair.english;
  }
}

TEST(SentencesTest, EverySentenceHasAsManyValuesInPersian) {
  std::set<std::string_view> seen;
  for (const SentencePair& pair : all_sentences()) {
    EXPECT_EQ(num_places(pair.english), num_places(pair.persian)) << pair.english;
    EXPECT_TRUE(seen.insert(pair.english).second) << pair.english << " twice";
  }
}

TEST(SentencesTest, EveryCauseHasItsTitleAndAdvice) {
  for (const CauseInfo& info : all_causes()) {
    EXPECT_TRUE(has_right_to_left_letter(in_persian(info.title))) << info.id;
    const bool is_typed = info.what_to_do.starts_with("--set ");
    EXPECT_TRUE(is_typed || in_persian(info.what_to_do) != info.what_to_do) << info.id;
  }
}

TEST(SentencesTest, ValuesStayAndWordsInsideThemAreReplaced) {
  EXPECT_THAT(in_persian("1 worker keeps 0.7 of 2 cores busy"),
              testing::AllOf(testing::HasSubstr("0.7"), testing::HasSubstr("کارگر"),
                             testing::Not(testing::HasSubstr("worker"))));
  EXPECT_THAT(in_persian("4 ms in fetch of wavs/a b.wav"), testing::HasSubstr("wavs/a b.wav"));
  EXPECT_THAT(in_persian("The consumer loses time of its own. The feed is not your "
                         "bottleneck; it could bring 14 times as much: logging holds the consumer "
                         "up."),
              testing::AllOf(testing::HasSubstr("14"), testing::Not(testing::HasSubstr("feed"))));
  EXPECT_EQ(in_persian("wavs/LJ001.wav"), "wavs/LJ001.wav");
  EXPECT_EQ(in_persian(""), "");
}

// The literals of a source, neighbours joined, with "{}" for every value.
std::set<std::string> sentences_in(const std::string& file) {
  std::ifstream in(std::string(STOKER_SOURCE_DIR) + "/src/stoker/observe/" + file);
  EXPECT_TRUE(in) << file;
  std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  text = std::regex_replace(text, std::regex(R"re((^|\n)\s*(//|#)[^\n]*)re"), "\n");
  text = std::regex_replace(text, std::regex(R"re("\s*\n\s*")re"), "");
  std::set<std::string> found;
  const std::regex literal(R"re("((?:[^"\\\n]|\\.)*)")re");
  for (std::sregex_iterator each(text.begin(), text.end(), literal), end; each != end; ++each) {
    const std::string sentence =
        std::regex_replace((*each)[1].str(), std::regex(R"re(\{[^}]*\})re"), "{}");
    const bool has_words = std::regex_search(sentence, std::regex("[a-z]+ [a-z{]|} [a-z]{3}"));
    if (has_words) found.insert(sentence);
  }
  return found;
}

// A sentence that somebody adds to the diagnosis and not here would be English in a Persian page.
TEST(SentencesTest, NoSentenceOfTheDiagnosisIsForgotten) {
  // Put together in the source; the whole is in the table.
  const std::set<std::string> parts{
      "{} {} of {} cores busy",
      "the consumer's thread, which makes the batches, keeps",
      "{} keep{}",
      "; it could bring {} times as much.",
      ", of batch {} before it",
      "The feed is not your bottleneck",
      "The consumer loses time of its own. The feed is not your bottleneck",
      "num_workers {} → {}",
      "prefetch_buffer_size {} → {}",
      "stoker train --data {} {}",
      "stoker train --data {}",
      "stoker precompute --data {}",
      "--preprocessing-mode precompute",
      "data: {preprocessing_mode: precompute}",
      "data: {}",
      "own step",
      "--set gpu.mel_place=cpu",
      "--num-workers {}",
      "--prefetch-buffer-size {}",
      "--batch-layout packed"};
  std::set<std::string_view> known;
  for (const SentencePair& pair : all_sentences()) known.insert(pair.english);
  std::size_t num_seen = 0;
  for (const char* file :
       {"diagnose/feed_causes.cc", "diagnose/consumer_causes.cc", "diagnose/gpu_waits.cc",
        "diagnose/cures.cc", "diagnose/gaps.cc", "diagnose/oscillation.cc", "diagnose/verdict.cc",
        "device_limits.cc", "feed_limits.cc"}) {
    for (const std::string& sentence : sentences_in(file)) {
      ++num_seen;
      EXPECT_TRUE(parts.contains(sentence) || known.contains(sentence)) << file << ": " << sentence;
    }
  }
  EXPECT_GT(num_seen, 60U);
}

}  // namespace
}  // namespace stoker::observe
