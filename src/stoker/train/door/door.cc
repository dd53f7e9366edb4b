#include "stoker/train/door/door.h"

#include <chrono>
#include <exception>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/thread/sync.h"
#include "stoker/config/settings_text.h"
#include "stoker/train/door/door_message.h"
#include "stoker/train/errors.h"
#include "stoker/train/loop/training_run.h"
#include "stoker/train/measure/measured_run.h"
#include "stoker/train/speech/speech_files.h"

namespace stoker::train {
namespace {

constexpr std::chrono::milliseconds kCancelEvery{20};

// Hands events to the caller, one at a time whatever thread they come from.
class Teller {
 public:
  explicit Teller(const StokerTrainCall& call) : call_(call) {}

  void tell(const Json& event) {
    const std::string text = event.dump();
    const Lock lock(mutex_);
    call_.on_event(call_.user, text.data(), text.size());
  }

 private:
  const StokerTrainCall& call_;
  Mutex mutex_;
};

// Turns the caller's flag into a stop token: a flag cannot wake who waits.
class CancelWatch {
 public:
  explicit CancelWatch(const int32_t* flag) {
    if (flag == nullptr) return;
    watcher_ = Thread("train-cancel", [this, flag](const std::stop_token& end) {
      Lock lock(mutex_);
      while (__atomic_load_n(flag, __ATOMIC_RELAXED) == 0) {
        const Deadline next = Deadline::after(system_clock(), kCancelEvery);
        if (ended_.wait_until(lock, end, next) == WaitEnd::kStopped) return;
      }
      source_.request_stop();
    });
  }
  std::stop_token token() const { return source_.get_token(); }

 private:
  Mutex mutex_;
  ConditionVariable ended_;
  std::stop_source source_;
  Thread watcher_;
};

Json request_of(const StokerTrainCall& call) {
  const std::optional<Json> request = Json::parse({call.request, call.request_bytes});
  if (!request)
    raise({.code = &kTrainDoor, .promised = "a request in JSON", .found = "other bytes"});
  return *request;
}

std::vector<std::string> texts_at(const Json& request, std::string_view key) {
  std::vector<std::string> texts;
  for (const Json& text : request.at(key).elements()) texts.push_back(text.text());
  return texts;
}

std::optional<std::string> text_or_null(const Json& request, std::string_view key) {
  if (request.at(key).dump() == "null") return std::nullopt;
  return request.at(key).text();
}

Json train(const Json& request, const TellEvent& tell, const std::stop_token& stop) {
  const config::Settings settings =
      config::settings_of_json(request.at("settings"), "the program's request");
  TrainingHooks hooks;
  hooks.tell = tell;
  hooks.stop = stop;
  hooks.speak_sample = [](const SampleRequest& sample) {
    return speak_sample(system_io(), sample);
  };
  return run_training(settings, hooks);
}

Json synthesize(const Json& request, const TellEvent& tell, const std::stop_token& stop) {
  const config::Settings settings =
      config::settings_of_json(request.at("settings"), "the program's request");
  const SpeechRequest asked{
      .checkpoint = request.at("checkpoint").text(),
      .texts = texts_at(request, "texts"),
      .references = texts_at(request, "references"),
      .language = text_or_null(request, "language"),
      .vocabulary = text_or_null(request, "vocabulary"),
      .num_steps = static_cast<int>(request.at("steps").number()),
      .speed = request.at("speed").number(),
      .seed = static_cast<std::uint64_t>(settings.run.seed),
      .device = cuda::parse_device(settings.run.device).take_or_raise(),
  };
  const SpeechFiles files{.out = texts_at(request, "out"),
                          .save_mel = texts_at(request, "save_mel"),
                          .pictures = texts_at(request, "pictures")};
  const SpeechReport report = speak(system_io(), asked);
  for (const std::string& line : report.passed_over)
    tell(Json{{"kind", "warning"}, {"text", line}});
  if (stop.stop_requested()) return Json::object();
  return write_speech(system_io(), report, files);
}

Json measure(const Json& request, const TellEvent& tell, const std::stop_token& stop) {
  const config::Settings settings =
      config::settings_of_json(request.at("settings"), "the program's request");
  const std::string& loader = request.at("loader").text();
  if (loader != "naive" && loader != "native")
    raise({.code = &kTrainSettings, .promised = "loader naive or native", .found = loader});
  const MeasureRequest asked{.is_naive = loader == "naive",
                             .seconds = request.at("seconds").number(),
                             .warmup_s = request.at("warmup_s").number(),
                             .mode = measure_mode_from(request.at("mode").text()),
                             .with_steps = request.at("with_steps").dump() == "true",
                             .keep = request.at("keep").text()};
  TrainingHooks hooks;
  hooks.tell = tell;
  hooks.stop = stop;
  return run_measurement(settings, asked, hooks);
}

using Work = Json (*)(const Json& request, const TellEvent& tell, const std::stop_token& stop);

// No exception leaves; where not even the error can be told, the code says that there was one.
int32_t answer(const StokerTrainCall* call, Work work) noexcept {
  try {
    Teller teller(*call);
    try {
      const CancelWatch cancel(call->cancel);
      const Json report = work(
          request_of(*call), [&teller](const Json& event) { teller.tell(event); }, cancel.token());
      teller.tell(Json{{"kind", "result"}, {"report", report}});
      return static_cast<int32_t>(ExitCode::kDone);
    } catch (...) {
      const Error error = error_of_exception();
      teller.tell(error_event(error));
      return static_cast<int32_t>(error.code->exit);
    }
  } catch (...) {
    return static_cast<int32_t>(ExitCode::kMemory);
  }
}

const char* loaded_torch_version() noexcept {
  static const std::string version = torch_version();
  return version.c_str();
}

constexpr StokerTrainDoor kDoor{
    .version = STOKER_TRAIN_DOOR_VERSION,
    .torch_version = &loaded_torch_version,
    .train = [](const StokerTrainCall* call) { return answer(call, &train); },
    .synthesize = [](const StokerTrainCall* call) { return answer(call, &synthesize); },
    .measure = [](const StokerTrainCall* call) { return answer(call, &measure); },
};

}  // namespace
}  // namespace stoker::train

extern "C" __attribute__((visibility("default"))) const StokerTrainDoor* stoker_train_door() {
  return &stoker::train::kDoor;
}
