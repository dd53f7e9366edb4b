// The cleaners, symbol list and token files of myxtts.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "stoker/text/cleaner.h"
#include "stoker/text/tokenizer.h"

namespace stoker::text {
namespace {

struct Case {
  const char* cleaner;
  const char* text;
  const char* cleaned;
};

TEST(MyxttsTest, CleanersDoWhatTheyDid) {
  const Case cases[] = {
      {"basic_cleaners", "  Hello\t WORLD\n", "hello world"},
      {"basic_cleaners", "Mr. É 5", "mr. é 5"},
      {"english_cleaners", "Mr. Smith and Mrs. Jones", "mister smith and missus jones"},
      {"english_cleaners", "Dr. No, Prof. X, etc.", "doctor no, professor x, etcetera"},
      {"english_cleaners", "A disco. Banco.", "a discompany bancompany"},
      {"english_cleaners", "e.g. this, i.e. that vs. it",
       "for example this, that is that versus it"},
      {"english_cleaners", "I have 5 cats, (12) dogs and 21 fish.",
       "i have five cats, (twelve) dogs and 21 fish."},
      {"english_cleaners", "0 20 007 3.5", "zero twenty 007 3.5"},
      {"english_cleaners", "Café naïve ÜBER", "cafe naive uber"},
      {"english_cleaners", "“Quoted” — it’s", "\"quoted\" -- it's"},
      {"english_cleaners", "Straße", "strasse"},
      {"multilingual_cleaners", "Café 5 Mr. Øre", "cafe 5 mister øre"},
      {"multilingual_cleaners", "Привет МИР", "привет мир"},
  };
  for (const Case& row : cases) {
    EXPECT_EQ(cleaner_for(row.cleaner, "en")->normalize(row.text), row.cleaned) << row.cleaner;
  }
}

TEST(MyxttsTest, SymbolListKeepsItsDoubledEntries) {
  const Tokenizer tokenizer({.vocabulary = "myxtts", .add_blank = true});
  EXPECT_EQ(tokenizer.vocabulary().size(), 94U);
  EXPECT_EQ(tokenizer.vocabulary().specials().begin, 1);
  EXPECT_EQ(tokenizer.vocabulary().specials().blank, 88);
  EXPECT_EQ(tokenizer.vocabulary().specials().end, 93);
  TokenizeScratch scratch;
  std::vector<std::int32_t> ids;
  ASSERT_EQ(tokenizer.tokenize("a b", scratch, ids), TokenizeOutcome::kDone);
  EXPECT_EQ(ids, (std::vector<std::int32_t>{1, 4, 88, 3, 5, 88, 93}));
}

TEST(MyxttsTest, UnknownCharactersAreDroppedAndCounted) {
  const Tokenizer tokenizer(
      {.vocabulary = "myxtts", .cleaner = "basic_cleaners", .add_blank = false});
  TokenizeScratch scratch;
  std::vector<std::int32_t> ids;
  ASSERT_EQ(tokenizer.tokenize("a€a€", scratch, ids), TokenizeOutcome::kDone);
  EXPECT_EQ(ids, (std::vector<std::int32_t>{1, 4, 4, 93}));
  ASSERT_EQ(scratch.unknown.size(), 1U);
  EXPECT_EQ(scratch.unknown[0].symbol, "€");
  EXPECT_EQ(scratch.unknown[0].count, 2U);
}

std::string load(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// myxtts read its metadata as quoted CSV and kept what the quotes were written as.
std::string quoted_cell(const std::string& text) {
  std::string cell = "\"";
  for (const char c : text) cell += c == '"' ? std::string("\"\"") : std::string(1, c);
  return cell + "\"";
}

// npy 1.0: six bytes of magic, two of version, two of header length, the header, int32 values.
std::vector<std::int32_t> npy_ids(const std::string& bytes) {
  const std::size_t header =
      static_cast<unsigned char>(bytes.at(8)) + 256U * static_cast<unsigned char>(bytes.at(9));
  const std::size_t start = 10 + header;
  std::vector<std::int32_t> ids((bytes.size() - start) / sizeof(std::int32_t));
  std::memcpy(ids.data(), bytes.data() + start, ids.size() * sizeof(std::int32_t));
  return ids;
}

TEST(MyxttsTest, TokenFilesAreReproduced) {
  const char* folder = std::getenv("STOKER_TEST_DATA");
  if (folder == nullptr) GTEST_SKIP() << "STOKER_TEST_DATA is not set";
  const std::string root = std::string(folder) + "/legacy-myxtts";
  const Tokenizer tokenizer({.vocabulary = "myxtts", .add_blank = true});
  TokenizeScratch scratch;
  std::vector<std::int32_t> ids;
  std::ifstream metadata(root + "/metadata.csv");
  std::size_t num_rows = 0;
  for (std::string line; std::getline(metadata, line); ++num_rows) {
    const std::string id = line.substr(0, line.find('|'));
    const std::string last = line.substr(line.rfind('|') + 1);
    const bool has_quotes = last.find('"') != std::string::npos;
    ASSERT_EQ(tokenizer.tokenize(has_quotes ? quoted_cell(last) : last, scratch, ids),
              TokenizeOutcome::kDone);
    EXPECT_EQ(ids, npy_ids(load(root + "/tokens_custom_noph_blank_en/" + id + ".npy"))) << id;
  }
  EXPECT_EQ(num_rows, 10U);
}

}  // namespace
}  // namespace stoker::text
