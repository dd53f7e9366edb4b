#include "stoker/train/door/loader.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <thread>

#include "stoker/config/field_table.h"
#include "stoker/config/settings_text.h"
#include "stoker/train/errors.h"

namespace stoker::train {
namespace {

using testing::HasSubstr;

// The library that $STOKER_TRAIN_LIBRARY names while it lives.
class Named {
 public:
  explicit Named(const char* path) { setenv("STOKER_TRAIN_LIBRARY", path, 1); }
  ~Named() { unsetenv("STOKER_TRAIN_LIBRARY"); }
};

const ErrorCode* find_code(std::string_view name) {
  for (const ErrorCode* code : kErrorCodes)
    if (code->name == name) return code;
  return nullptr;
}

TrainLibrary open_fake() {
  const Named named(STOKER_FAKE_LIBRARY);
  return open_train_library({"/nowhere"}).take_or_raise();
}

config::Settings settings_with(const std::string& word) {
  config::Settings settings;
  settings.data.path = word;
  return settings;
}

Error failure_of(const std::string& word) {
  try {
    open_fake().train(settings_with(word), {.find_code = find_code});
  } catch (const Failure& failure) {
    return failure.error();
  }
  return {};
}

TEST(TrainLoaderTest, AbsentLibraryListsWhatWasTried) {
  const auto library = open_train_library({"/nowhere"});
  ASSERT_FALSE(library.ok());
  EXPECT_EQ(library.error().code->name, "E-TRAIN-LIB");
  EXPECT_THAT(library.error().found, HasSubstr("/nowhere/libstoker_train.so: "));
  EXPECT_THAT(library.error().found, HasSubstr("/nowhere/../lib/stoker/libstoker_train.so: "));
}

TEST(TrainLoaderTest, AnotherLibraryIsNone) {
  const Named named("libm.so.6");
  const auto library = open_train_library({"/nowhere"});
  ASSERT_FALSE(library.ok());
  EXPECT_EQ(library.error().code->name, "E-TRAIN-LIB");
  EXPECT_THAT(library.error().found, HasSubstr("libm.so.6: not a stoker train library"));
}

TEST(TrainLoaderTest, AnotherVersionIsRefusedByBothNumbers) {
  const Named named(STOKER_FAKE_OLD_LIBRARY);
  const auto library = open_train_library({"/nowhere"});
  ASSERT_FALSE(library.ok());
  EXPECT_EQ(library.error().code->name, "E-TRAIN-DOOR");
  EXPECT_EQ(library.error().place.file, STOKER_FAKE_OLD_LIBRARY);
  EXPECT_EQ(library.error().found, "version 999");
}

TEST(TrainLoaderTest, EventsReachTheCallerAndTheResultIsReturned) {
  std::vector<std::string> events;
  const Json report = open_fake().train(
      settings_with("d"), {.on_event = [&](const Json& event) { events.push_back(event.dump()); },
                           .find_code = find_code});
  EXPECT_EQ(report.at("steps").number(), 3);
  EXPECT_THAT(events, testing::ElementsAre(R"({"kind":"line","text":"hello"})"));
  EXPECT_EQ(open_fake().torch_version(), "0.0-fake");
}

TEST(TrainLoaderTest, ErrorComesBackWithEveryPart) {
  const Error error = failure_of("known-error");
  EXPECT_EQ(error.code, &kTrainData);
  EXPECT_EQ(error_line(error),
            "error[E-TRAIN-DATA] a.wav:7 @44: expected one clip, found none; row rejected");
  EXPECT_EQ(help_line(error), "help: add one");
}

TEST(TrainLoaderTest, ErrorOfAnUnknownCodeKeepsItsNameAndWords) {
  const Error error = failure_of("foreign-error");
  EXPECT_EQ(error.code->name, "E-OF-TOMORROW");
  EXPECT_EQ(error.code->exit, ExitCode::kData);
  EXPECT_EQ(error.found, "its own words");
}

TEST(TrainLoaderTest, LibraryThatEndsWithoutAnAnswerIsAnError) {
  const Error error = failure_of("silent-library");
  ASSERT_EQ(error.code, &kTrainDoor);
  EXPECT_THAT(error.found, HasSubstr("returned 9"));
}

TEST(TrainLoaderTest, ExceptionOfTheCallerDoesNotCrossTheLibrary) {
  const auto fails = [](const Json&) { throw std::runtime_error("no room on the terminal"); };
  try {
    open_fake().train(settings_with("d"), {.on_event = fails, .find_code = find_code});
    FAIL();
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.error().found, "no room on the terminal");
  }
}

TEST(TrainLoaderTest, StopReachesTheLibrarysFlag) {
  std::stop_source stop;
  const std::jthread stopper([&] { stop.request_stop(); });
  const Json report = open_fake().train(settings_with("until-cancelled"),
                                        {.stop = stop.get_token(), .find_code = find_code});
  EXPECT_EQ(report.at("steps").number(), 3);
}

TEST(TrainLoaderTest, SpeechIsAskedForWithEverythingThatWasGiven) {
  config::Settings settings;
  settings.run.seed = 9'007'199'254'740'993;  // more than a double holds
  const SynthesisCall call{.checkpoint = "run",
                           .texts = {"a \"b\"", "پ"},
                           .out = {"1.wav", "2.wav"},
                           .language = "fa",
                           .num_steps = 7,
                           .speed = 1.25};
  const Json request =
      open_fake().synthesize(settings, call, {.find_code = find_code}).at("request");
  EXPECT_EQ(request.at("texts").dump(), R"(["a \"b\"","پ"])");
  EXPECT_EQ(request.at("language").text(), "fa");
  EXPECT_EQ(request.at("vocabulary").dump(), "null");
  EXPECT_EQ(request.at("steps").number(), 7);
  EXPECT_EQ(request.at("save_mel").dump(), "[]");
  EXPECT_EQ(config::settings_of_json(request.at("settings"), "request").run.seed,
            settings.run.seed);
}

TEST(TrainLoaderTest, MeasurementIsAskedForWithEverythingThatWasGiven) {
  const MeasureCall call{.loader = "naive",
                         .seconds = 2.5,
                         .warmup_s = 0.5,
                         .mode = "feed",
                         .with_steps = true,
                         .keep = "kept"};
  const Json request =
      open_fake().measure(settings_with("d"), call, {.find_code = find_code}).at("request");
  EXPECT_EQ(request.at("loader").text(), "naive");
  EXPECT_EQ(request.at("seconds").number(), 2.5);
  EXPECT_EQ(request.at("warmup_s").number(), 0.5);
  EXPECT_EQ(request.at("mode").text(), "feed");
  EXPECT_EQ(request.at("with_steps").dump(), "true");
  EXPECT_EQ(request.at("keep").text(), "kept");
  EXPECT_THROW(open_fake().measure(settings_with("a\xFF"), call, {.find_code = find_code}),
               ConfigError);
}

TEST(TrainLoaderTest, NameThatJsonCannotCarryIsRefused) {
  EXPECT_EQ(failure_of("a\xFF").code->name, "E-CONFIG-VALUE");
  const SynthesisCall call{.checkpoint = "run", .texts = {"\xC3"}, .out = {"a.wav"}};
  EXPECT_THROW(open_fake().synthesize({}, call, {.find_code = find_code}), ConfigError);
}

}  // namespace
}  // namespace stoker::train
