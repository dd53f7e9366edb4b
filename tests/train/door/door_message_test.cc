#include "stoker/train/door/door_message.h"

#include <gmock/gmock.h>

#include <new>

#include "stoker/train/errors.h"

namespace stoker::train {
namespace {

template <class Exception>
Error told(const Exception& exception) {
  try {
    throw exception;
  } catch (...) {
    return error_of_exception();
  }
}

TEST(DoorMessageTest, ExceptionsBecomeErrors) {
  const Error own{.code = &kTrainData, .place = {.file = "x"}, .found = "y"};
  EXPECT_EQ(told(DataError(own)).code, &kTrainData);
  EXPECT_EQ(told(std::bad_alloc()).code->exit, ExitCode::kMemory);
  EXPECT_EQ(told(std::bad_alloc()).code->name, "E-TRAIN-MEMORY");
  const Error refused = told(std::runtime_error(
      "DefaultCPUAllocator: can't allocate memory: you tried to allocate 8 bytes.\nframe #0: …"));
  EXPECT_EQ(refused.code->name, "E-TRAIN-MEMORY");
  const Error other = told(std::runtime_error("mat1 and mat2 differ\nframe #0: somewhere"));
  EXPECT_EQ(other.code->name, "E-TRAIN-FAILED");
  EXPECT_EQ(other.found, "mat1 and mat2 differ");
  EXPECT_EQ(told(3).code->name, "E-TRAIN-FAILED");
}

TEST(DoorMessageTest, ErrorComesBackAsItWas) {
  const Error error{.code = &kCheckpointBad,
                    .place = {.file = "a\nb", .line = 1, .column = 2, .byte = 3},
                    .promised = "8 bytes",
                    .found = "\"7\"",
                    .action = "left out",
                    .cure = "copy it again"};
  const Json sent = Json::parse(error_event(error).dump()).value();
  EXPECT_EQ(sent.at("exit").number(), 4);
  EXPECT_EQ(sent.at("message").text(), error_line(error));
  const Error back = error_of_event(sent, [](std::string_view name) {
    return name == "E-CHECKPOINT-BAD" ? &kCheckpointBad : nullptr;
  });
  EXPECT_EQ(error_line(back), error_line(error));
  EXPECT_EQ(help_line(back), help_line(error));
}

// Who does not have the library's codes keeps what it said of them.
TEST(DoorMessageTest, UnknownCodeKeepsItsNameExitAndCure) {
  const Error error{.code = &kCheckpointBad, .place = {.file = "x"}, .found = "7 bytes"};
  const Json sent = Json::parse(error_event(error).dump()).value();
  const auto knows_none = [](std::string_view) -> const ErrorCode* { return nullptr; };
  const Error back = error_of_event(sent, knows_none);
  EXPECT_EQ(back.code->name, "E-CHECKPOINT-BAD");
  EXPECT_EQ(back.code->exit, ExitCode::kStorage);
  EXPECT_EQ(error_line(back), error_line(error));
  EXPECT_EQ(help_line(back), help_line(error));
  EXPECT_EQ(error_of_event(sent, knows_none).code, back.code);
}

}  // namespace
}  // namespace stoker::train
