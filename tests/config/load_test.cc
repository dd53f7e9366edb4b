#include "stoker/config/load.h"

#include <gmock/gmock.h>

#include "stoker/config/field_table.h"
#include "tests/config/load_from_text.h"

namespace stoker::config {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

std::string source_of(const LoadedSettings& loaded, std::string_view path) {
  return source_text(loaded.sources[index_of(*find_field(path))]);
}

TEST(LoadTest, LaterSourcesWinAndAreNamed) {
  const std::string file = "data:\n  batch_size: 1\n";
  SettingsInputs inputs;
  auto loaded = load_from_text(file, inputs);
  EXPECT_EQ(loaded.settings.batch.batch_size, 1);
  EXPECT_THAT(source_of(loaded, "data.batch_size"), EndsWith("config.yaml:2"));

  inputs.environment = {{"STOKER_DATA__BATCH_SIZE", "2"}};
  loaded = load_from_text(file, inputs);
  EXPECT_EQ(loaded.settings.batch.batch_size, 2);
  EXPECT_EQ(source_of(loaded, "data.batch_size"), "environment STOKER_DATA__BATCH_SIZE");

  inputs.command_line = {{"data.batch_size", "3", "--batch-size"}};
  loaded = load_from_text(file, inputs);
  EXPECT_EQ(loaded.settings.batch.batch_size, 3);
  EXPECT_EQ(source_of(loaded, "data.batch_size"), "--batch-size");

  inputs.set = {"data.batch_size=4"};
  loaded = load_from_text(file, inputs);
  EXPECT_EQ(loaded.settings.batch.batch_size, 4);
  EXPECT_EQ(source_of(loaded, "data.batch_size"), "--set data.batch_size");
  EXPECT_EQ(source_of(loaded, "data.shuffle"), "default");
}

TEST(LoadTest, KeywordsMayLackTheirSection) {
  SettingsInputs inputs;
  inputs.environment = {{"STOKER_DATA__BATCH_SIZE", "2"}};
  inputs.keywords = {{"batch_size", "3", "Feed(batch_size=)"}, {"cache.tier", "ram", "Feed()"}};
  const auto loaded = load_from_text("seed: 1\n", inputs);
  EXPECT_EQ(loaded.settings.batch.batch_size, 3);
  EXPECT_EQ(loaded.settings.cache.tier, CacheTier::kRam);
  EXPECT_EQ(source_of(loaded, "data.batch_size"), "Feed(batch_size=)");

  inputs.keywords = {{"bacth_size", "3", "Feed(bacth_size=)"}};
  try {
    load_from_text("", inputs);
    ADD_FAILURE();
  } catch (const ConfigError& refused) {
    EXPECT_EQ(code_of(refused.error()), "E-CONFIG-UNKNOWN");
    EXPECT_EQ(refused.error().place.file, "Feed(bacth_size=)");
    EXPECT_THAT(refused.error().cure, HasSubstr("batch_size"));
  }
}

TEST(LoadTest, TypoNamesTheNearestKeyAndThePlace) {
  const Error error = load_error("features:\n  preset: hifigan\n  hop_lenght: 256\n");
  EXPECT_EQ(code_of(error), "E-CONFIG-UNKNOWN");
  EXPECT_EQ(error.place.line, 3U);
  EXPECT_EQ(error.place.column, 3U);
  EXPECT_THAT(error.cure, HasSubstr("hop_length"));
}

TEST(LoadTest, UnknownSectionsAndTopKeysAreErrors) {
  EXPECT_THAT(load_error("dtaa:\n  path: x\n").cure, HasSubstr("data"));
  EXPECT_THAT(load_error("bacth_size: 3\n").cure, HasSubstr("batch_size"));
  EXPECT_EQ(code_of(load_error("data: 3\n")), "E-CONFIG-VALUE");
}

TEST(LoadTest, KeyInTheWrongSectionIsToldItsPlace) {
  EXPECT_THAT(load_error("text:\n  batch_frames: 3000\n").cure, HasSubstr("data.batch_frames"));
}

TEST(LoadTest, KnownKeyAtTheTopGoesIntoItsSectionWithANotice) {
  const auto loaded = load_from_text("batch_frames: 3000\n");
  EXPECT_EQ(loaded.settings.batch.batch_frames, 3000);
  ASSERT_EQ(loaded.notices.size(), 1U);
  EXPECT_THAT(loaded.notices[0], HasSubstr("data.batch_frames"));
}

TEST(LoadTest, UnknownVariableIsAnErrorAndOthersAreKnown) {
  SettingsInputs inputs;
  inputs.environment = {{"STOKER_SIMD", "avx2"}, {"STOKER_CACHE", "/x"}};
  EXPECT_NO_THROW(load_settings(inputs));
  inputs.environment = {{"STOKER_DATA__BATCHSIZE", "2"}};
  const Error error = load_error("", inputs);
  EXPECT_EQ(code_of(error), "E-CONFIG-UNKNOWN");
  EXPECT_THAT(error.cure, HasSubstr("STOKER_DATA__BATCH_SIZE"));
}

TEST(LoadTest, SetTakesListsAndRefusesWhatItDoesNotKnow) {
  const auto loaded = load_from_text(
      "", {.set = {"augment.gain_range=[-3, 3]", "data.columns=audio=path,text=words"}});
  EXPECT_EQ(loaded.settings.augment.gain_db, (Interval{-3.0, 3.0}));
  EXPECT_EQ(loaded.settings.data.columns.at("audio"), "path");
  EXPECT_EQ(code_of(load_error("", {.set = {"data.batch_sise=4"}})), "E-CONFIG-UNKNOWN");
  EXPECT_EQ(code_of(load_error("", {.set = {"data.batch_size"}})), "E-CONFIG-VALUE");
}

TEST(LoadTest, StrongerBatchSizeWins) {
  SettingsInputs inputs;
  inputs.command_line = {{"data.batch_frames", "9000", "--batch-frames"}};
  const auto loaded = load_from_text("data: {batch_size: 8}", inputs);
  EXPECT_FALSE(loaded.settings.batch.batch_size.has_value());
  EXPECT_EQ(loaded.settings.batch.batch_frames, 9000);
}

TEST(LoadTest, ASizeBringsValuesThatEverythingElseIsStrongerThan) {
  const LoadedSettings tiny = load_from_text("training: {model_size: tiny, warmup_steps: 7}");
  EXPECT_EQ(tiny.settings.batch.batch_frames, 4000);
  EXPECT_EQ(source_of(tiny, "data.batch_frames"), "training.model_size");
  EXPECT_EQ(tiny.settings.optimizer.learning_rate, 2e-3);
  EXPECT_EQ(tiny.settings.optimizer.warmup_steps, 7) << "the file is stronger";
  const LoadedSettings level =
      load_from_text("training: {model_size: tiny, optimization_level: basic}");
  EXPECT_EQ(level.settings.optimizer.learning_rate, 1e-5) << "the level is stronger";
  EXPECT_EQ(level.settings.optimizer.ema_decay, 0.99);
  const LoadedSettings rows = load_from_text("data: {batch_size: 8}\ntraining: {model_size: tiny}");
  EXPECT_EQ(rows.settings.batch.batch_size, 8) << "utterances were asked for, not frames";
  const LoadedSettings myxtts =
      load_from_text("data: {dataset_path: x}\ntraining: {model_size: tiny}");
  EXPECT_EQ(source_of(myxtts, "training.warmup_steps"), "the default of myxtts");
  const LoadedSettings normal = load_from_text("training: {model_size: normal}");
  EXPECT_EQ(source_of(normal, "data.batch_frames"), "default");
}

TEST(LoadTest, LevelFillsInWhatIsNotGiven) {
  const auto loaded = load_from_text(
      "training: {optimization_level: enhanced, model_size: small, gradient_clip_norm: 2}");
  EXPECT_EQ(loaded.settings.optimizer.learning_rate, 5e-5);
  EXPECT_EQ(loaded.settings.optimizer.gradient_clip_norm, 2.0);
  EXPECT_EQ(source_of(loaded, "training.learning_rate"), "training.optimization_level");
}

}  // namespace
}  // namespace stoker::config
