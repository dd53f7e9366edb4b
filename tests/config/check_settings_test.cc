#include "stoker/config/check_settings.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <set>

#include "stoker/config/errors.h"
#include "stoker/config/field_table.h"
#include "tests/config/load_from_text.h"

namespace stoker::config {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string feed_line(std::string_view yaml, SettingsInputs inputs = {}) {
  return no_effect_line(load_from_text(yaml, std::move(inputs)), CommandKind::kFeed);
}

TEST(NoEffectTest, OneLineNamesWhatWasGivenAndWhere) {
  const std::string line = feed_line(
      "data: {batch_frames: auto}\n"
      "augment: {enable_pitch_shift: true, speed_range: [0.9, 1.0]}\n");
  EXPECT_THAT(line, HasSubstr("has no effect yet: "));
  EXPECT_THAT(line, HasSubstr("data.batch_frames: auto ("));
  EXPECT_THAT(line, HasSubstr("config.yaml:1"));
  EXPECT_THAT(line, HasSubstr("augment.enable_pitch_shift ("));
  EXPECT_THAT(line, HasSubstr("augment.speed_range ("));
  EXPECT_EQ(line.find('\n'), std::string::npos);
}

TEST(NoEffectTest, PitchAndSpeedAreToldNotRefused) {
  EXPECT_THAT(
      feed_line("data: {enable_pitch_shift: true, pitch_shift_range: [-3, 3]}\n"),
      AllOf(HasSubstr("augment.enable_pitch_shift ("), HasSubstr("augment.pitch_shift_range (")));
  EXPECT_THAT(feed_line("augment: {speed_range: [0.9, 1.1]}\n"),
              HasSubstr("augment.speed_range ("));
}

TEST(NoEffectTest, WhatHappensAnywayIsNotTold) {
  EXPECT_EQ(feed_line(""), "");
  EXPECT_EQ(feed_line("data: {batch_frames: 9000, batch_size: null, val_path: }\n"
                      "augment: {enable_pitch_shift: false, speed_range: [1, 1]}\n"
                      "gpu: {model_gpu_memory: auto}\n"),
            "");
}

TEST(NoEffectTest, GraphsHaveAnEffectAndAreNotNamed) {
  const LoadedSettings loaded = load_from_text("training: {epochs: 5, graphs: on}\n");
  for (const CommandKind command : {CommandKind::kOther, CommandKind::kTrain, CommandKind::kFeed}) {
    EXPECT_EQ(no_effect_line(loaded, command), "");
  }
}

TEST(NoEffectTest, StrictRefusesTheFirstOfThem) {
  const LoadedSettings loaded = load_from_text("seed: 1\naugment: {enable_pitch_shift: true}\n");
  EXPECT_NO_THROW(refuse_no_effect(loaded, CommandKind::kOther));
  EXPECT_NO_THROW(refuse_no_effect(loaded, CommandKind::kShow));
  EXPECT_NO_THROW(refuse_no_effect(load_from_text("seed: 1\n"), CommandKind::kFeed));
  try {
    refuse_no_effect(loaded, CommandKind::kFeed);
    FAIL() << "taken";
  } catch (const ConfigError& refused) {
    EXPECT_EQ(refused.error().code, &kConfigNoEffect);
    EXPECT_EQ(refused.error().place.line, 2U);
    EXPECT_EQ(refused.error().found, "augment.enable_pitch_shift, which has no effect yet");
  }
}

TEST(NoEffectTest, WhatIsMarked) {
  std::set<std::string> marked;
  for (const FieldInfo& field : all_fields())
    if (field.section == "training" || field.section == "observe" || field.section == "gpu")
      if (field.not_yet != NotYet::kRead) marked.insert(field.path);
  EXPECT_THAT(marked, testing::IsEmpty());
}

TEST(CacheFolderTest, UnfitFoldersAreRefusedBeforeAnyWork) {
  const ScratchFolder folder;
  folder.put("data/metadata.csv", "a|b\n");
  const auto refused = [](const std::string& cache, const std::string& data) {
    try {
      check_cache_folder(cache, data);
    } catch (const ConfigError& error) {
      return std::string(error.error().code->name);
    }
    return std::string("accepted");
  };
  EXPECT_EQ(refused(folder / "data", folder / "data"), "E-CONFIG-FOLDER");
  EXPECT_EQ(refused(folder / "data/../data/", folder / "data"), "E-CONFIG-FOLDER");
  EXPECT_EQ(refused("/", folder / "data"), "E-CONFIG-FOLDER");
  EXPECT_EQ(refused(folder / "data/metadata.csv/x", folder / "data"), "E-CONFIG-FOLDER");
  std::filesystem::create_directory(folder / "shut");
  std::filesystem::permissions(folder / "shut", std::filesystem::perms::owner_read);
  const std::string expected = geteuid() == 0 ? "accepted" : "E-CONFIG-FOLDER";
  EXPECT_EQ(refused(folder / "shut", folder / "data"), expected) << "root may write anywhere";
  EXPECT_EQ(refused(folder / "new/cache", folder / "data"), "accepted");
}

}  // namespace
}  // namespace stoker::config
