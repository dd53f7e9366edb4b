
#include <gtest/gtest.h>

#include <limits>
#include <set>

#include "stoker/text/number_words.h"

namespace stoker::text {
namespace {

template <class Append>
std::string said(Append append, std::uint64_t value) {
  std::string out;
  append(out, value);
  return out;
}

TEST(NumberWordsTest, CardinalsUpToTheLargestValue) {
  EXPECT_EQ(said(english::append_cardinal, 0), "zero");
  EXPECT_EQ(said(english::append_cardinal, 1'000'000'000'000'000), "one quadrillion");
  EXPECT_EQ(said(english::append_cardinal, std::numeric_limits<std::uint64_t>::max()),
            "eighteen quintillion four hundred forty-six quadrillion seven hundred forty-four "
            "trillion seventy-three billion seven hundred nine million five hundred fifty-one "
            "thousand six hundred fifteen");
}

TEST(NumberWordsTest, NoTwoNumbersSoundAlike) {
  std::set<std::string> english_words;
  std::set<std::string> english_ordinals;
  std::set<std::string> persian_words;
  constexpr std::uint64_t kCount = 12'000;
  for (std::uint64_t value = 0; value < kCount; ++value) {
    english_words.insert(said(english::append_cardinal, value));
    english_ordinals.insert(said(english::append_ordinal, value));
    persian_words.insert(said(persian::append_cardinal, value));
  }
  EXPECT_EQ(english_words.size(), kCount);
  EXPECT_EQ(english_ordinals.size(), kCount);
  EXPECT_EQ(persian_words.size(), kCount);
}

TEST(NumberWordsTest, YearsAreReadInHalves) {
  EXPECT_EQ(said(english::append_year, 1984), "nineteen eighty-four");
  EXPECT_EQ(said(english::append_year, 1905), "nineteen oh five");
  EXPECT_EQ(said(english::append_year, 1900), "nineteen hundred");
  EXPECT_EQ(said(english::append_year, 2000), "two thousand");
  EXPECT_EQ(said(english::append_year, 2005), "two thousand five");
  EXPECT_EQ(said(english::append_year, 2024), "twenty twenty-four");
  EXPECT_EQ(said(english::append_year, 476), "four hundred seventy-six");
}

TEST(NumberWordsTest, PersianJoinsItsPartsByAnd) {
  EXPECT_EQ(said(persian::append_cardinal, 1'402), "هزار و چهارصد و دو");
  EXPECT_EQ(said(persian::append_cardinal, 1'001'000), "یک میلیون و هزار");
  EXPECT_EQ(said(persian::append_ordinal, 33), "سی و سوم");
}

}  // namespace
}  // namespace stoker::text
