#include "stoker/data/vocabulary_fit.h"

#include <gtest/gtest.h>

#include <span>

#include "stoker/data/features/feature_spec.h"
#include "tests/data/data_set.h"

namespace stoker::data {
namespace {

struct Misfit {
  const char* name;
  std::string_view words;
  std::string_view script;
  std::string_view cure;
};

std::optional<Error> misfit_of(std::string_view words, double max_fraction = 0.1) {
  DataSet data;
  data.put_ids({"a"});
  data.put_metadata("a|x|" + std::string(words) + "\n");
  const Index index = data.scan();
  return vocabulary_misfit(index, make_tokenizers({}, index.languages()), max_fraction);
}

TEST(VocabularyFitTest, TheCureIsTheLanguageThatTheLettersAreOf) {
  for (const auto& [name, words, script, cure] :
       {Misfit{"persian", "گفتم که می‌آیم پس چرا نیامدی", "Arabic",
               "--language fa"},
        Misfit{"arabic", "هذه مدرسة كبيرة وإلى اللقاء", "Arabic", "--language ar"},
        Misfit{"russian", "Это большой дом", "Cyrillic", "--language ru"},
        Misfit{"greek", "καλημέρα κόσμε", "Greek", "--language el"},
        Misfit{"japanese", "これはとてもいいですね", "Hiragana", "--language ja"},
        Misfit{"signs", "ok ☺☺☺☺☺☺", "signs", "--vocabulary bytes"}}) {
    const auto error = misfit_of(words);
    ASSERT_TRUE(error) << name;
    EXPECT_EQ(error->code->name, "E-TEXT-MISFIT");
    EXPECT_TRUE(contains(error->found, script)) << name << ": " << error->found;
    EXPECT_TRUE(contains(error->cure, cure)) << name << ": " << error->cure;
    EXPECT_TRUE(contains(error->cure, "text.max_unknown_fraction")) << error->cure;
  }
}

TEST(VocabularyFitTest, ATenthIsTheMost) {
  EXPECT_FALSE(misfit_of("abcdefghi☺"));
  EXPECT_TRUE(misfit_of("abcdefgh☺"));
  EXPECT_FALSE(misfit_of("abcdefgh☺", 0.2));
  EXPECT_FALSE(misfit_of("گفتم", 1.0));
}

TEST(VocabularyFitTest, TheRecordedLanguageFitsWithoutASetting) {
  DataSet data;
  data.put_ids({"a"});
  data.put_metadata("a|x|گفتم که می‌آیم\n");
  const Index english = data.scan();
  EXPECT_THROW(FeatureSpec({}, english, SimdLevel::kScalar), DataError);
  config::Settings settings;
  settings.text.max_unknown_fraction = 1.0;
  EXPECT_NO_THROW(FeatureSpec(settings, english, SimdLevel::kScalar));
  data.folder.put("stoker.json", R"({"language": "fa"})");
  const Index persian = data.scan();
  const FeatureSpec spec({}, persian, SimdLevel::kScalar);
  UtteranceTokenizer tokenizer(spec);
  const std::span<const std::int32_t> ids = tokenizer.tokenize(persian[0]).take_or_raise();
  for (const std::int32_t id : ids) EXPECT_NE(id, text::kNativeIds.unknown);
}

TEST(VocabularyFitTest, ACheckOfTheDataRefusesTheSame) {
  DataSet data;
  data.put_ids({"a"});
  data.put_metadata("a|x|گفتم که می‌آیم\n");
  data.options.text = text::TokenizerOptions{};
  const Index index = data.scan();
  ASSERT_TRUE(index.refusal());
  EXPECT_EQ(index.refusal()->code->name, "E-TEXT-MISFIT");
  data.options.max_unknown_fraction = 1.0;
  EXPECT_FALSE(data.scan().refusal());
}

// The last rows of a large set are looked at too.
TEST(VocabularyFitTest, RowsAreLookedAtThroughout) {
  DataSet data;
  std::string rows;
  for (int i = 0; i < 1000; ++i)
    rows += "id" + std::to_string(i) +
            (i < 700 ? "|x|some text\n" : "|x|گفتم که می‌آیم\n");
  data.put_metadata(rows);
  data.options.check = FileCheck::kNone;
  const Index index = data.scan();
  EXPECT_TRUE(vocabulary_misfit(index, make_tokenizers({}, index.languages()), 0.1));
  EXPECT_FALSE(vocabulary_misfit(index, make_tokenizers({}, index.languages()), 0.5));
}

}  // namespace
}  // namespace stoker::data
