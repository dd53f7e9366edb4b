#include "stoker/text/pattern/pattern.h"

#include <gmock/gmock.h>

#include <array>
#include <chrono>
#include <random>
#include <regex>

namespace stoker::text {
namespace {

using testing::HasSubstr;

constexpr ErrorCode kRefusal{"E-TEST-PATTERN", ExitCode::kUsage, "A pattern was refused.", ""};

Pattern compiled(std::string_view source) {
  return Pattern::compile(source, kRefusal).take_or_raise();
}

// "whole|group 1|…", "-" for a group that took no part; "none" without a match.
std::string found_in(const Pattern& pattern, std::string_view text) {
  const auto groups = pattern.find(text);
  if (!groups) return "none";
  std::string line;
  for (const auto& group : *groups) {
    if (!line.empty()) line += '|';
    line += group ? std::string(text.substr(group->begin, group->end - group->begin)) +
                        std::to_string(group->begin)
                  : "-";
  }
  return line;
}

std::string found_by_std(const std::regex& regex, const std::string& text) {
  std::smatch match;
  if (!std::regex_search(text, match, regex)) return "none";
  std::string line;
  for (std::size_t i = 0; i < match.size(); ++i) {
    if (!line.empty()) line += '|';
    line += match[i].matched ? match[i].str() + std::to_string(match.position(i)) : "-";
  }
  return line;
}

struct PatternCase {
  const char* source;
  const char* text;
  const char* found;  // each group's text and where it begins
};

TEST(PatternTest, FindsTheLeftmostMatchAndItsGroups) {
  for (const auto& [source, text, found] : {
           PatternCase{"(p[0-9]+)_", "x_p225_001", "p225_2|p2252"},
           PatternCase{"^([A-Z]+)", "LJ001", "LJ0|LJ0"},
           PatternCase{"^(?:en|fa)-(\\w+?)-", "fa-spk_7-12", "fa-spk_7-0|spk_73"},
           PatternCase{"(a|ab)(c|bcd)(d*)", "abcd", "abcd0|a0|bcd1|4"},
           PatternCase{"(a*)*b", "b", "b0|-"},
           PatternCase{"(|a)+b", "aab", "aab0|a1"},
           PatternCase{"a{2,3}", "aaaa", "aaa0"},
           PatternCase{"a{2,3}?", "aaaa", "aa0"},
           PatternCase{"(a)?b", "b", "b0|-"},
           PatternCase{"x$", "xx", "x1"},
           PatternCase{"\\bcat\\b", "concat cat", "cat7"},
           PatternCase{"[^\\d_]+", "12_ab3", "ab3"},
           PatternCase{"[\\]a-c-]+", "x]b-", "]b-1"},
           PatternCase{"\\x41\\u0042\\.", "AAB.", "AB.1"},
           PatternCase{"(.)-", "سلام-۱", "م-6|م6"},
           PatternCase{"([آ-ی]+)_", "x گروه_7", "گروه_2|گروه2"},
           PatternCase{"q", "abc", "none"},
           PatternCase{"", "abc", "0"},
       }) {
    EXPECT_EQ(found_in(compiled(source), text), found) << source << " in " << text;
  }
}

TEST(PatternTest, WhatIsNoPatternIsRefusedWithItsPlace) {
  for (const char* source : {"(",     ")",     "a**",         "*",  "a{2",  "a{3,2}", "a{99999}",
                             "[a",    "[b-a]", "[[:alpha:]]", "\\", "\\q",  "\\x4",   "(a)\\1",
                             "(?=a)", "(?!a)", "(?<n>a)",     "^*", "\\b+", "a{",     "\xFF"}) {
    const auto refused = Pattern::compile(source, kRefusal);
    ASSERT_FALSE(refused.ok()) << source;
    EXPECT_EQ(refused.error().code, &kRefusal);
    EXPECT_THAT(refused.error().found, HasSubstr(" at character ")) << source;
  }
  EXPECT_THAT(Pattern::compile("ab(?=c)", kRefusal).error().found, HasSubstr("lookahead"));
  EXPECT_THAT(Pattern::compile("(a)\\1", kRefusal).error().found, HasSubstr("backreference"));
}

TEST(PatternTest, SizeIsBounded) {
  EXPECT_FALSE(Pattern::compile("(((a{1000}){1000}){1000}){1000}", kRefusal).ok());
  EXPECT_TRUE(Pattern::compile("(?:(?:(?:(?:){1000}){1000}){1000}){1000}", kRefusal).ok());
  EXPECT_FALSE(Pattern::compile(std::string(1000, '(') + std::string(1000, ')'), kRefusal).ok());
  EXPECT_TRUE(Pattern::compile(std::string(60, '(') + "a" + std::string(60, ')'), kRefusal).ok());
}

// Backtracking takes 2^1000 steps for these.
TEST(PatternTest, TimeGrowsWithTheTextOnly) {
  const std::string text = std::string(100'000, 'a') + "!";
  for (const char* source :
       {"(a+)+$", "^(a|a)*$", "(a|aa)+$", "(.*)*x", "((a*)*)*b", "(a?){50}a{50}$"}) {
    const Pattern pattern = compiled(source);
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_EQ(found_in(pattern, text), "none") << source;
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10)) << source;
  }
}

// Writes patterns at random. Unless kWithEmpty, bodies of repeats match at least one character: of
// turns that match nothing the standard library keeps groups that ECMAScript drops.
enum class EmptyTurns { kNone, kWithEmpty };

class PatternWriter {
 public:
  explicit PatternWriter(std::uint32_t seed, EmptyTurns turns = EmptyTurns::kNone)
      : random_(seed), turns_(turns) {}
  std::string text() {
    std::string made;
    for (std::size_t i = pick(11); i > 0; --i) made += "abc_1"[pick(5)];
    return made;
  }
  std::string choice(int depth) {
    std::string made = sequence(depth);
    for (std::size_t i = pick(3); i > 1; --i) made += "|" + sequence(depth);
    return made;
  }

