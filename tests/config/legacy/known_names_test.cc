#include <gmock/gmock.h>

#include <cstdlib>
#include <fstream>

#include "stoker/config/legacy/known_names.h"
#include "stoker/config/settings_text.h"
#include "tests/config/load_from_text.h"

namespace stoker::config {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(KnownNamesTest, FileOfMyxttsGetsItsDefaultsAndPreset) {
  const auto loaded = load_from_text("data:\n  dataset_path: LJSpeech\n  num_workers: 3\n");
  EXPECT_TRUE(loaded.from_myxtts);
  EXPECT_EQ(loaded.settings.data.path, "LJSpeech");
  EXPECT_EQ(loaded.settings.features.preset, "myxtts");
  EXPECT_EQ(loaded.settings.text.vocabulary, "myxtts");
  EXPECT_EQ(loaded.settings.batch.batch_size, 56);
  EXPECT_EQ(loaded.settings.loader.num_workers, 3);
  EXPECT_EQ(loaded.settings.features.loudness, LoudnessRule::kLufs);
  EXPECT_EQ(loaded.settings.training.save_step, 25000);
}

TEST(KnownNamesTest, FileWithOurNamesKeepsOurDefaults) {
  const auto loaded = load_from_text("data: {num_workers: 24, preprocessing_mode: precompute}");
  EXPECT_FALSE(loaded.from_myxtts);
  EXPECT_EQ(loaded.settings.features.preset, "hifigan");
  EXPECT_FALSE(loaded.settings.batch.batch_size.has_value());
  EXPECT_THAT(loaded.notices, IsEmpty());
}

TEST(KnownNamesTest, NamedPresetMakesTheFileOurs) {
  const auto loaded = load_from_text("preset: hifigan\ndata: {dataset_path: x}\n");
  EXPECT_FALSE(loaded.from_myxtts);
  EXPECT_EQ(loaded.settings.data.path, "x");
  EXPECT_FALSE(loaded.settings.features.trim_silence);
}

TEST(KnownNamesTest, EachSwitchDoesWhatItsNameSays) {
  const auto loaded = load_from_text(
      "data: {use_tf_native_loading: false, enhanced_gpu_prefetch: false, memory_cache: true,\n"
      "       optimize_cpu_gpu_overlap: false, prefetch_to_gpu: false, mixed_precision: false,\n"
      "       text_cleaners: [basic_cleaners], enable_loudness_normalization: false,\n"
      "       pipeline_buffer_size: 25, pad_to_fixed_length: true, hop_length: 200}\n"
      "training: {enable_eager_debug: true, max_epochs: 5}\n");
  const Settings& settings = loaded.settings;
  EXPECT_FALSE(settings.loader.use_native_loading);
  EXPECT_FALSE(settings.gpu.enhanced_gpu_prefetch);
  EXPECT_EQ(settings.cache.tier, CacheTier::kRam);
  EXPECT_FALSE(settings.gpu.prefetch_to_gpu);
  EXPECT_EQ(settings.training.precision, Precision::kFp32);
  EXPECT_EQ(settings.text.cleaner, "basic_cleaners");
  EXPECT_EQ(settings.features.loudness, LoudnessRule::kPeak);
  EXPECT_EQ(settings.gpu.buffer_size, 25);
  EXPECT_TRUE(settings.batch.static_shapes);
  EXPECT_EQ(settings.features.hop_samples, 200);
  EXPECT_EQ(settings.training.graphs, OnOffAuto::kOff);
  EXPECT_EQ(settings.training.epochs, 5);
}

TEST(KnownNamesTest, NameWithoutMeaningGivesOneLine) {
  const auto loaded = load_from_text("data:\n  persistent_workers: true\n");
  EXPECT_THAT(loaded.notices,
              Contains(HasSubstr(
                  "data.persistent_workers: stoker's workers are threads and never restart")));
}

TEST(KnownNamesTest, TwoNamesOfOneSettingAreSettledWithALine) {
  const auto loaded = load_from_text("data: {batch_size: 8}\ntraining: {batch_size: 16}\n");
  EXPECT_EQ(loaded.settings.batch.batch_size, 8);
  EXPECT_THAT(loaded.notices, Contains(HasSubstr("training.batch_size: not used")));
}

TEST(KnownNamesTest, EveryKnownPathLoadsWithoutAValue) {
  for (const std::string& path : known_paths()) {
    const std::size_t dot = path.find('.');
    const std::string yaml = dot == path.npos
                                 ? path + ":\n"
                                 : path.substr(0, dot) + ":\n  " + path.substr(dot + 1) + ":\n";
    EXPECT_EQ(code_of(load_error(yaml)), "loaded") << path;
  }
}

TEST(KnownNamesTest, MigratedFileSaysTheSameInOurNames) {
  const auto given = load_from_text("data: {dataset_path: x, pipeline_buffer_size: 9}\n");
  const auto native = load_from_text(given_yaml(given));
  EXPECT_FALSE(native.from_myxtts);
  EXPECT_THAT(native.notices, IsEmpty());
  EXPECT_EQ(settings_yaml(native.settings), settings_yaml(given.settings));
}

TEST(KnownNamesTest, ExamplesLoad) {
  const std::string folder = STOKER_SOURCE_FOLDER "/examples/";
  EXPECT_TRUE(load_settings({.file = folder + "config_gpu_bottleneck_fix.yaml"}).from_myxtts);
  const auto native = load_settings({.file = folder + "config_native.yaml"});
  EXPECT_FALSE(native.from_myxtts);
  EXPECT_THAT(native.notices, IsEmpty());
}

TEST(KnownNamesTest, EveryListedKeyIsKnown) {
  const char* data = std::getenv("STOKER_TEST_DATA");
  if (data == nullptr) GTEST_SKIP() << "STOKER_TEST_DATA is not set";
  std::ifstream keys(std::string(data) + "/legacy-myxtts/config-keys.txt");
  std::string path;
  std::size_t num_keys = 0;
  while (std::getline(keys, path)) {
    EXPECT_TRUE(find_name(path).has_value()) << path;
    EXPECT_TRUE(find_bare_name(path.substr(path.find('.') + 1)).has_value()) << path;
    ++num_keys;
  }
  EXPECT_GT(num_keys, 300U);
}

}  // namespace
}  // namespace stoker::config
