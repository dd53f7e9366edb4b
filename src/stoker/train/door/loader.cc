#include "stoker/train/door/loader.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "stoker/base/utf8.h"
#include "stoker/config/errors.h"
#include "stoker/config/settings_text.h"
#include "stoker/train/errors.h"

namespace stoker::train {
namespace {

using DoorCall = int32_t (*)(const StokerTrainCall*);

std::vector<std::string> candidates(const std::vector<std::string>& folders) {
  if (const char* named = std::getenv("STOKER_TRAIN_LIBRARY"); named != nullptr && *named != '\0')
    return {named};
  std::vector<std::string> paths;
  for (const std::string& folder : folders)
    for (const char* below : {"", "/lib/stoker", "/../lib/stoker"})
      paths.push_back(fmt::format("{}{}/libstoker_train.so", folder, below));
  return paths;
}

// What the library has told so far. One call of the door at a time adds to it.
struct Answer {
  const CallHooks& hooks;
  std::optional<Json> result{};
  std::optional<Error> error{};

  // No exception may go back through the library.
  void take(std::string_view text) noexcept {
    try {
      const std::optional<Json> event = Json::parse(text);
      if (!event) return;
      const std::string& kind = event->at("kind").text();
      if (kind == "result")
        result = event->at("report");
      else if (kind == "error")
        error = error_of_event(*event, hooks.find_code);
      else
        hooks.on_event(*event);
    } catch (...) {
      error = error_of_exception();
    }
  }
};

Json call_door(DoorCall door, const Json& request, const CallHooks& hooks) {
  const std::string text = request.dump();
  Answer answer{.hooks = hooks};
  int32_t cancel = 0;
  const std::stop_callback on_stop(hooks.stop,
                                   [&cancel] { std::atomic_ref<int32_t>(cancel).store(1); });
  const StokerTrainCall call{.request = text.data(),
                             .request_bytes = text.size(),
                             .on_event =
                                 [](void* user, const char* json, size_t num_bytes) {
                                   static_cast<Answer*>(user)->take({json, num_bytes});
                                 },
                             .user = &answer,
                             .cancel = &cancel};
  const int32_t exit_code = door(&call);
  if (answer.error) raise(std::move(*answer.error));
  if (answer.result) return std::move(*answer.result);
  raise({.code = &kTrainDoor,
         .promised = "a result or an error as the last event",
         .found = fmt::format("neither; the call returned {}", exit_code)});
}

// JSON carries no other bytes: a name with them would become another one on the way.
void require_utf8(std::initializer_list<std::string> values) {
  for (const std::string& value : values)
    if (find_invalid_utf8(value) != value.size())
      raise({.code = &config::kConfigValue,
             .place = {.file = value},
             .promised = "a name or a text in UTF-8",
             .found = "other bytes",
             .cure = "rename it, or give a link with a name in UTF-8"});
}

void require_utf8(const std::vector<std::string>& values) {
  for (const std::string& value : values) require_utf8({value});
}

Error version_error(const std::string& path, uint32_t version) {
  return {
      .code = &kTrainDoor,
      .place = {.file = path},
      .promised = fmt::format("version {} of the trainer's interface", STOKER_TRAIN_DOOR_VERSION),
      .found = fmt::format("version {}", version)};
}

}  // namespace

Json TrainLibrary::train(const config::Settings& settings, const CallHooks& hooks) const {
  require_utf8({settings.data.path, settings.data.val_path, settings.data.audio_root,
                settings.cache.dir, settings.training.checkpoint_dir,
                settings.observe.tensorboard_log_dir, settings.observe.text2audio_output_dir});
  return call_door(door_->train, Json{{"settings", config::settings_json(settings)}}, hooks);
}

Json TrainLibrary::synthesize(const config::Settings& settings, const SynthesisCall& call,
                              const CallHooks& hooks) const {
  require_utf8({call.checkpoint});
  require_utf8(call.references);
  require_utf8(call.texts);
  require_utf8(call.out);
  return call_door(door_->synthesize,
                   Json{{"settings", config::settings_json(settings)},
                        {"checkpoint", call.checkpoint},
                        {"texts", call.texts},
                        {"out", call.out},
                        {"save_mel", call.save_mel},
                        {"pictures", call.pictures},
                        {"references", call.references},
                        {"language", call.language},
                        {"vocabulary", call.vocabulary},
                        {"steps", call.num_steps},
                        {"speed", call.speed}},
                   hooks);
}

Json TrainLibrary::measure(const config::Settings& settings, const MeasureCall& call,
                           const CallHooks& hooks) const {
  require_utf8({settings.data.path, settings.data.audio_root, settings.cache.dir, call.keep});
  return call_door(door_->measure,
                   Json{{"settings", config::settings_json(settings)},
                        {"loader", call.loader},
                        {"seconds", call.seconds},
                        {"warmup_s", call.warmup_s},
                        {"mode", call.mode},
                        {"with_steps", call.with_steps},
                        {"keep", call.keep}},
                   hooks);
}

std::vector<std::string> numbered_files(const std::string& path, std::size_t num_texts) {
  if (path.empty()) return {};
  if (num_texts == 1) return {path};
  const std::filesystem::path whole(path);
  std::vector<std::string> paths;
  for (std::size_t i = 1; i <= num_texts; ++i)
    paths.push_back((whole.parent_path() /
                     fmt::format("{}-{}{}", whole.stem().string(), i, whole.extension().string()))
                        .string());
  return paths;
}

Result<TrainLibrary> open_train_library(const std::vector<std::string>& folders) {
  std::string tried;
  for (const std::string& path : candidates(folders)) {
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      tried += fmt::format("{}{}", tried.empty() ? "" : "; ", dlerror());
      continue;
    }
    void* symbol = dlsym(library, STOKER_TRAIN_DOOR_SYMBOL);
    if (symbol == nullptr) {
      tried += fmt::format("{}{}: not a stoker train library", tried.empty() ? "" : "; ", path);
      continue;
    }
    const StokerTrainDoor* const door = reinterpret_cast<StokerTrainOpen>(symbol)();
    if (door->version != STOKER_TRAIN_DOOR_VERSION) return version_error(path, door->version);
    return TrainLibrary(door);
  }
  return Error{
      .code = &kTrainLibrary, .promised = "libstoker_train.so", .found = "none; tried " + tried};
}

}  // namespace stoker::train