 private:
  std::size_t pick(std::size_t below) { return random_() % below; }
  std::string sequence(int depth) {
    std::string made = one(depth);
    for (std::size_t i = pick(3); i > 0; --i) made += pick(2) == 0 ? one(depth) : repeat(depth);
    return made;
  }
  std::string repeat(int depth) {
    static constexpr std::array kTimes{"*", "+", "?", "{2}", "{1,2}", "{2,}", "{0,3}"};
    return one(depth) + kTimes[pick(kTimes.size())] + (pick(4) == 0 ? "?" : "");
  }
  std::string one(int depth) {
    static constexpr std::array kEmpty{"(a*)", "(|b)", "(?:c?)", "(_|)"};
    static constexpr std::array kAtoms{"a",    "b",    "c",   "_",   "1",  ".",
                                       "[ab]", "[^a]", "\\d", "\\w", "\\W"};
    if (turns_ == EmptyTurns::kWithEmpty && pick(4) == 0) return kEmpty[pick(kEmpty.size())];
    if (depth > 0 && pick(3) == 0) return (pick(3) == 0 ? "(?:" : "(") + solid(depth - 1) + ")";
    return kAtoms[pick(kAtoms.size())];
  }
  std::string solid(int depth) {
    std::string made = one(depth) + (pick(2) == 0 ? "" : repeat(depth));
    return pick(2) == 0 ? made : made + "|" + one(depth);
  }

  std::mt19937 random_;
  EmptyTurns turns_;
};

TEST(PatternTest, AgreesWithTheStandardLibraryOnRandomPatterns) {
  std::size_t num_matched = 0;
  for (std::uint32_t seed = 0; seed < 4000; ++seed) {
    PatternWriter writer(seed);
    std::string source = writer.choice(2);
    if (seed % 5 == 0) source = "^" + source;
    if (seed % 7 == 0) source += "$";
    const std::regex reference(source);
    const Pattern pattern = compiled(source);
    ASSERT_EQ(pattern.num_groups(), reference.mark_count()) << source;
    for (int i = 0; i < 6; ++i) {
      const std::string text = writer.text();
      const std::string expected = found_by_std(reference, text);
      ASSERT_EQ(found_in(pattern, text), expected) << source << " in " << text << ", seed " << seed;
      num_matched += expected == "none" ? 0 : 1;
    }
  }
  EXPECT_GT(num_matched, 5000U);
}

TEST(PatternTest, TurnsThatMatchNothingChangeNoAnswer) {
  for (std::uint32_t seed = 0; seed < 600; ++seed) {
    PatternWriter writer(seed, EmptyTurns::kWithEmpty);
    const std::string source = "^(?:" + writer.choice(1) + ")$";
    const std::regex reference(source);
    const Pattern pattern = compiled(source);
    for (int i = 0; i < 4; ++i) {
      const std::string text = writer.text();
      ASSERT_EQ(pattern.find(text).has_value(), std::regex_search(text, reference))
          << source << " in " << text << ", seed " << seed;
    }
  }
}

}  // namespace
}  // namespace stoker::text
