#include "stoker/train/door/door.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "stoker/base/json.h"
#include "stoker/config/settings_text.h"
#include "tests/doubles/scratch_folder.h"

namespace stoker::train {
namespace {

struct Answered {
  int32_t exit_code = -1;
  std::vector<Json> events;

  const Json& last() const { return events.at(events.size() - 1); }
};

using DoorCall = int32_t (*)(const StokerTrainCall*);

Answered ask(DoorCall door, const std::string& request, const int32_t* cancel = nullptr) {
  Answered answered;
  const StokerTrainCall call{
      .request = request.data(),
      .request_bytes = request.size(),
      .on_event =
          [](void* user, const char* json, size_t num_bytes) {
            static_cast<Answered*>(user)->events.push_back(Json::parse({json, num_bytes}).value());
          },
      .user = &answered,
      .cancel = cancel};
  answered.exit_code = door(&call);
  return answered;
}

Json speech_request(const std::string& checkpoint) {
  return Json{{"settings", config::settings_json({})},
              {"checkpoint", checkpoint},
              {"texts", std::vector<std::string>{"a"}},
              {"out", Json::array()},
              {"save_mel", Json::array()},
              {"pictures", Json::array()},
              {"references", Json::array()},
              {"language", nullptr},
              {"vocabulary", nullptr},
              {"steps", 4},
              {"speed", 1}};
}

TEST(TrainDoorTest, SaysItsVersionAndThatOfLibtorch) {
  const StokerTrainDoor* const door = stoker_train_door();
  EXPECT_EQ(door->version, static_cast<uint32_t>(STOKER_TRAIN_DOOR_VERSION));
  EXPECT_STREQ(door->torch_version(), "none");
}

TEST(TrainDoorTest, RequestThatIsNoneIsAnErrorEvent) {
  for (const DoorCall door : {stoker_train_door()->train, stoker_train_door()->synthesize,
                              stoker_train_door()->measure}) {
    const Answered broken = ask(door, "{");
    EXPECT_EQ(broken.exit_code, 2);
    EXPECT_EQ(broken.last().at("kind").text(), "error");
    EXPECT_EQ(broken.last().at("code").text(), "E-TRAIN-DOOR");
    const Answered empty = ask(door, "{}");
    EXPECT_NE(empty.exit_code, 0);
    EXPECT_EQ(empty.last().at("kind").text(), "error");
    EXPECT_EQ(ask(door, R"({"settings":{}})").last().at("code").text(), "E-CONFIG-VALUE");
  }
}

TEST(TrainDoorTest, FailureKeepsItsCodeAndExit) {
  const ScratchFolder folder;
  const Answered spoken =
      ask(stoker_train_door()->synthesize, speech_request(folder.path()).dump());
  EXPECT_EQ(spoken.last().at("code").text(), "E-CHECKPOINT-MISSING");
  EXPECT_EQ(spoken.exit_code, 4);
  config::Settings settings;
  settings.data.path = folder / "nowhere";
  settings.training.checkpoint_dir = folder / "run";
  const Json request{{"settings", config::settings_json(settings)}};
  const int32_t cancel = 1;
  const Answered trained = ask(stoker_train_door()->train, request.dump(), &cancel);
  EXPECT_EQ(trained.last().at("kind").text(), "error");
  EXPECT_EQ(trained.last().at("exit").number(), trained.exit_code);
}

TEST(TrainDoorTest, MeasureNamesWhatItDoesNotKnow) {
  const auto code_of = [](const char* loader, const char* mode) {
    const Json request{{"settings", config::settings_json({})},
                       {"loader", loader},
                       {"seconds", 1},
                       {"warmup_s", 1},
                       {"mode", mode},
                       {"with_steps", false},
                       {"keep", ""}};
    return ask(stoker_train_door()->measure, request.dump()).last().at("found").text();
  };
  EXPECT_EQ(code_of("quick", "both"), "quick");
  EXPECT_EQ(code_of("naive", "fed"), "fed");
}

}  // namespace
}  // namespace stoker::train
