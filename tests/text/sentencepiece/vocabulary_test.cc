#include <gmock/gmock.h>

#include <cstdlib>
#include <fstream>
#include <random>
#include <sstream>

#include "stoker/text/errors.h"
#include "stoker/text/sentencepiece/vocabulary.h"
#include "stoker/text/tokenizer.h"
#include "tests/doubles/scratch_folder.h"
#include "tests/text/model_writer.h"

namespace stoker::text {
namespace {

using testing::ElementsAre;

constexpr std::uint32_t kUnigram = 1;
constexpr std::uint32_t kBpe = 2;
constexpr std::uint32_t kUnknown = 2;

const std::vector<WrittenPiece> kPieces{
    {"<unk>", 0, kUnknown}, {"\u2581", -3}, {"\u2581he", -2}, {"l", -3}, {"o", -3},
    {"llo", -2.5F},         {"he", -2},     {"h", -4},        {"e", -4}};

class PieceFileTest : public testing::Test {
 protected:
  std::string put(const std::string& bytes) const {
    folder_.put("pieces.model", bytes);
    return folder_ / "pieces.model";
  }
  Tokenizer tokenizer(const std::string& bytes, UnknownPolicy unknown) const {
    return Tokenizer({.vocabulary = "sentencepiece",
                      .cleaner = "none",
                      .unknown = unknown,
                      .model_file = put(bytes)});
  }
  std::vector<std::int32_t> ids(const Tokenizer& tokenizer, std::string_view text) const {
    TokenizeScratch scratch;
    std::vector<std::int32_t> found;
    EXPECT_EQ(tokenizer.tokenize(text, scratch, found), TokenizeOutcome::kDone) << text;
    return found;
  }
  const ScratchFolder folder_;
};

TEST_F(PieceFileTest, UnigramTakesTheBestSumAndBpeTheBestJoin) {
  const Tokenizer unigram = tokenizer(model_bytes(kUnigram, kPieces), UnknownPolicy::kUnknownId);
  EXPECT_THAT(ids(unigram, " hello "), ElementsAre(7, 10));  // \u2581he llo, each 5 up
  const Tokenizer bpe = tokenizer(model_bytes(kBpe, {{"<unk>", 0, kUnknown},
                                                     {"\u2581", -9},
                                                     {"h", -9},
                                                     {"e", -9},
                                                     {"l", -9},
                                                     {"o", -9},
                                                     {"el", -1},
                                                     {"hel", -2},
                                                     {"lo", -3},
                                                     {"\u2581h", -4}}),
                                  UnknownPolicy::kUnknownId);
  EXPECT_THAT(ids(bpe, "hello"), ElementsAre(6, 12, 13));  // \u2581 hel lo
}

TEST_F(PieceFileTest, PaddingIsZeroAndUnknownFollowsThePolicy) {
  const std::string model = model_bytes(kUnigram, kPieces);
  const Tokenizer with_id = tokenizer(model, UnknownPolicy::kUnknownId);
  EXPECT_EQ(with_id.vocabulary().specials().pad, 0);
  EXPECT_EQ(with_id.vocabulary().size(), kPieces.size() + 5);
  EXPECT_THAT(ids(with_id, "he\u2603\u2603l"), ElementsAre(7, 1, 8)) << "a run is one token";
  EXPECT_THAT(ids(tokenizer(model, UnknownPolicy::kDrop), "he\u2603l"), ElementsAre(7, 8));
  TokenizeScratch scratch;
  std::vector<std::int32_t> found;
  EXPECT_EQ(tokenizer(model, UnknownPolicy::kReject).tokenize("he\u2603l", scratch, found),
            TokenizeOutcome::kUnknown);
  EXPECT_EQ(scratch.unknown.front().symbol, "\u2603");
  EXPECT_EQ(with_id.vocabulary().symbol(7), "\u2581he");
  EXPECT_EQ(with_id.vocabulary().symbol(0), "<pad>");
}

TEST_F(PieceFileTest, IdentityFollowsTheFilesContent) {
  const std::string first =
      tokenizer(model_bytes(kUnigram, kPieces), UnknownPolicy::kDrop).identity();
  std::vector<WrittenPiece> pieces = kPieces;
  pieces[5].score = -2.6F;
  EXPECT_NE(tokenizer(model_bytes(kUnigram, pieces), UnknownPolicy::kDrop).identity(), first);
  EXPECT_EQ(tokenizer(model_bytes(kUnigram, kPieces), UnknownPolicy::kDrop).identity(), first);
}

TEST_F(PieceFileTest, WhatIsNoModelIsRefused) {
  const std::string good = model_bytes(kUnigram, kPieces);
  const float not_a_number = std::numeric_limits<float>::quiet_NaN();
  for (const std::string& bytes :
       {std::string(), std::string("hello"), good.substr(0, good.size() - 3),
        model_bytes(kUnigram, {{"a", -1}}), model_bytes(9, kPieces),
        model_bytes(kUnigram, {{"<unk>", 0, kUnknown}, {"a", -1}, {"a", -2}}),
        model_bytes(kUnigram, {{"<unk>", 0, kUnknown}, {"a", not_a_number}}),
        model_bytes(kUnigram, {{"<unk>", 0, kUnknown}, {"\xFF", -1}}),
        model_bytes(kUnigram, kPieces, true),
        good + WireMessage().bytes(3, WireMessage().bytes(2, "\x09").text()).text()}) {
    try {
      sentencepiece::load_vocabulary(put(bytes));
      FAIL() << "taken: " << bytes.size() << " bytes";
    } catch (const ConfigError& refused) {
      EXPECT_EQ(refused.error().code, &kTextModel);
    }
  }
  EXPECT_THROW(sentencepiece::load_vocabulary(folder_ / "absent.model"), Failure);
}

// The reference is SentencePiece itself, where its programs are installed.
class TrainedModelTest : public testing::TestWithParam<const char*> {
 protected:
  static bool has_programs() {
    return std::system("command -v spm_train >/dev/null && command -v spm_encode >/dev/null") == 0;
  }
  static std::vector<std::string> lines_of(const std::string& path) {
    std::ifstream file(path);
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
  }
  static std::string made_line(std::mt19937& random, const std::vector<std::string>& words) {
    std::string line;
    for (std::size_t i = random() % 9; i > 0; --i)
      line += words[random() % words.size()] + (random() % 4 == 0 ? "" : " ");
    return line;
  }
  const ScratchFolder folder_;
};

TEST_P(TrainedModelTest, GivesTheIdsOfTheLibrary) {
  if (!has_programs()) GTEST_SKIP() << "spm_train is not installed (Debian package sentencepiece)";
  std::mt19937 random(7);
  const std::vector<std::string> known{"the",   "river", "rivers", "Running", "run",
                                       "and",   "under", "bridge", "bridges", "was",
                                       "stone", "a",     "of",     "ﬁne",     "½"};
  std::vector<std::string> words = known;
  words.insert(words.end(), {"\u2603", "日本", "سلام", "zebra", "<sep>", "e\u0301", "\u00A0", "Ⅷ"});
  std::string corpus;
  std::string probe;
  for (int i = 0; i < 400; ++i) corpus += made_line(random, known) + "\n";
  for (int i = 0; i < 400; ++i) probe += made_line(random, words) + "\n";
  folder_.put("corpus.txt", corpus);
  folder_.put("probe.txt", probe);
  const std::string in = "cd " + folder_.path() + " && ";
  const std::string train =
      in + "spm_train --input=corpus.txt --model_prefix=m " + GetParam() + " >train.log 2>&1";
  ASSERT_EQ(std::system(train.c_str()), 0) << GetParam();
  ASSERT_EQ(std::system((in + "spm_encode --model=m.model --output_format=id <probe.txt >ids.txt "
                              "2>encode.log")
                            .c_str()),
            0);
  const auto vocabulary = sentencepiece::load_vocabulary(folder_ / "m.model");
  const std::vector<std::string> texts = lines_of(folder_ / "probe.txt");
  const std::vector<std::string> expected = lines_of(folder_ / "ids.txt");
  ASSERT_EQ(texts.size(), expected.size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    std::vector<std::int32_t> ids;
    std::vector<UnknownSymbol> unknown;
    vocabulary->encode(texts[i], ids, unknown);
    std::string found;
    for (const std::int32_t id : ids)
      found += (found.empty() ? "" : " ") + (id == kNoId ? "1" : std::to_string(id - 5));
    ASSERT_EQ(found, expected[i]) << texts[i] << " with " << GetParam();
  }
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, TrainedModelTest,
    testing::Values(
        "--pad_id=0 --unk_id=1 --bos_id=2 --eos_id=3 --vocab_size=60",
        "--pad_id=0 --unk_id=1 --bos_id=2 --eos_id=3 --vocab_size=70 --model_type=bpe",
        "--unk_id=1 --bos_id=0 --vocab_size=330 --byte_fallback=true "
        "--user_defined_symbols='<sep>,ver'",
        "--unk_id=1 --bos_id=0 --vocab_size=70 --model_type=bpe --user_defined_symbols=und "
        "--normalization_rule_name=identity --remove_extra_whitespaces=false "
        "--add_dummy_prefix=false",
        "--unk_id=1 --bos_id=0 --vocab_size=60 --treat_whitespace_as_suffix=true "
        "--normalization_rule_name=nfkc_cf",
        "--unk_id=1 --bos_id=0 --vocab_size=20 --model_type=word --hard_vocab_limit=false",
        "--unk_id=1 --bos_id=0 --vocab_size=30 --model_type=char --hard_vocab_limit=false"));

}  // namespace
}  // namespace stoker::text
