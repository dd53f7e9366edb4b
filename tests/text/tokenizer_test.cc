#include "stoker/text/tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "stoker/base/error.h"
#include "stoker/text/unknown_tally.h"

namespace stoker::text {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct Tokens {
  TokenizeOutcome outcome;
  std::vector<std::int32_t> ids;
  TokenizeScratch scratch;
};

Tokens tokenize(const TokenizerOptions& options, std::string_view text) {
  const Tokenizer tokenizer(options);
  Tokens result{};
  result.outcome = tokenizer.tokenize(text, result.scratch, result.ids);
  return result;
}

std::string spelled(const Tokenizer& tokenizer, const std::vector<std::int32_t>& ids) {
  std::string out;
  for (const std::int32_t id : ids) out += tokenizer.vocabulary().symbol(id);
  return out;
}

TEST(TokenizerTest, CharacterIdsAreTheDocumentedOnes) {
  const Tokenizer tokenizer({});
  const Vocabulary& vocabulary = tokenizer.vocabulary();
  EXPECT_EQ(vocabulary.symbol(0), "<pad>");
  EXPECT_EQ(vocabulary.symbol(1), "<unk>");
  EXPECT_EQ(vocabulary.symbol(2), "<blank>");
  EXPECT_EQ(vocabulary.symbol(3), "<bos>");
  EXPECT_EQ(vocabulary.symbol(4), "<eos>");
  EXPECT_EQ(vocabulary.symbol(5), " ");
  EXPECT_EQ(vocabulary.symbol(19), "a");
  EXPECT_EQ(vocabulary.symbol(44), "z");
  EXPECT_EQ(vocabulary.symbol(-1), "");
  EXPECT_EQ(vocabulary.symbol(static_cast<std::int32_t>(vocabulary.size())), "");
}

TEST(TokenizerTest, EveryIdNamesItsSymbolInEveryLanguage) {
  for (const char* language : {"en", "fa", "de", "ru", "tr"}) {
    const Tokenizer tokenizer({.language = language, .cleaner = "none"});
    TokenizeScratch scratch;
    std::vector<std::int32_t> ids;
    for (std::size_t id = kFirstNativeSymbol; id < tokenizer.vocabulary().size(); ++id) {
      const std::string symbol = tokenizer.vocabulary().symbol(static_cast<std::int32_t>(id));
      (void)tokenizer.tokenize("a" + symbol, scratch, ids);
      EXPECT_TRUE(scratch.unknown.empty() || scratch.unknown[0].symbol == "a")
          << language << " " << symbol;
      ASSERT_FALSE(ids.empty()) << language << " " << symbol;
      EXPECT_EQ(ids.back(), static_cast<std::int32_t>(id)) << language << " " << symbol;
    }
  }
}

TEST(TokenizerTest, CapitalsFoldAndNothingElseIsLost) {
  const Tokenizer tokenizer({});
  TokenizeScratch scratch;
  std::vector<std::int32_t> ids;
  ASSERT_EQ(tokenizer.tokenize("Dr. Smith paid $3.50.", scratch, ids), TokenizeOutcome::kDone);
  EXPECT_EQ(spelled(tokenizer, ids), "doctor smith paid three dollars and fifty cents.");
  EXPECT_EQ(scratch.normalized, "Doctor Smith paid three dollars and fifty cents.");
}

TEST(TokenizerTest, BlanksStandAroundEverySymbol) {
  const auto tokens = tokenize({.add_blank = true}, "ab");
  EXPECT_THAT(tokens.ids, ElementsAre(2, 19, 2, 20, 2));
}

TEST(TokenizerTest, BytesTakeAnyLanguage) {
  const auto tokens = tokenize({.language = "fa", .vocabulary = "bytes"}, "سلام");
  EXPECT_EQ(tokens.ids.size(), 8U);
  EXPECT_EQ(tokens.ids[0], 0xD8 + 5);
  EXPECT_TRUE(tokens.scratch.unknown.empty());
}

TEST(TokenizerTest, UnknownCharactersFollowThePolicy) {
  const auto dropped = tokenize({.unknown = UnknownPolicy::kDrop}, "a\u4E2Da");
  EXPECT_EQ(dropped.outcome, TokenizeOutcome::kDone);
  EXPECT_THAT(dropped.ids, ElementsAre(19, 19));
  ASSERT_EQ(dropped.scratch.unknown.size(), 1U);
  EXPECT_EQ(dropped.scratch.unknown[0].symbol, "\u4E2D");

  const auto marked = tokenize({.unknown = UnknownPolicy::kUnknownId}, "a\u4E2Da");
  EXPECT_THAT(marked.ids, ElementsAre(19, 1, 19));

  const auto rejected = tokenize({.unknown = UnknownPolicy::kReject}, "a\u4E2Da");
  EXPECT_EQ(rejected.outcome, TokenizeOutcome::kUnknown);
  const Error error = tokenize_error(rejected.outcome, rejected.scratch,
                                     {.file = "metadata.csv", .line = 7, .column = {}, .byte = {}});
  EXPECT_EQ(error.code->name, "E-TEXT-UNKNOWN");
  EXPECT_THAT(error_line(error), HasSubstr("metadata.csv"));
  EXPECT_THAT(error_line(error), HasSubstr("7"));
  EXPECT_THAT(error.found, HasSubstr("U+4E2D"));
}

TEST(TokenizerTest, InvisibleCharactersAreDroppedOrRejected) {
  const auto dropped = tokenize({}, "a\u202Eb");
  EXPECT_EQ(dropped.outcome, TokenizeOutcome::kDone);
  EXPECT_EQ(dropped.scratch.normalize.num_removed, 1U);
  const auto rejected = tokenize({.unknown = UnknownPolicy::kReject}, "a\u202Eb");
  EXPECT_EQ(rejected.outcome, TokenizeOutcome::kControl);
  EXPECT_EQ(tokenize_error(rejected.outcome, rejected.scratch, {}).code->name, "E-TEXT-CONTROL");
}

TEST(TokenizerTest, TextWithoutWordsIsRefused) {
  for (const char* text : {"", "   ", "...", "?!", "\u200B", "\u2026", "(-)", "\u060C"}) {
    const auto tokens = tokenize({}, text);
    EXPECT_EQ(tokens.outcome, TokenizeOutcome::kNoText) << text;
    EXPECT_EQ(tokenize_error(tokens.outcome, tokens.scratch, {}).code->name, "E-META-NOTEXT");
  }
  EXPECT_EQ(tokenize({}, "5").outcome, TokenizeOutcome::kDone);
  EXPECT_EQ(tokenize({}, "\u4E2D\u6587").outcome, TokenizeOutcome::kNoText);
}

TEST(TokenizerTest, NamesThatDoNotExistAreRefusedWithTheNearest) {
  for (const TokenizerOptions& options :
       {TokenizerOptions{.vocabulary = "charcters"}, TokenizerOptions{.cleaner = "english_cleaner"},
        TokenizerOptions{.vocabulary = "myxtts", .unknown = UnknownPolicy::kUnknownId}}) {
    try {
      const Tokenizer tokenizer(options);
      FAIL() << "accepted";
    } catch (const ConfigError& failure) {
      EXPECT_EQ(failure.error().code->name, "E-TEXT-VOCABULARY");
      EXPECT_FALSE(failure.error().cure.empty());
    }
  }
}

TEST(TokenizerTest, OneTokenizerServesManyThreadsAndTheTallyLosesNothing) {
  const Tokenizer tokenizer({});
  UnknownTally tally;
  std::vector<std::thread> threads;
  for (std::uint64_t i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      TokenizeScratch scratch;
      std::vector<std::int32_t> ids;
      for (std::uint64_t line = 0; line < 200; ++line) {
        (void)tokenizer.tokenize("x\u4E2D \u4E2D\u6587\u200B", scratch, ids);
        tally.note(scratch, {.file = "m.csv", .line = line * 4 + i + 1, .column = {}, .byte = {}});
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const auto entries = tally.entries();
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(entries[0].symbol, "\u4E2D");
  EXPECT_EQ(entries[0].count, 1600U);
  EXPECT_EQ(entries[0].first.line, 1U);
  EXPECT_EQ(entries[1].count, 800U);
  EXPECT_EQ(tally.num_removed(), 800U);
}

TEST(TokenizerTest, IdentityChangesWithEverythingThatChangesIds) {
  const std::string base = Tokenizer({}).identity();
  EXPECT_EQ(base, Tokenizer({}).identity());
  EXPECT_NE(base, Tokenizer({.language = "fa"}).identity());
  EXPECT_NE(base, Tokenizer({.vocabulary = "bytes"}).identity());
  EXPECT_NE(base, Tokenizer({.cleaner = "none"}).identity());
  EXPECT_NE(base, Tokenizer({.add_blank = true}).identity());
  EXPECT_NE(base, Tokenizer({.unknown = UnknownPolicy::kReject}).identity());
}

TEST(TokenizerTest, RegistryTakesVocabulariesOfOthers) {
  VocabularyRegistry registry = VocabularyRegistry::with_builtins();
  registry.add("mine", [](const VocabularyRequest&) {
    return VocabularyRegistry::with_builtins().make("bytes", {});
  });
  EXPECT_THAT(registry.names(),
              ElementsAre("bytes", "characters", "mine", "myxtts", "phonemes", "sentencepiece"));
  const Tokenizer tokenizer({.vocabulary = "mine"}, registry);
  EXPECT_EQ(tokenizer.vocabulary().size(), 261U);
}

}  // namespace
}  // namespace stoker::text
