// A training loop that may be killed at any time and continues with the batch after the last saved
// one: settings from a file, a state in a file, failures with their exit codes.
//   find_package(Stoker REQUIRED)
//   target_link_libraries(training_loop PRIVATE Stoker::stoker)
#include <stoker/base/log.h>
#include <stoker/config/load.h>
#include <stoker/feed/open_feed.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

namespace {

constexpr std::uint64_t kNumEpochs = 2;

std::optional<std::string> load_line(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  return line;
}

// The old state stays until the new one is complete.
void save_line(const std::filesystem::path& path, const std::string& line) {
  std::filesystem::path next = path;
  next += ".new";
  std::ofstream(next) << line << '\n';
  std::filesystem::rename(next, path);
}

stoker::config::Settings load_run(const char* file) {
  stoker::config::SettingsInputs inputs;
  inputs.file = file;
  inputs.environment = stoker::config::stoker_environment();
  inputs.set = {"data.drop_last=true"};
  return stoker::config::load_settings(inputs).settings;
}

// Your model: here it only counts the frames that carry speech.
std::uint64_t train_step(const stoker::Batch& batch) {
  std::uint64_t num_frames = 0;
  for (const std::int32_t frames : batch.mel_len()) {
    num_frames += static_cast<std::uint64_t>(frames);  // 0 for a row that is empty
  }
  return num_frames;
}

void train(const stoker::config::Settings& settings, const std::filesystem::path& state_path) {
  auto opened =
      stoker::feed::open_feed(settings, {.state = load_line(state_path), .num_epochs = kNumEpochs});
  stoker::Feed& feed = opened.feed;
  while (!feed.has_ended()) {
    std::uint64_t num_frames = 0;
    while (const auto batch = feed.next()) {  // one epoch
      num_frames += train_step(*batch);
      save_line(state_path, feed.state());  // beside your model's checkpoint, as often as that
    }
    if (num_frames > 0) std::printf("%llu frames\n", static_cast<unsigned long long>(num_frames));
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: training_loop SETTINGS_FILE STATE_FILE\n");
    return 2;
  }
  stoker::set_log_sink(stoker::make_stderr_sink());
  try {
    train(load_run(argv[1]), argv[2]);
  } catch (const stoker::Failure& failure) {
    std::fprintf(stderr, "%s\n%s\n", stoker::error_line(failure.error()).c_str(),
                 stoker::help_line(failure.error()).c_str());
    return static_cast<int>(failure.exit_code());
  }
  return 0;
}
