// The layouts people have: A and B, tables, NeMo manifests, Kaldi folders, several sources.
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/data/data_set.h"

namespace stoker::data {
namespace {

std::vector<std::string> ids_of(const Index& index) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < index.size(); ++i) out.emplace_back(index[i].id);
  return out;
}
using Ids = std::vector<std::string>;

TEST(LayoutTest, FilesAreFoundInSubFoldersAndWithAnySuffix) {
  DataSet data;
  data.put_wav("wavs/chapter1/a.wav", 22050, 1);
  data.put_wav("wavs/b.WAV", 22050, 2);
  data.put_wav("wavs/c.flac", 22050, 3);  // a WAV under another name: read, and said
  data.put_metadata("a|x|some text\nb|x|some text\nchapter1/a|x|other text\nc.flac|x|some text\n");
  const Index index = data.scan();
  EXPECT_EQ(ids_of(index), (Ids{"a", "b", "chapter1/a", "c.flac"}));
  EXPECT_EQ(index[0].file, "wavs/chapter1/a.wav");
  EXPECT_EQ(index.account().warning_codes().at("E-WAV-SUFFIX"), 1U);
}

TEST(LayoutTest, TrainAndEvalFilesAreTheSplits) {
  DataSet data;
  data.put_ids({"a", "b"});
  data.folder.put("metadata_train.csv", "a|x|some text\n");
  data.folder.put("metadata_eval.csv", "b|x|some text\n");
  EXPECT_EQ(ids_of(data.scan()), (Ids{"a", "b"}));
  data.options.splits.split = Split::kTrain;
  EXPECT_EQ(ids_of(data.scan()), Ids{"a"});
  data.options.splits.split = Split::kEval;
  EXPECT_EQ(ids_of(data.scan()), Ids{"b"});
}

TEST(LayoutTest, BesideANamedEvaluationFileTheFolderTrains) {
  DataSet data;
  data.put_ids({"a", "b", "c"});
  data.put_metadata("a|x|some text\nb|x|some text\n");
  data.folder.put("held_out.csv", "c|x|some text\n");
  data.options.sources[0].metadata_eval = "held_out.csv";
  EXPECT_EQ(ids_of(data.scan()), (Ids{"c", "a", "b"}));
  data.options.splits.split = Split::kTrain;
  EXPECT_EQ(ids_of(data.scan()), (Ids{"a", "b"}));
  data.options.splits.split = Split::kEval;
  EXPECT_EQ(ids_of(data.scan()), Ids{"c"});
  data.folder.put("metadata_train.csv", "a|x|some text\n");
  data.options.splits.split = Split::kTrain;
  EXPECT_EQ(ids_of(data.scan()), Ids{"a"});
}

// A list of what is held out is often a part of the whole list.
TEST(LayoutTest, RowsThatTheEvaluationFileNamesAreNotTrainedOn) {
  DataSet data;
  data.put_ids({"a", "b", "c"});
  data.put_metadata("a|x|some text\nb|x|some text\nc|x|some text\nc|x|some text\n");
  data.folder.put("held_out.csv", "b|x|some text\n");
  data.options.sources[0].metadata_eval = "held_out.csv";
  data.options.splits.split = Split::kTrain;
  const Index train = data.scan();
  EXPECT_EQ(ids_of(train), (Ids{"a", "c"}));
  EXPECT_EQ(train.counts().rows, 5U);
  EXPECT_EQ(train.counts().filtered, 2U);
  EXPECT_EQ(train.counts().rejected, 1U);  // c twice in one file
  data.options.splits.split = Split::kEval;
  EXPECT_EQ(ids_of(data.scan()), Ids{"b"});
}

// The one file named as the evaluation part is not trained on as well.
TEST(LayoutTest, TheWholeFileNamedAsEvaluationIsThatAlone) {
  DataSet data;
  data.put_ids({"a"});
  data.put_metadata("a|x|some text\n");
  data.options.sources[0].metadata_eval = "metadata.csv";
  data.options.splits.split = Split::kEval;
  EXPECT_EQ(ids_of(data.scan()), Ids{"a"});
  EXPECT_EQ(data.scan().counts().rejected, 0U);
}

TEST(LayoutTest, SoundFoldersMayBeNamed) {
  DataSet data;
  data.put_wav("elsewhere/a.wav");
  data.folder.put("metadata_train.csv", "a|x|some text\n");
  data.options.sources[0].wavs_train = "elsewhere";
  EXPECT_EQ(ids_of(data.scan()), Ids{"a"});
}

