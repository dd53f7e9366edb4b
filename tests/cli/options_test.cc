#include <gmock/gmock.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "stoker/cli/cache_options.h"
#include "stoker/cli/command_context.h"
#include "stoker/cli/error_catalogue.h"
#include "stoker/cli/old_flags.h"
#include "stoker/cli/settings_options.h"

namespace stoker::cli {
namespace {

using testing::HasSubstr;

// A command with the options of `stoker train`, as the original's users would type them.
class TrainLine {
 public:
  TrainLine() : app_("train") {
    app_.add_option("--config", "");
    app_.add_option("--seed", "");
    add_train_options(app_, frame_);
    add_old_flags(app_, frame_, "train_main trainTestFile");
  }
  const config::Settings& parse(const std::string& line) {
    app_.parse(line);
    return frame_.settings();
  }
  CLI::App& app() { return app_; }
  CommandContext& context() { return frame_; }

 private:
  CommandContext frame_;
  CLI::App app_;
};

TEST(TrainOptionsTest, NamesTheOriginalsUsersKnowReachTheSettings) {
  TrainLine train;
  const config::Settings& settings = train.parse(
      "--train-data d --batch-size 16 --grad-accum 2 --lr 3e-4 --buffer-size 75 "
      "--model-start-delay 3.5 --data-gpu 0 --model-gpu 1 --data-gpu-memory 4096 "
      "--no-prefetch-to-gpu --disable-tf-native-loading --enable-static-shapes "
      "--model-size tiny --enable-eager-debug --resume");
  EXPECT_EQ(settings.data.path, "d");
  EXPECT_EQ(settings.batch.batch_size, 16);
  EXPECT_EQ(settings.training.gradient_accumulation_steps, 2);
  EXPECT_EQ(settings.optimizer.learning_rate, 3e-4);
  EXPECT_EQ(settings.gpu.buffer_size, 75);
  EXPECT_EQ(settings.gpu.model_start_delay_s, 3.5);
  EXPECT_EQ(settings.gpu.data_gpu, 0);
  EXPECT_EQ(settings.gpu.data_gpu_memory->count, 4 * config::kGiB);
  EXPECT_FALSE(settings.gpu.prefetch_to_gpu);
  EXPECT_FALSE(settings.loader.use_native_loading);
  EXPECT_TRUE(settings.batch.static_shapes);
  EXPECT_EQ(settings.training.model_size, config::ModelSize::kTiny);
  EXPECT_EQ(settings.training.graphs, config::OnOffAuto::kOff);
  EXPECT_TRUE(settings.training.resume);
}

TEST(TrainOptionsTest, FlagWithoutMeaningIsTakenWithOrWithoutAValue) {
  for (const char* line : {"--enable-gst", "--gst-num-heads 4 --batch-size 3"}) {
    TrainLine train;
    EXPECT_NO_THROW(train.parse(line)) << line;
  }
}

TEST(FeedOptionsTest, EveryFeedOptionIsThere) {
  CommandContext context;
  CLI::App app;
  add_feed_options(app, context);
  for (const char* flag :
       {"--data", "--cache", "--batch-size", "--batch-frames", "--max-shapes", "--batch-layout",
        "--batch-multiple", "--num-workers", "--prefetch-buffer-size", "--buffer-size",
        "--buffer-memory", "--preprocessing-mode", "--cache-tier", "--preset", "--device",
        "--disable-native-loading", "--disable-gpu-prefetch", "--disable-cpu-gpu-overlap"})
    EXPECT_NE(app.get_option_no_throw(flag), nullptr) << flag;
}

TEST(FeedOptionsTest, HelpShowsDefaultUnitAndChoices) {
  CommandContext context;
  CLI::App app;
  add_feed_options(app, context);
  const std::string help = app.help();
  EXPECT_THAT(help, HasSubstr("padded|packed"));
  EXPECT_THAT(help, HasSubstr("(40000)"));
  EXPECT_THAT(help, HasSubstr("[frames]"));
}

TEST(OldFlagsTest, EveryListedTrainingFlagIsTaken) {
  const char* data = std::getenv("STOKER_TEST_DATA");
  if (data == nullptr) GTEST_SKIP() << "STOKER_TEST_DATA is not set";
  TrainLine train;
  std::ifstream flags(std::string(data) + "/legacy-myxtts/flags.txt");
  std::string program;
  std::string flag;
  std::size_t num_flags = 0;
  while (flags >> program >> flag) {
    if (program != "train_main" && program != "trainTestFile") continue;
    EXPECT_NE(train.app().get_option_no_throw(flag), nullptr) << program << " " << flag;
    ++num_flags;
  }
  EXPECT_GT(num_flags, 80U);
}

// Old command lines reach every command that reads a data set: what it does not read gives a line.
TEST(OldFlagsTest, EveryListedFlagIsTakenByFeedAndCacheCommands) {
  const char* data = std::getenv("STOKER_TEST_DATA");
  if (data == nullptr) GTEST_SKIP() << "STOKER_TEST_DATA is not set";
  CommandContext context;
  CLI::App feed;
  add_feed_options(feed, context);
  CLI::App cache;
  add_cache_options(cache, context);
  add_index_options(cache, context);
  feed.parse("");
  cache.parse("");
  std::ifstream flags(std::string(data) + "/legacy-myxtts/flags.txt");
  std::string program;
  std::string flag;
  while (flags >> program >> flag) {
    if (program == "gpu_monitor" || flag == "--config" || flag == "--seed") continue;
    EXPECT_NE(feed.get_option_no_throw(flag), nullptr) << program << " " << flag;
    EXPECT_NE(cache.get_option_no_throw(flag), nullptr) << program << " " << flag;
  }
}

TEST(OldFlagsTest, FlagsOfTheOriginalReachTheFeedsSettings) {
  CommandContext context;
  CLI::App feed;
  add_feed_options(feed, context);
  feed.parse(
      "--train-data d --metadata-train-file t.csv --metadata-eval-file e.csv --wavs-train-dir tw "
      "--wavs-eval-dir ew --val-data v --sample-rate 16000 --model-start-delay 3.5 "
      "--max-mel-frames 900 --num-batches 3 --lr 1e-3 --enable-gst");
  const config::Settings& settings = context.settings();
  EXPECT_EQ(settings.data.metadata_train_file, "t.csv");
  EXPECT_EQ(settings.data.metadata_eval_file, "e.csv");
  EXPECT_EQ(settings.data.wavs_train_dir, "tw");
  EXPECT_EQ(settings.data.wavs_eval_dir, "ew");
  EXPECT_EQ(settings.data.val_path, "v");
  EXPECT_EQ(settings.features.sample_rate_hz, 16000);
  EXPECT_EQ(settings.gpu.model_start_delay_s, 3.5);
  EXPECT_EQ(settings.rows.max_mel_frames, 900);
}

TEST(OldFlagsTest, CacheCommandSaysWhatItDoesNotRead) {
  CommandContext context;
  CLI::App cache("", "precompute");
  add_cache_options(cache, context);
  add_index_options(cache, context);
  cache.parse("--train-data d --wavs-train-dir w --batch-size 8 --no-prefetch-to-gpu");
  EXPECT_EQ(context.settings().data.wavs_train_dir, "w");
  EXPECT_FALSE(context.settings().batch.batch_size.has_value());
  EXPECT_THAT(context.report()["notices"].dump(),
              HasSubstr("--batch-size: `precompute` does not read data.batch_size"));
  EXPECT_THAT(context.report()["notices"].dump(), HasSubstr("--no-prefetch-to-gpu: `precompute`"));
}

TEST(ErrorCatalogueTest, CodesAreUniqueAndSayWhatTheyMean) {
  std::map<std::string_view, std::string_view> folders;
  for (const auto& [folder, code] : error_catalogue()) {
    EXPECT_TRUE(code->name.starts_with("E-")) << code->name;
    EXPECT_FALSE(code->meaning.empty()) << code->name;
    const auto [at, is_new] = folders.emplace(code->name, folder);
    EXPECT_TRUE(is_new) << code->name << " in " << folder << " and " << at->second;
  }
  EXPECT_GT(folders.size(), 30U);
}

}  // namespace
}  // namespace stoker::cli
