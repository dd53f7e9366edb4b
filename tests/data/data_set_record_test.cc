// Who speaks and in which language: what rows, the record, settings and ids each decide.
#include "stoker/data/data_set_record.h"

#include <gtest/gtest.h>

#include "tests/data/data_set.h"

namespace stoker::data {
namespace {

using Names = std::vector<std::string>;

Names speakers_of(const Index& index) {
  Names out;
  for (std::size_t i = 0; i < index.size(); ++i) out.push_back(index.speakers()[index[i].speaker]);
  return out;
}

Names languages_of(const Index& index) {
  Names out;
  for (std::size_t i = 0; i < index.size(); ++i)
    out.push_back(index.languages()[index[i].language]);
  return out;
}

// Two rows whose ids look as if they named speakers.
struct TwoRows : DataSet {
  TwoRows() {
    put_ids({"spk1_a", "spk2_a"});
    put_metadata("spk1_a|x|some text\nspk2_a|x|other text\n");
  }
};

TEST(SpeakersTest, IdsAreReadOnlyWhereThatIsAskedFor) {
  TwoRows data;
  EXPECT_EQ(speakers_of(data.scan()), (Names{"default", "default"}));
  data.options.speakers.from = SpeakerSource::kIds;
  EXPECT_EQ(speakers_of(data.scan()), (Names{"spk1", "spk2"}));
}

TEST(SpeakersTest, APatternOfTheUserIsUsedBeforeThatOfTheRecord) {
  TwoRows data;
  data.folder.put("stoker.json", R"({"speaker_id_pattern": "^(spk[0-9])_"})");
  EXPECT_EQ(speakers_of(data.scan()), (Names{"spk1", "spk2"}));
  data.options.speakers.id_pattern = "([12])_a";
  EXPECT_EQ(speakers_of(data.scan()), (Names{"1", "2"}));
}

TEST(SpeakersTest, OneSpeakerIsOneWhateverIsNamed) {
  TwoRows data;
  data.folder.put("stoker.json", R"({"speaker_id_pattern": "^(spk[0-9])_"})");
  data.options.speakers = {.from = SpeakerSource::kOne, .id_pattern = "([12])_a"};
  EXPECT_EQ(speakers_of(data.scan()), (Names{"default", "default"}));
}

TEST(SpeakersTest, ASpeakerOfTheRowComesBeforeEveryPattern) {
  DataSet data;
  data.put_wav("spk1_a.wav", 22050, 1);
  data.put_wav("spk2_a.wav", 22050, 2);
  data.folder.put("manifest.jsonl",
                  R"({"audio_filepath": "spk1_a.wav", "text": "one", "speaker": "ann"})"
                  "\n"
                  R"({"audio_filepath": "spk2_a.wav", "text": "two"})"
                  "\n");
  EXPECT_EQ(speakers_of(data.scan()), (Names{"ann", "default"}));
  data.options.speakers = {.from = SpeakerSource::kIds, .id_pattern = "(.)_a"};
  EXPECT_EQ(speakers_of(data.scan()), (Names{"ann", "2"}));
}

TEST(SpeakersTest, UtterancesThatAreTheirOwnSpeakersNameNobody) {
  DataSet data;
  data.put_wav("u1.wav", 22050, 1);
  data.put_wav("u2.wav", 22050, 2);
  data.folder.put("wav.scp", "u1 u1.wav\nu2 u2.wav\n");
  data.folder.put("text", "u1 some words\nu2 some words\n");
  data.folder.put("utt2spk", "u1 u1\nu2 u2\n");
  EXPECT_EQ(speakers_of(data.scan()), (Names{"default", "default"}));
  data.folder.put("utt2spk", "u1 bob\nu2 u2\n");
  EXPECT_EQ(speakers_of(data.scan()), (Names{"bob", "u2"}));
}

TEST(LanguagesTest, TheRecordIsUsedUnlessTheSourceOrTheRowNamesOne) {
  TwoRows data;
  EXPECT_EQ(languages_of(data.scan()), (Names{"en", "en"}));
  const Digest128 english = data.scan().data_digest();
  data.folder.put("stoker.json", R"({"language": "fa"})");
  EXPECT_EQ(languages_of(data.scan()), (Names{"fa", "fa"}));
  EXPECT_NE(data.scan().data_digest(), english);
  data.options.sources[0].language = "en";
  EXPECT_EQ(data.scan().data_digest(), english);
}

struct WrongRecord {
  const char* content;
  const char* found;
};
TEST(RecordTest, OneThatCannotBeReadEndsTheWork) {
  for (const auto& [content, found] :
       {WrongRecord{"", "not JSON"}, WrongRecord{"[]", "array"},
        WrongRecord{R"({"langauge": "fa"})", "langauge"},
        WrongRecord{R"({"language": 5})", "number for \"language\""}}) {
    TwoRows data;
    data.folder.put("stoker.json", content);
    try {
      data.scan();
      ADD_FAILURE() << "no error for " << content;
    } catch (const DataError& error) {
      EXPECT_EQ(error.error().code->name, "E-DATA-RECORD");
      EXPECT_TRUE(contains(error.error().found, found)) << error.error().found;
    }
  }
}

TEST(RecordTest, APatternThatIsNoneNamesTheFile) {
  TwoRows data;
  data.folder.put("stoker.json", R"({"speaker_id_pattern": "no group"})");
  try {
    data.scan();
    FAIL() << "no error";
  } catch (const ConfigError& error) {
    EXPECT_EQ(error.error().code->name, "E-DATA-PATTERN");
    EXPECT_TRUE(contains(error.error().place.file, "stoker.json"));
  }
}

TEST(RecordTest, WhatIsWrittenIsRead) {
  const ScratchFolder scratch;
  const File folder = open_file(system_io(), scratch.path(), OpenFor::kFolder).take_or_raise();
  EXPECT_TRUE(load_record(folder).take_or_raise().language.empty());
  scratch.put("stoker.json", record_text({.language = "fa", .speaker_id_pattern = "^(\"p\")_"}));
  const DataSetRecord record = load_record(folder).take_or_raise();
  EXPECT_EQ(record.language, "fa");
  EXPECT_EQ(record.speaker_id_pattern, "^(\"p\")_");
}

}  // namespace
}  // namespace stoker::data
