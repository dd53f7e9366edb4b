// Data sets as they are published: found by their files alone, with nothing typed by hand.
#include "stoker/data/layout_search.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "stoker/data/layout.h"
#include "tests/data/data_set.h"

namespace stoker::data {
namespace {

using Ids = std::vector<std::string>;

Ids ids_of(const Index& index) {
  Ids out;
  for (std::size_t i = 0; i < index.size(); ++i) out.emplace_back(index[i].id);
  return out;
}

Ids ids_of_part(DataSet& data, Split split) {
  data.options.splits.split = split;
  return ids_of(data.scan());
}

TEST(LayoutSearchTest, AHuggingFaceAudioFolderNamesItsFiles) {
  DataSet data;
  data.put_wav("data/a.wav", 22050, 1);
  data.put_wav("data/b.wav", 22050, 2);
  data.put_metadata("file_name,transcription\ndata/a.wav,\"well, yes\"\ndata/b.wav,some text\n");
  const Index index = data.scan();
  EXPECT_EQ(ids_of(index), (Ids{"data/a", "data/b"}));
  EXPECT_EQ(index[0].text, "well, yes");
}

TEST(LayoutSearchTest, HuggingFacePartsAreFolders) {
  DataSet data;
  for (const char* part : {"train", "validation", "test"}) {
    data.put_wav(std::string(part) + "/" + part + "1.wav", 22050, part[0]);
    data.folder.put(std::string(part) + "/metadata.csv",
                    "file_name,text\n" + std::string(part) + "1.wav,some text\n");
  }
  EXPECT_EQ(ids_of(data.scan()), (Ids{"train1", "validation1"}));
  EXPECT_EQ(ids_of_part(data, Split::kTrain), Ids{"train1"});
  EXPECT_EQ(ids_of_part(data, Split::kEval), Ids{"validation1"});
}

TEST(LayoutSearchTest, CommonVoiceHasATableForEachPart) {
  DataSet data;
  data.put_wav("clips/one.wav", 22050, 1);  // converted; the table names the MP3 it was
  data.put_wav("clips/two.wav", 22050, 2);
  const std::string header = "client_id\tpath\tsentence\tlocale\n";
  data.folder.put("train.tsv", header + "bob\tone.mp3\tHe said \"no\ten\n");
  data.folder.put("dev.tsv", header + "ann\ttwo.mp3\tsome text\ten\n");
  data.folder.put("validated.tsv", header);
  EXPECT_EQ(ids_of_part(data, Split::kTrain), Ids{"one"});
  EXPECT_EQ(ids_of_part(data, Split::kEval), Ids{"two"});
}

TEST(LayoutSearchTest, CommonVoiceWithoutPartsIsItsValidatedTable) {
  DataSet data;
  data.put_wav("clips/one.wav");
  data.folder.put("validated.tsv", "client_id\tpath\tsentence\nbob\tone.mp3\tsome text\n");
  data.folder.put("invalidated.tsv", "client_id\tpath\tsentence\n");
  EXPECT_EQ(ids_of(data.scan()), Ids{"one"});
}

TEST(LayoutSearchTest, LibriTtsKeepsATextBesideEachSound) {
  DataSet data;
  for (const char* at : {"train-clean-100/84/121/84_121_1", "dev-clean/174/50/174_50_1",
                         "test-clean/61/70/61_70_1"}) {
    data.put_wav(std::string(at) + ".wav", 22050, at[0]);
    data.folder.put(std::string(at) + ".normalized.txt", "Some text.\n");
    data.folder.put(std::string(at) + ".original.txt", "Some 2nd text.\n");
  }
  const Index index = data.scan();
  EXPECT_EQ(ids_of(index), (Ids{"174_50_1", "61_70_1", "84_121_1"}));
  EXPECT_EQ(index[0].text, "Some text.");
  EXPECT_TRUE(index.check_unchanged().ok());
  EXPECT_EQ(ids_of_part(data, Split::kTrain), Ids{"84_121_1"});
  EXPECT_EQ(ids_of_part(data, Split::kEval), Ids{"174_50_1"});
}

TEST(LayoutSearchTest, AnEditedTextFileIsNoticed) {
  DataSet data;
  data.put_wav("a.wav");
  data.folder.put("a.txt", "some text");
  const Index index = data.scan();
  EXPECT_EQ(ids_of(index), Ids{"a"});
  data.folder.put("a.txt", "other text");
  ASSERT_FALSE(index.check_unchanged().ok());
  EXPECT_EQ(index.check_unchanged().error().code->name, "E-META-CHANGED");
}

TEST(LayoutSearchTest, VctkHasTextsAndSoundsInTwoTrees) {
  DataSet data;
  data.put_wav("wav48_silence_trimmed/p225/p225_001_mic1.flac", 22050, 1);
  data.put_wav("wav48_silence_trimmed/p225/p225_001_mic2.flac", 22050, 2);
  data.put_wav("wav48/p225/p225_001.wav", 22050, 3);
  data.folder.put("txt/p225/p225_001.txt", "Please call Stella.\r\n");
  data.folder.put("txt/p225/p225_002.txt", "No such recording.");
  const Index index = data.scan();
  ASSERT_EQ(ids_of(index), Ids{"p225_001"});
  EXPECT_EQ(index[0].file, "wav48_silence_trimmed/p225/p225_001_mic1.flac");
  EXPECT_EQ(index[0].text, "Please call Stella.");
  EXPECT_EQ(index.account().reject_codes().at("E-META-NOFILE"), 1U);
}

TEST(LayoutSearchTest, TheOnlyTableOfAFolderIsItsMetadata) {
  DataSet data;
  data.put_wav("a.wav");
  data.folder.put("rows.csv", "Audio;Text\na.wav;some text\n");
  EXPECT_EQ(ids_of(data.scan()), Ids{"a"});
  data.folder.put("more.csv", "Audio;Text\na.wav;some text\n");
  EXPECT_THROW(data.scan(), DataError);
}

TEST(LayoutSearchTest, TheTextFileOfAKaldiFolderMeansTheFolder) {
  DataSet data;
  data.put_wav("a.wav");
  data.folder.put("wav.scp", "u1 a.wav\n");
  data.folder.put("text", "u1 some words\n");
  for (const char* name : {"text", "wav.scp"}) {
    data.options.sources[0].path = data.folder / name;
    EXPECT_EQ(ids_of(data.scan()), Ids{"u1"}) << name;
  }
}

TEST(LayoutSearchTest, AFolderOfSoundsPointsAtTheFolderWithTheTexts) {
  DataSet data;
  data.put_ids({"a"});
  data.options.sources[0].path = data.folder / "wavs";
  const auto cure = [&] {
    const auto opened = open_layout(data.options.sources[0], system_io());
    return opened.ok() ? std::string() : opened.error().cure;
  };
  EXPECT_TRUE(contains(cure(), "write metadata.csv")) << cure();
  data.put_metadata("a|some text\n");
  EXPECT_TRUE(contains(cure(), "folder above")) << cure();
}

TEST(LayoutSearchTest, TheSearchForTextsIsBounded) {
  const ScratchFolder folder;
  for (int i = 0; i < 300; ++i)
    std::filesystem::create_directory(folder / ("empty" + std::to_string(1000 + i)));
  folder.put("late/a.wav", "x");
  folder.put("late/a.txt", "x");
  const File opened = open_file(system_io(), folder.path(), OpenFor::kFolder).take_or_raise();
  EXPECT_FALSE(find_text_files(opened));
  EXPECT_EQ(usual_metadata_file(opened), "");
  EXPECT_FALSE(has_part_files(opened));
}

}  // namespace
}  // namespace stoker::data
