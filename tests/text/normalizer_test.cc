#include "stoker/text/normalizer.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "stoker/base/error.h"
#include "stoker/base/utf8.h"

namespace stoker::text {
namespace {

TEST(NormalizerTest, StepsNameTheRuleAndWhatItChanged) {
  std::string words;
  const auto steps = normalizer_for("en")->explain("Dr. Smith paid $3.50 on 2/3/2024", words);
  EXPECT_EQ(words,
            "Doctor Smith paid three dollars and fifty cents on February third, twenty "
            "twenty-four");
  ASSERT_EQ(steps.size(), 3U);
  EXPECT_EQ(steps[0].rule, "abbreviation");
  EXPECT_EQ(steps[0].from, "Dr.");
  EXPECT_EQ(steps[0].to, "Doctor");
  EXPECT_EQ(steps[1].rule, "money");
  EXPECT_EQ(steps[1].from, "$3.50");
  EXPECT_EQ(steps[2].rule, "date");
  EXPECT_EQ(steps[2].to, "February third, twenty twenty-four");
}

TEST(NormalizerTest, RegionDoesNotChangeTheRules) {
  EXPECT_EQ(normalizer_for("en-GB")->name(), "english");
  EXPECT_EQ(normalizer_for("fa_IR")->name(), "persian");
  EXPECT_EQ(normalizer_for("de-AT")->name(), "unicode");
}

TEST(NormalizerTest, UnknownLanguageIsRefusedByName) {
  try {
    normalizer_for("klingonese");
    FAIL() << "accepted";
  } catch (const ConfigError& error) {
    EXPECT_EQ(error.error().code->name, "E-TEXT-LANGUAGE");
    EXPECT_NE(error.error().found.find("klingonese"), std::string::npos);
  }
}

TEST(NormalizerTest, OtherLanguagesReadNumbersInTheirOwnWords) {
  EXPECT_EQ(normalizer_for("de")->normalize("Es sind 21 Kinder."), "Es sind einundzwanzig Kinder.");
  EXPECT_EQ(normalizer_for("de")->normalize("1.234 Tage"),
            "eintausendzweihundertvierunddreißig Tage");
  EXPECT_EQ(normalizer_for("fr")->normalize("Il a 80 ans."), "Il a quatre-vingts ans.");
  EXPECT_EQ(normalizer_for("es")->normalize("Son 3,5 metros"), "Son tres coma cinco metros");
}

TEST(NormalizerTest, DigitsStayWhereIcuHasNoWords) {
  EXPECT_EQ(normalizer_for("xh")->normalize("21 abc"), "21 abc");
}

TEST(NormalizerTest, ComposesWhatWasDecomposed) {
  EXPECT_EQ(normalizer_for("en")->normalize("cafe\u0301"), "caf\u00E9");
  EXPECT_EQ(normalizer_for("de")->normalize("u\u0308ber"), "\u00FCber");
}

TEST(NormalizerTest, InvisibleCharactersAndBrokenBytesAreLeftOutAndCounted) {
  const auto english = normalizer_for("en");
  NormalizeScratch scratch;
  std::string out;
  english->normalize("a\u200Bb\u202Ec\u0007d", scratch, out);
  EXPECT_EQ(out, "abcd");
  EXPECT_EQ(scratch.num_removed, 3U);
  english->normalize("x\xFFy\xC3", scratch, out);
  EXPECT_EQ(out, "xy");
  EXPECT_EQ(scratch.num_removed, 2U);
  english->normalize("clean", scratch, out);
  EXPECT_EQ(scratch.num_removed, 0U);
}

TEST(NormalizerTest, AnyNumberOfDigitsAndMarksStaysWellFormed) {
  const std::vector<std::string> odd{std::string(5000, '9'),
                                     std::string(3000, '-'),
                                     "1/",
                                     "/1",
                                     "1/0",
                                     "99/99/9999",
                                     "$",
                                     "$$$",
                                     "1.",
                                     ".",
                                     "1..2",
                                     "25:99",
                                     "0:00:00",
                                     "-",
                                     "-.",
                                     "#",
                                     "@",
                                     "1-",
                                     "1--2",
                                     "IIII",
                                     "MMMMMM",
                                     "(555)",
                                     "'99",
                                     "1e309"};
  for (const char* language : {"en", "fa", "de"}) {
    for (const std::string& text : odd) {
      const std::string out = normalizer_for(language)->normalize(text);
      EXPECT_EQ(find_invalid_utf8(out), out.size()) << language << ": " << text.substr(0, 40);
    }
  }
}

TEST(NormalizerTest, OneInstanceServesManyThreads) {
  const auto english = normalizer_for("en");
  const auto german = normalizer_for("de");
  std::vector<std::thread> threads;
  std::vector<int> wrong(4, 0);
  for (std::size_t i = 0; i < wrong.size(); ++i) {
    threads.emplace_back([&, i] {
      NormalizeScratch scratch;
      std::string out;
      for (int round = 0; round < 500; ++round) {
        english->normalize("He paid $5 in 1984 \u2014 caf\u00E9.", scratch, out);
        wrong[i] += out == "He paid five dollars in nineteen eighty-four -- caf\u00E9." ? 0 : 1;
        german->normalize("21", scratch, out);
        wrong[i] += out == "einundzwanzig" ? 0 : 1;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(wrong.size(), 0));
}

}  // namespace
}  // namespace stoker::text
