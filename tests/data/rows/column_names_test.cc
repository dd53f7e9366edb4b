// Columns are found by usual names, by a map, or by both together; messages name the header.
#include "stoker/data/rows/column_names.h"

#include <gtest/gtest.h>

#include "tests/data/data_set.h"

namespace stoker::data {
namespace {

using Header = std::vector<std::string>;

TEST(ColumnNamesTest, UsualNamesAreFoundWhateverTheirCase) {
  const ColumnMap map = map_usual_columns({"Client_ID", "Path", "SENTENCE"});
  EXPECT_EQ(map[kSpeaker], 0U);
  EXPECT_EQ(map[kAudio], 1U);
  EXPECT_EQ(map[kText], 2U);
  EXPECT_FALSE(map[kId]);
}

TEST(ColumnNamesTest, AMapMayNameOnlyWhatIsUnusual) {
  const Header header{"recording", "text", "duration"};
  const auto map = map_columns(header, "audio=recording", "rows.csv");
  ASSERT_TRUE(map.ok());
  EXPECT_EQ((*map)[kAudio], 0U);
  EXPECT_EQ((*map)[kText], 1U);
  EXPECT_FALSE((*map)[kDuration]) << "a map says which columns count";
}

TEST(ColumnNamesTest, AnUnknownMeaningIsRefused) {
  const auto map = map_columns({"a", "b"}, "sound=a,text=b", "rows.csv");
  ASSERT_FALSE(map.ok());
  EXPECT_TRUE(contains(map.error().found, "sound=a"));
}

TEST(ColumnNamesTest, ATableWithoutAHeaderIsToldToHaveOne) {
  const auto map = map_columns({"a.wav", "Some words"}, "", "rows.csv");
  ASSERT_FALSE(map.ok());
  EXPECT_EQ(map.error().code->name, "E-DATA-COLUMNS");
  EXPECT_TRUE(contains(map.error().cure, "first line that names the columns"));
}

TEST(ColumnNamesTest, SemicolonsSeparateAndQuotesProtectThem) {
  const char separator = separator_of("path;text");
  EXPECT_EQ(separator, ';');
  EXPECT_EQ(split_line("a.wav;\"one; two\"", separator).fields, (Header{"a.wav", "one; two"}));
}

// All rows of a set that fail alike are answered with what solves them.
std::string cure_of(DataSet& data) {
  const Index index = data.scan();
  return index.refusal() ? index.refusal()->cure : std::string();
}

TEST(RefusalCureTest, KeysOfAManifestAreAskedFor) {
  DataSet data;
  data.put_wav("a.wav");
  data.folder.put("manifest.jsonl", R"({"uri": "a.wav", "words": "some text"})"
                                    "\n");
  EXPECT_TRUE(contains(cure_of(data), "--columns audio=KEY,text=KEY")) << cure_of(data);
  data.options.sources[0].columns = "audio=uri,text=words";
  EXPECT_EQ(data.scan().size(), 1U);
}

TEST(RefusalCureTest, AListOfObjectsIsToldToBeLines) {
  DataSet data;
  data.folder.put("manifest.json", "[{\"audio_filepath\": \"a.wav\", \"text\": \"x\"}]\n");
  EXPECT_TRUE(contains(cure_of(data), "one object a line")) << cure_of(data);
}

TEST(RefusalCureTest, AbsolutePathsNameTheAudioRootTheyNeed) {
  DataSet data;
  const ScratchFolder sounds;
  for (const char* name : {"one/a.wav", "two/b.wav"})
    sounds.put(name, audio::good_wav({}, audio::samples16(22050)));
  data.folder.put("wav.scp",
                  "u1 " + (sounds / "one/a.wav") + "\nu2 " + (sounds / "two/b.wav") + "\n");
  data.folder.put("text", "u1 some words\nu2 other words\n");
  EXPECT_TRUE(contains(cure_of(data), "add --audio-root " + sounds.path())) << cure_of(data);
  data.options.sources[0].audio_root = sounds.path();
  EXPECT_EQ(data.scan().size(), 2U);
}

TEST(RefusalCureTest, PathsOfAnotherMachineAreToldSo) {
  DataSet data;
  data.folder.put("manifest.jsonl",
                  R"({"audio_filepath": "/no/such/place/a.wav", "text": "some text"})"
                  "\n");
  EXPECT_TRUE(contains(cure_of(data), "/no/such/place, which is not on this machine"));
}

TEST(RefusalCureTest, MissingSoundsAskForTheirFolder) {
  DataSet data;
  data.put_metadata("a|some text\nb|some text\n");
  EXPECT_TRUE(contains(cure_of(data), "--audio-root FOLDER")) << cure_of(data);
}

TEST(RefusalCureTest, PipeRowsMayHoldAbsolutePathsInside) {
  DataSet data;
  data.put_wav("wavs/a.wav");
  data.put_metadata((data.folder / "wavs/a.wav") + "|some text\n");
  const Index index = data.scan();
  ASSERT_EQ(index.size(), 1U);
  EXPECT_EQ(index[0].file, "wavs/a.wav");
}

}  // namespace
}  // namespace stoker::data