TEST(LayoutTest, ATabTableIsMappedByItsColumns) {
  DataSet data;
  data.put_wav("clips/one.wav", 22050, 1);
  data.put_wav("clips/two.wav", 22050, 2);
  data.folder.put("train.tsv",
                  "client_id\tpath\tsentence\n"
                  "bob\tone.wav\tHe said \"no\nann\ttwo.wav\tsome text\n");
  data.options.sources = {
      {.path = data.folder / "train.tsv", .columns = "audio=path,text=sentence,speaker=client_id"}};
  const Index index = data.scan();
  EXPECT_EQ(ids_of(index), (Ids{"one", "two"}));
  EXPECT_EQ(index[0].text, "He said \"no");
  EXPECT_EQ(index.speakers()[index[1].speaker], "ann");
}

TEST(LayoutTest, ACommaTableKnowsQuotesOnOneLineOnly) {
  DataSet data;
  data.put_wav("a.wav", 22050, 1);
  data.put_wav("b.wav", 22050, 2);
  data.folder.put("rows.csv", "file,text\na.wav,\"well, \"\"yes\"\"\"\nb.wav,\"open\n");
  data.options.sources = {{.path = data.folder / "rows.csv", .columns = "audio=file,text=text"}};
  const Index index = data.scan();
  ASSERT_EQ(index.size(), 1U);
  EXPECT_EQ(index[0].text, "well, \"yes\"");
  ASSERT_EQ(index.rejects().size(), 1U);
  EXPECT_EQ(index.rejects()[0].error.code->name, "E-META-QUOTE");
}

TEST(LayoutTest, AColumnThatIsNotThereIsAnErrorThatNamesTheHeader) {
  DataSet data;
  data.folder.put("rows.tsv", "file\ttext\n");
  data.options.sources = {{.path = data.folder / "rows.tsv", .columns = "audio=path,text=text"}};
  try {
    data.scan();
    FAIL() << "no error";
  } catch (const ConfigError& error) {
    EXPECT_EQ(error.error().code->name, "E-DATA-COLUMNS");
    EXPECT_TRUE(contains(error.error().found, "file, text"));
  }
}

TEST(LayoutTest, AManifestHasSegmentsOfFiles) {
  DataSet data;
  data.put_wav("long.wav", 10 * 22050, 1);
  data.folder.put("manifest.jsonl",
                  R"({"audio_filepath": "long.wav", "text": "one", "offset": 1.5, "duration": 2.0})"
                  "\n"
                  R"({"audio_filepath": "long.wav", "text": "two", "duration": 9.99})"
                  "\n"
                  R"({"audio_filepath": "long.wav", "text": "six", "offset": 9.0, "duration": 5.0})"
                  "\n"
                  R"({"audio_filepath": 7, "text": "x"})"
                  "\nnot json\n");
  const Index index = data.scan();
  ASSERT_EQ(ids_of(index), (Ids{"long#1500", "long"}));
  EXPECT_EQ(index[0].first_sample, 33075U);
  EXPECT_EQ(index[0].num_samples, 44100U);
  EXPECT_EQ(index[1].num_samples, 220500U);
  ASSERT_EQ(index.rejects().size(), 3U);
  EXPECT_EQ(index.rejects()[0].error.code->name, "E-META-SEGMENT");
  EXPECT_TRUE(contains(index.rejects()[0].error.found, "10.000 s"));
  EXPECT_EQ(index.rejects()[1].error.code->name, "E-META-JSON");
}

TEST(LayoutTest, AbsolutePathsMustLieBeneathTheAudioRoot) {
  DataSet data;
  data.put_wav("a.wav", 22050, 1);
  const ScratchFolder other;
  other.put("b.wav", audio::good_wav({}, audio::samples16(22050)));
  const auto row = [](const std::string& path) {
    return R"({"audio_filepath": ")" + path + R"(", "text": "some text"})" + "\n";
  };
  data.folder.put("manifest.jsonl", row(data.folder / "a.wav") + row(other / "b.wav"));
  const Index index = data.scan();
  EXPECT_EQ(ids_of(index), Ids{"a"});
  ASSERT_EQ(index.rejects().size(), 1U);
  EXPECT_EQ(index.rejects()[0].error.code->name, "E-META-PATH");
  data.options.sources[0].audio_root = other.path();
  EXPECT_EQ(ids_of(data.scan()), Ids{"b"});
}

