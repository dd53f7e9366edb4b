#include "stoker/cli/settings_options.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <fstream>

#include "stoker/cli/cache_options.h"
#include "stoker/cli/command_context.h"
#include "stoker/cli/command_line.h"

namespace stoker::cli {
namespace {

using testing::HasSubstr;

// A command with the options of `stoker train`, as users of myxtts would type them.
class TrainLine {
 public:
  TrainLine() : line_("train", "") {
    line_.root().add_option("--config", config_, "");
    line_.root().add_option("--seed", seed_, "");
    add_train_options(line_.root(), context_);
    add_old_flags(line_.root(), context_, "train_main trainTestFile");
  }
  const config::Settings& parse(const std::string& text) {
    EXPECT_EQ(line_.parse(text).refusal, "");
    return context_.settings();
  }
  Command command() const { return line_.root(); }

 private:
  CommandContext context_;
  CommandLine line_;
  std::string config_;
  std::string seed_;
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
    SCOPED_TRACE(line);
    train.parse(line);
  }
}

TEST(FeedOptionsTest, EveryFeedOptionIsThere) {
  CommandContext context;
  CommandLine line("stream", "");
  add_feed_options(line.root(), context);
  for (const char* flag :
       {"--data", "--cache", "--batch-size", "--batch-frames", "--max-shapes", "--batch-layout",
        "--batch-multiple", "--num-workers", "--prefetch-buffer-size", "--buffer-size",
        "--buffer-memory", "--preprocessing-mode", "--cache-tier", "--preset", "--device",
        "--disable-native-loading", "--disable-gpu-prefetch", "--disable-cpu-gpu-overlap"})
    EXPECT_TRUE(line.root().has_option(flag)) << flag;
}

TEST(FeedOptionsTest, HelpShowsDefaultUnitAndChoices) {
  CommandContext context;
  CommandLine line("stream", "");
  add_feed_options(line.root(), context);
  const std::string help = line.help();
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
    EXPECT_TRUE(train.command().has_option(flag)) << program << " " << flag;
    ++num_flags;
  }
  EXPECT_GT(num_flags, 80U);
}

// Old command lines reach every command that reads a data set: what it does not read gives a line.
TEST(OldFlagsTest, EveryListedFlagIsTakenByFeedAndCacheCommands) {
  const char* data = std::getenv("STOKER_TEST_DATA");
  if (data == nullptr) GTEST_SKIP() << "STOKER_TEST_DATA is not set";
  CommandContext context;
  CommandLine feed("stream", "");
  add_feed_options(feed.root(), context);
  CommandLine cache("precompute", "");
  add_cache_options(cache.root(), context);
  add_index_options(cache.root(), context);
  EXPECT_EQ(feed.parse("").refusal, "");
  EXPECT_EQ(cache.parse("").refusal, "");
  std::ifstream flags(std::string(data) + "/legacy-myxtts/flags.txt");
  std::string program;
  std::string flag;
  while (flags >> program >> flag) {
    if (program == "gpu_monitor" || flag == "--config" || flag == "--seed") continue;
    EXPECT_TRUE(feed.root().has_option(flag)) << program << " " << flag;
    EXPECT_TRUE(cache.root().has_option(flag)) << program << " " << flag;
  }
}

TEST(OldFlagsTest, FlagsOfTheOriginalReachTheFeedsSettings) {
  CommandContext context;
  CommandLine feed("stream", "");
  add_feed_options(feed.root(), context);
  const CommandLine::Parsed parsed = feed.parse(
      "--train-data d --metadata-train-file t.csv --metadata-eval-file e.csv --wavs-train-dir tw "
      "--wavs-eval-dir ew --val-data v --sample-rate 16000 --model-start-delay 3.5 "
      "--max-mel-frames 900 --num-batches 3 --lr 1e-3 --enable-gst");
  EXPECT_EQ(parsed.refusal, "");
  const config::Settings& settings = context.settings();
  EXPECT_EQ(settings.data.metadata_train_file, "t.csv");
  EXPECT_EQ(settings.data.metadata_eval_file, "e.csv");
  EXPECT_EQ(settings.data.wavs_train_dir, "tw");
  EXPECT_EQ(settings.data.wavs_eval_dir, "ew");
  EXPECT_EQ(settings.features.sample_rate_hz, 16000);
  EXPECT_EQ(settings.rows.max_mel_frames, 900);
  const std::string notices = context.report()["notices"].dump();
  EXPECT_THAT(notices, HasSubstr("--val-data: `stream` does not read data.val_path"));
  EXPECT_THAT(notices, HasSubstr("--model-start-delay: `stream` does not read"));
  EXPECT_THAT(notices, HasSubstr("--lr: `stream` does not read training.learning_rate"));
}

TEST(OldFlagsTest, TheSizeOfAModelReachesTheBatchesOfAFeed) {
  CommandContext context;
  CommandLine feed("stream", "");
  add_feed_options(feed.root(), context);
  EXPECT_EQ(feed.parse("--train-data d --model-size tiny").refusal, "");
  EXPECT_EQ(context.settings().batch.batch_frames, 4000);
}

TEST(OldFlagsTest, CacheCommandSaysWhatItDoesNotRead) {
  CommandContext context;
  CommandLine cache("precompute", "");
  add_cache_options(cache.root(), context);
  add_index_options(cache.root(), context);
  EXPECT_EQ(
      cache.parse("--train-data d --wavs-train-dir w --batch-size 8 --no-prefetch-to-gpu").refusal,
      "");
  EXPECT_EQ(context.settings().data.wavs_train_dir, "w");
  EXPECT_FALSE(context.settings().batch.batch_size.has_value());
  EXPECT_THAT(context.report()["notices"].dump(),
              HasSubstr("--batch-size: `precompute` does not read data.batch_size"));
  EXPECT_THAT(context.report()["notices"].dump(), HasSubstr("--no-prefetch-to-gpu: `precompute`"));
}

}  // namespace
}  // namespace stoker::cli
