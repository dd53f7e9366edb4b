#include "stoker/data/voice/data_set_maker.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "stoker/audio/file/wav_writer.h"
#include "stoker/data/summary.h"
#include "tests/doubles/fault_io.h"
#include "tests/doubles/scratch_folder.h"

namespace stoker::data::voice {
namespace {

std::vector<std::string> lines_of(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

MakeOptions options_for(const std::string& out) {
  return {.out = out, .num_utterances = 12, .num_speakers = 3, .seed = 7, .num_workers = 1};
}

Result<MakeReport> make(const MakeOptions& options) {
  return make_data_set(system_io(), options, {}, no_progress());
}

TEST(VoiceDataSetTest, LayoutIsLjSpeechWithTwoSidecars) {
  const ScratchFolder scratch;
  const auto report = make(options_for(scratch / "d")).take_or_raise();
  EXPECT_EQ(report.num_made, 12U);
  const auto rows = lines_of(scratch / "d/metadata.csv");
  const auto phonemes = lines_of(scratch / "d/phonemes.csv");
  const auto alignments = lines_of(scratch / "d/alignments.jsonl");
  ASSERT_EQ(rows.size(), 12U);
  ASSERT_EQ(phonemes.size(), 12U);
  ASSERT_EQ(alignments.size(), 12U);
  double audio_s = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::string id = utterance_id(static_cast<std::uint32_t>(i % 3), i);
    EXPECT_TRUE(rows[i].starts_with(id + "|")) << rows[i];
    EXPECT_EQ(std::count(rows[i].begin(), rows[i].end(), '|'), 2);
    EXPECT_TRUE(phonemes[i].starts_with(id + "|"));
    const auto size_bytes = std::filesystem::file_size(scratch / ("d/wavs/" + id + ".wav"));
    audio_s += static_cast<double>(size_bytes - audio::kWavHeaderBytes) / 2 / 22050;
  }
  EXPECT_NEAR(report.audio_s, audio_s, 1e-9);
}

TEST(VoiceDataSetTest, AlignmentsCoverTheSoundInOrder) {
  const ScratchFolder scratch;
  ASSERT_TRUE(make(options_for(scratch / "d")).ok());
  for (const std::string& line : lines_of(scratch / "d/alignments.jsonl")) {
    const auto row = nlohmann::json::parse(line);
    const std::string wav = scratch / ("d/wavs/" + row["id"].get<std::string>() + ".wav");
    const double length_s = static_cast<double>(std::filesystem::file_size(wav) - 44) / 2 / 22050;
    double now_s = 0;
    for (const auto& phone : row["phones"]) {
      EXPECT_NEAR(phone["start_s"].get<double>(), now_s, 2e-4) << line;
      now_s = phone["end_s"].get<double>();
    }
    EXPECT_NEAR(now_s, length_s, 0.005);
    EXPECT_GT(row["words"].size(), 0U);
    EXPECT_GT(row["words"].front()["start_s"].get<double>(), 0.04);
    EXPECT_LT(row["words"].back()["end_s"].get<double>(), length_s);
  }
}

TEST(VoiceDataSetTest, NumberOfWorkersLeavesNoTrace) {
  const ScratchFolder scratch;
  MakeOptions options = options_for(scratch / "one");
  const auto one = make(options).take_or_raise();
  options.out = scratch / "three";
  options.num_workers = 3;
  EXPECT_EQ(make(options).take_or_raise().tree_digest.hex(), one.tree_digest.hex());
  for (const auto& entry : std::filesystem::recursive_directory_iterator(scratch / "one")) {
    if (!entry.is_regular_file()) continue;
    const auto name = std::filesystem::relative(entry.path(), scratch / "one").string();
    EXPECT_EQ(content_of(entry.path()), content_of(scratch / "three/" + name)) << name;
  }
  options.out = scratch / "other_seed";
  options.seed = 8;
  EXPECT_NE(make(options).take_or_raise().tree_digest.hex(), one.tree_digest.hex());
}

// Fails where a machine or compiler rounds otherwise. A change of the voice changes these too.
TEST(VoiceDataSetTest, BytesAreTheSameOnEveryMachine) {
  const ScratchFolder scratch;
  MakeOptions options = options_for(scratch / "en");
  EXPECT_EQ(make(options).take_or_raise().tree_digest.hex(), "16719bc62a8506a663f69e1a1e37f040");
  options.out = scratch / "fa";
  options.language = Language::kPersian;
  options.lengths = {.kind = LengthKind::kLjSpeech};
  options.rate_hz = 44100;
  EXPECT_EQ(make(options).take_or_raise().tree_digest.hex(), "001721407524d5c6e87c21a82d9fdae9");
}

TEST(VoiceDataSetTest, SpeakersAndLanguageAreRecordedForTheIndex) {
  const ScratchFolder scratch;
  MakeOptions options = options_for(scratch / "d");
  options.language = Language::kPersian;
  ASSERT_TRUE(make(options).ok());
  IndexOptions index_options;
  index_options.sources = {{.path = options.out}};
  const Index index = open_index(index_options, system_io());
  EXPECT_EQ(voices_text(index), "3 speakers, language fa");
  EXPECT_EQ(index.speakers()[index[4].speaker], "spk01");
}

TEST(VoiceDataSetTest, FolderThatIsNotEmptyIsRefused) {
  const ScratchFolder scratch;
  scratch.put("d/thesis.txt", "years of work");
  const auto refused = make(options_for(scratch / "d"));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code->name, "E-MAKE-FOLDER");
  EXPECT_NE(error_line(refused.error()).find("thesis.txt"), std::string::npos);
}

TEST(VoiceDataSetTest, ReplacingRemovesOurFilesAndOnlyThose) {
  const ScratchFolder scratch;
  MakeOptions options = options_for(scratch / "d");
  ASSERT_TRUE(make(options).ok());
  options.existing = ExistingData::kReplace;
  options.num_utterances = 2;
  ASSERT_TRUE(make(options).ok());
  EXPECT_EQ(lines_of(scratch / "d/metadata.csv").size(), 2U);
  EXPECT_FALSE(std::filesystem::exists(scratch / "d/wavs/spk02_00002.wav"));
  scratch.put("d/wavs/interview.wav", "irreplaceable");
  const auto refused = make(options);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code->name, "E-MAKE-FOLDER");
  EXPECT_EQ(lines_of(scratch / "d/metadata.csv").size(), 2U) << "nothing was removed before";
}