// Moves to another working folder while it lives.
class WorkingFolder {
 public:
  explicit WorkingFolder(const std::string& path) : before_(std::filesystem::current_path()) {
    std::filesystem::current_path(path);
  }
  ~WorkingFolder() { std::filesystem::current_path(before_); }
  WorkingFolder(const WorkingFolder&) = delete;
  WorkingFolder& operator=(const WorkingFolder&) = delete;

 private:
  std::filesystem::path before_;
};

TEST(LayoutTest, ARelativeAudioRootStartsFromTheWorkingFolder) {
  DataSet data;
  const ScratchFolder other;
  other.put("sounds/b.wav", audio::good_wav({}, audio::samples16(22050)));
  data.put_wav("sounds/a.wav");
  data.put_metadata("a|some text\nb|some text\n");
  data.options.sources[0].audio_root = "sounds";
  EXPECT_EQ(ids_of(data.scan()), Ids{"a"}) << "not there: from the metadata's folder";
  const WorkingFolder here(other.path());
  EXPECT_EQ(ids_of(data.scan()), Ids{"b"});
}

TEST(LayoutTest, AbsolutePathsMayBeWrittenThroughALink) {
  DataSet data;
  const ScratchFolder other;
  std::filesystem::create_directory_symlink(data.folder.path(), other / "link");
  data.put_wav("a.wav");
  data.folder.put("manifest.jsonl", R"({"audio_filepath": ")" + (other / "link/a.wav") +
                                        R"(", "text": "some text"})" + "\n");
  data.options.sources[0].path = other / "link";
  EXPECT_EQ(ids_of(data.scan()), Ids{"a"});
}

TEST(LayoutTest, AKaldiFolderHasSegmentsAndSpeakersAndRunsNoCommand) {
  DataSet data;
  data.put_wav("talk.wav", 5 * 22050, 1);
  data.folder.put("wav.scp", "rec1 talk.wav\nrec2 sox in.wav -t wav - |\n");
  data.folder.put("segments", "u1 rec1 0.5 2.5\nu2 rec2 0 1\nu4 rec1 3 2\n");
  data.folder.put("utt2spk", "u1 bob\n");
  data.folder.put("text", "u1 some words\nu2 some words\nu3 some words\nu4 words\n");
  const Index index = data.scan();
  ASSERT_EQ(ids_of(index), Ids{"u1"});
  EXPECT_EQ(index[0].num_samples, 44100U);
  EXPECT_EQ(index.speakers()[0], "bob");
  EXPECT_EQ(index.account().reject_codes().at("E-META-ENTRY"), 3U);
  EXPECT_TRUE(contains(index.rejects()[0].error.found, "never run"));
}

TEST(LayoutTest, SeveralSourcesAreOneIndexWithTheirNamesBeforeTheIds) {
  DataSet data;
  for (const char* set : {"first", "second"}) {
    data.folder.put(std::string(set) + "/metadata.csv", "a|x|some text\n");
    data.put_wav(std::string(set) + "/wavs/a.wav", 22050, set[0]);
  }
  data.options.sources = {{.path = data.folder / "first", .weight = 2.0},
                          {.path = data.folder / "second", .language = "fa"}};
  const Index index = data.scan();
  EXPECT_EQ(ids_of(index), (Ids{"first/a", "second/a"}));
  EXPECT_DOUBLE_EQ(index.sources()[0].weight, 2.0);
  EXPECT_EQ(index.languages()[index[1].language], "fa");
  EXPECT_TRUE(index.open_sound(index[1]).ok());
}

TEST(LayoutTest, ASoundFolderThatIsALinkOutOfTheSetIsAllowedByName) {
  DataSet data;
  const ScratchFolder elsewhere;
  elsewhere.put("a.wav", audio::good_wav({}, audio::samples16(22050)));
  std::filesystem::create_directory_symlink(elsewhere.path(), data.folder / "wavs");
  data.put_metadata("a|x|some text\n");
  try {
    data.scan();
    FAIL() << "no error";
  } catch (const DataError& error) {
    EXPECT_EQ(error.error().code->name, "E-META-LINK");
    EXPECT_TRUE(contains(error.error().cure, "audio_root"));
  }
  data.options.sources[0].audio_root = elsewhere.path();
  EXPECT_EQ(ids_of(data.scan()), Ids{"a"});
}

TEST(LayoutTest, AFolderWithoutMetadataIsRefusedByName) {
  DataSet data;
  try {
    data.scan();
    FAIL() << "no error";
  } catch (const DataError& error) {
    EXPECT_EQ(error.error().code->name, "E-DATA-LAYOUT");
  }
}

}  // namespace
}  // namespace stoker::data
