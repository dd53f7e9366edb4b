// A library with the trainer's door and nothing behind it: what it answers is decided by the word
// in the request.
#include <chrono>
#include <string>
#include <string_view>
#include <thread>

#include "stoker/train/door/door.h"

#ifndef FAKE_DOOR_VERSION
#define FAKE_DOOR_VERSION STOKER_TRAIN_DOOR_VERSION
#endif

namespace {

void tell(const StokerTrainCall* call, std::string_view json) {
  call->on_event(call->user, json.data(), json.size());
}

int32_t train(const StokerTrainCall* call) {
  const std::string_view request(call->request, call->request_bytes);
  const auto asks = [&](std::string_view word) { return request.find(word) != request.npos; };
  tell(call, R"({"kind":"line","text":"hello"})");
  if (asks("silent-library")) return 9;
  if (asks("no-json")) tell(call, "{");
  if (asks("known-error")) {
    tell(call,
         R"({"kind":"error","code":"E-TRAIN-DATA","exit":3,"file":"a.wav","line":7,"byte":44,)"
         R"("promised":"one clip","found":"none","action":"row rejected","cure":"add one",)"
         R"("message":"error[E-TRAIN-DATA] …"})");
    return 3;
  }
  if (asks("foreign-error")) {
    tell(call, R"({"kind":"error","code":"E-OF-TOMORROW","exit":3,"message":"its own words"})");
    return 3;
  }
  if (asks("until-cancelled"))
    while (__atomic_load_n(call->cancel, __ATOMIC_RELAXED) == 0)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  tell(call,
       R"({"kind":"result","report":{"steps":3,"checkpoint":"run/checkpoints/step-00000003"}})");
  return 0;
}

// Gives the request back, so that a test sees what was sent.
int32_t synthesize(const StokerTrainCall* call) {
  const std::string request(call->request, call->request_bytes);
  tell(call, R"({"kind":"result","report":{"speeches":[],"audio_s":0,"rtf":0,"request":)" +
                 request + "}}");
  return 0;
}

// Frames a second as the loader asks for, and the request.
int32_t measure(const StokerTrainCall* call) {
  const std::string request(call->request, call->request_bytes);
  const bool is_naive = request.find(R"("loader":"naive")") != request.npos;
  tell(call, std::string(R"({"kind":"result","report":{"steps":4,"frames_per_s":)") +
                 (is_naive ? "1000" : "8000") +
                 R"(,"samples_per_s":3,"batch_ms":{"mean":5,"std":1,"min":4,"max":6},)"
                 R"("interval_cv":0.2,"shape_cv":0.1,"data_ms":1,"compute_ms":4,"au":0.99,)"
                 R"("cpu_percent":30,"gpu_util_mean":97.5,"gpu_util_min":91,)"
                 R"("gpu_timeline":{"util_percent":[98,97]},)"
                 R"("block_frames_per_s":[7990,8010,8000],)"
                 R"("per_step":{"interval_ms":[4,5,5,6]},"request":)" +
                 request + "}}");
  return 0;
}

constexpr StokerTrainDoor kDoor{.version = FAKE_DOOR_VERSION,
                                .torch_version = [] { return "0.0-fake"; },
                                .train = &train,
                                .synthesize = &synthesize,
                                .measure = &measure};

}  // namespace

extern "C" __attribute__((visibility("default"))) const StokerTrainDoor* stoker_train_door() {
  return &kDoor;
}