TEST(VoiceDataSetTest, StoppedRunLeavesNoMetadata) {
  const ScratchFolder scratch;
  std::stop_source source;
  source.request_stop();
  const auto report =
      make_data_set(system_io(), options_for(scratch / "d"), source.get_token(), no_progress());
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->num_made, 0U);
  EXPECT_FALSE(std::filesystem::exists(scratch / "d/metadata.csv"));
}

TEST(VoiceDataSetTest, FullDiskNamesTheFileAndLeavesNoMetadata) {
  const ScratchFolder scratch;
  FaultIo io;
  io.plan({.at_call = 4, .calls = {IoCall::kWrite}, .error_number = ENOSPC});
  const auto failed = make_data_set(io, options_for(scratch / "d"), {}, no_progress());
  ASSERT_FALSE(failed.ok());
  EXPECT_NE(error_line(failed.error()).find(".wav"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(scratch / "d/metadata.csv"));
}

struct OptionCase {
  const char* name;
  void (*spoil)(MakeOptions&);
};
class VoiceOptionTest : public testing::TestWithParam<OptionCase> {};

TEST_P(VoiceOptionTest, IsRefusedBeforeAnythingIsWritten) {
  const ScratchFolder scratch;
  MakeOptions options = options_for(scratch / "d");
  GetParam().spoil(options);
  const auto refused = make(options);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code->name, "E-MAKE-OPTION");
  EXPECT_FALSE(std::filesystem::exists(scratch / "d"));
}

INSTANTIATE_TEST_SUITE_P(
    Options, VoiceOptionTest,
    testing::Values(OptionCase{"NoClips", [](MakeOptions& o) { o.num_utterances = 0; }},
                    OptionCase{"NoSpeakers", [](MakeOptions& o) { o.num_speakers = 0; }},
                    OptionCase{"ManySpeakers", [](MakeOptions& o) { o.num_speakers = 1001; }},
                    OptionCase{"LowRate", [](MakeOptions& o) { o.rate_hz = 4000; }},
                    OptionCase{"HighRate", [](MakeOptions& o) { o.rate_hz = 96000; }}),
    [](const auto& instance) { return instance.param.name; });

}  // namespace
}  // namespace stoker::data::voice
