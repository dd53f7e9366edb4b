#include "stoker/cli/trainer_call.h"

#include <fmt/format.h>

#include <filesystem>

#include "stoker/cli/reference_pages.h"

namespace stoker::cli {
namespace {

const ErrorCode* code_of_name(std::string_view name) {
  for (const CataloguedError& each : error_catalogue())
    if (each.code->name == name) return each.code;
  return nullptr;
}

}  // namespace

Result<train::TrainLibrary> find_trainer() {
  std::error_code ignored;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", ignored);
  return train::open_train_library({program.parent_path().string()});
}

TrainerTalk::TrainerTalk(CommandContext& context) : context_(context), line_(stderr_surface()) {
  context_.when_stopped(
      "to go on, run the same command with --resume; it starts anew where nothing was saved");
}

train::CallHooks TrainerTalk::hooks() {
  return {.on_event = [this](const Json& event) { take(event); },
          .stop = context_.stop_token(),
          .find_code = code_of_name};
}

void TrainerTalk::take(const Json& event) {
  const std::string& kind = event.at("kind").text();
  if (kind == "progress") {
    if (!context_.options().quiet) line_.show(event.at("text").text());
    return;
  }
  line_.clear();
  if (kind == "line") context_.say(event.at("text").text());
  if (kind == "warning") context_.warn(event.at("text").text());
  if (kind == "saved") {
    saved_folder_ = event.at("folder").text();
    context_.when_stopped(
        fmt::format("the newest checkpoint is {}; to go on, run the same command with --resume",
                    saved_folder_));
    context_.detail("saved     " + saved_folder_);
  }
  if (kind == "spoken" || kind == "evaluated") context_.detail(event.dump());
}

}  // namespace stoker::cli
