// Flags of the programs of myxtts that stoker's commands accept: the table, and how they are
// taken.
#include <fmt/format.h>

#include <array>
#include <string>
#include <vector>

#include "stoker/cli/command_context.h"
#include "stoker/cli/command_line.h"
#include "stoker/cli/settings_options.h"

namespace stoker::cli {
namespace {

struct OldFlags {
  std::string_view programs;
  std::string_view flags;   // separated by spaces
  std::string_view path;    // the setting that it sets; empty: none
  std::string_view value;   // what it sets; empty: the flag's own value
  std::string_view notice;  // said when there is no setting
};

constexpr std::string_view kTrain = "train_main trainTestFile";

constexpr std::array kOldFlags{
    OldFlags{kTrain, "--enable-eager-debug", "training.graphs", "off", ""},
    OldFlags{kTrain, "--max-gpu-memory", "", "",
             "gpu.data_gpu_memory and gpu.model_gpu_memory bound it, e.g. 8GiB"},
    OldFlags{kTrain, "--enable-amp", "", "", "training.precision sets the arithmetic"},
    OldFlags{kTrain, "--multi-gpu --visible-gpus", "", "",
             "CUDA_VISIBLE_DEVICES chooses GPUs; torchrun starts one process for each"},
    OldFlags{kTrain, "--enable-memory-isolation", "", "",
             "each part's memory is bounded: gpu.data_gpu_memory and gpu.model_gpu_memory"},
    OldFlags{kTrain, "--disable-gpu-stabilizer --enable-gpu-stabilizer", "", "",
             "batches arrive evenly by themselves; data.auto_tune_performance is the switch"},
    OldFlags{kTrain, "--aggressive-lr --apply-fast-convergence --fast-convergence", "", "",
             "--optimization-level chooses learning rate and schedule"},
    OldFlags{kTrain, "--compression-target --create-optimized-model --lightweight-config", "", "",
             "--model-size chooses a smaller model"},
    OldFlags{kTrain, "--decoder-strategy", "", "", "--model chooses the kind of model"},
    OldFlags{kTrain, "--vocoder-type", "", "", "speech is made by the built-in vocoder"},
    OldFlags{kTrain, "--simple-loss", "", "", "the model has its own loss terms"},
    OldFlags{kTrain, "--download-ljspeech", "", "",
             "nothing is downloaded; give --data, or make a set with stoker data make"},
    OldFlags{kTrain,
             "--enable-gst --gst-num-heads --gst-num-style-tokens --gst-style-embedding-dim "
             "--gst-style-loss-weight --gst-style-token-dim",
             "", "", "there are no style tokens; data.reference gives the style"},
    OldFlags{kTrain,
             "--contrastive-loss-margin --contrastive-loss-temperature "
             "--disable-pretrained-speaker-encoder --freeze-speaker-encoder "
             "--speaker-encoder-path --speaker-encoder-type --unfreeze-speaker-encoder "
             "--use-pretrained-speaker-encoder",
             "", "", "voice cloning follows from data.reference; it has no knobs"},
    OldFlags{kTrain, "--mode", "", "", "stoker train trains, stoker synthesize speaks"},
    OldFlags{kTrain, "--text --output --checkpoint", "", "",
             "stoker synthesize --checkpoint F --text \"…\" --out o.wav speaks"},
    OldFlags{kTrain, "--resume-from", "", "",
             "--resume goes on from the newest whole checkpoint in --checkpoint-dir"},
    OldFlags{"enhanced_gpu_profiler", "--benchmark", "", "",
             "stoker bench feed --grid key=a,b,c compares settings"},
    OldFlags{"enhanced_gpu_profiler", "--output", "", "", "--html F and --json write the report"},
    OldFlags{kOldPrograms, "--num-batches", "", "",
             "how many batches to run is said to the command that runs them"},
    OldFlags{"test_performance", "--create-test-data", "", "",
             "stoker data make --out DIR makes a data set"},
    OldFlags{"test_performance", "--test-bottleneck-detection", "", "",
             "stoker diagnose finds the bottleneck"},
    OldFlags{kOldPrograms, "--data-path --test-data-path", "data.path", "", ""},
};

std::vector<std::string> words(std::string_view text) {
  std::vector<std::string> found;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    found.emplace_back(word);
    text.remove_prefix(std::min(text.size(), word.size() + 1));
  }
  return found;
}

bool share_a_word(std::string_view a, std::string_view b) {
  for (const std::string& x : words(a))
    for (const std::string& y : words(b))
      if (x == y) return true;
  return false;
}

void add_flag(const Command& command, CommandContext& context, const OldFlags& row,
              const std::string& flag) {
  if (command.has_option(flag)) return;
  const auto taken = [&context, &row, flag](const std::vector<std::string>& values) {
    if (row.path.empty()) {
      context.note(fmt::format("{}: {}", flag, row.notice));
      return;
    }
    const std::string own = values.empty() ? "" : values.front();
    context.give({.path = std::string(row.path),
                  .text = row.value.empty() ? own : std::string(row.value),
                  .origin = flag});
  };
  // Some took a value and some did not; both forms are read. That of --mode is the name of a
  // command here, so it must be asked for.
  command.on_values(flag, taken).num_values(flag == "--mode" ? 1 : 0, 1).hidden();
}

}  // namespace

void add_old_flags(const Command& command, CommandContext& context, std::string_view programs) {
  for (const OldFlags& row : kOldFlags)
    if (share_a_word(row.programs, programs))
      for (const std::string& flag : words(row.flags)) add_flag(command, context, row, flag);
}

}  // namespace stoker::cli
