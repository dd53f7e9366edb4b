#include "stoker/train/loop/event_file.h"

#include <gmock/gmock.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "stoker/audio/file/wav_writer.h"
#include "stoker/base/bytes.h"
#include "stoker/base/digest/crc32c.h"
#include "stoker/base/report/png.h"
#include "tests/doubles/fake_clock.h"
#include "tests/doubles/fault_io.h"
#include "tests/doubles/scratch_folder.h"

namespace stoker::train {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::StartsWith;

template <class T>
T number_at(std::string_view text, std::size_t at) {
  return load_le<T>(view_bytes(text).data() + at);
}

std::uint32_t masked(std::string_view text) {
  const std::uint64_t crc = crc32c(view_bytes(text));
  return static_cast<std::uint32_t>(((crc >> 15U) | (crc << 17U)) + 0xA282EAD8U);
}

// The events of a file; fails the test where a length or a checksum is wrong.
std::vector<std::string> events_of(std::string_view content) {
  std::vector<std::string> events;
  while (!content.empty()) {
    if (content.size() < 16) ADD_FAILURE() << content.size() << " bytes after the last record";
    if (content.size() < 16) break;
    const auto size = number_at<std::uint64_t>(content, 0);
    EXPECT_EQ(number_at<std::uint32_t>(content, 8), masked(content.substr(0, 8)));
    EXPECT_LE(size + 16, content.size());
    events.emplace_back(content.substr(12, size));
    EXPECT_EQ(number_at<std::uint32_t>(content, 12 + size), masked(events.back()));
    content.remove_prefix(size + 16);
  }
  return events;
}

class EventFileTest : public testing::Test {
 protected:
  EventFile open() { return EventFile::create(io_, scratch_.path(), clock_).take_or_raise(); }

  ScratchFolder scratch_;
  FakeClock clock_;
  FaultIo io_;
};

TEST_F(EventFileTest, BytesOfAScalarArePinned) {
  clock_.set_unix_time_ns(1'500'000'000);
  EventFile file = open();
  file.scalar(300, "loss", 0.5);
  file.flush().take_or_raise();
  const std::string content = content_of(file.path());
  // wall_time 1.5, then the version.
  const std::string version(
      "\x09\0\0\0\0\0\0\xf8\x3f\x1a\x0d"
      "brain.Event:2",
      24);
  // wall_time 1.5, step 300, summary { value { tag "loss" simple_value 0.5 } }.
  const std::string scalar(
      "\x09\0\0\0\0\0\0\xf8\x3f\x10\xac\x02\x2a\x0d\x0a\x0b\x0a\x04loss\x15\0\0\0\x3f", 27);
  EXPECT_THAT(events_of(content), testing::ElementsAre(version, scalar));
  // From the reference implementation's reader: the masked checksum of the length 24.
  EXPECT_EQ(content.substr(0, 12), std::string("\x18\0\0\0\0\0\0\0\xa3\x7f\x4b\x22", 12));
}

TEST_F(EventFileTest, NameHasTheTimeAndFilesOfOneSecondDiffer) {
  const EventFile first = open();
  const EventFile second = open();
  EXPECT_THAT(first.path(), HasSubstr("/events.out.tfevents.1700000000."));
  EXPECT_NE(first.path(), second.path());
}

TEST_F(EventFileTest, AFolderThatIsNotThereIsAnError) {
  const Result<EventFile> file = EventFile::create(io_, scratch_ / "absent", clock_);
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code->name, "E-IO-MISSING");
}

TEST_F(EventFileTest, FullDiskKeepsRecordsForTheNextFlush) {
  EventFile file = open();
  io_.plan({.kind = Fault::Kind::kShort, .calls = {IoCall::kWrite}});
  io_.plan({.at_call = 2, .calls = {IoCall::kWrite}, .error_number = ENOSPC});
  file.scalar(1, "loss", 4.0);
  const Result<void> refused = file.flush();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code->name, "E-IO-FULL");
  EXPECT_EQ(events_of(content_of(file.path())).size(), 1U) << "half a record stayed";
  file.scalar(2, "loss", 3.0);
  file.flush().take_or_raise();
  EXPECT_EQ(events_of(content_of(file.path())).size(), 3U);
  EXPECT_EQ(file.num_dropped(), 0U);
}

TEST_F(EventFileTest, FullDiskDoesNotFillTheMemory) {
  EventFile file = open();
  io_.plan({.calls = {IoCall::kWrite}, .error_number = ENOSPC});
  const std::vector<std::byte> wav(EventFile::kMostWaitingBytes);
  file.scalar(1, "loss", 4.0);
  file.sound(1, "spoken", {.wav = wav, .rate_hz = 22'050, .num_samples = 1});
  EXPECT_FALSE(file.flush());
  EXPECT_EQ(file.num_dropped(), 2U);
  file.scalar(2, "loss", 3.0);
  file.flush().take_or_raise();
  EXPECT_EQ(events_of(content_of(file.path())).size(), 2U);
}

// Reads the files with TensorBoard itself; the script knows what is put here.
TEST_F(EventFileTest, TensorBoardShowsScalarsPicturesAndSound) {
  EventFile file = open();
  for (std::uint64_t step = 1; step <= 5; ++step)
    file.scalar(step, "loss/flow", 1.0 / static_cast<double>(step));
  const std::vector<std::uint8_t> pixels(6 * 4, 7);
  file.picture(3, "mel", png_from_palette({6, 4}, pixels, heat_palette()));
  std::array<std::int16_t, 441> samples{};
  for (std::size_t i = 0; i < samples.size(); ++i)
    samples[i] = static_cast<std::int16_t>(1000.0 * std::sin(0.1 * static_cast<double>(i)));
  file.sound(
      2, "spoken",
      {.wav = audio::wav_pcm16_bytes(samples, 22'050), .rate_hz = 22'050, .num_samples = 441});
  file.flush().take_or_raise();
  clock_.advance(std::chrono::seconds(60));
  EventFile resumed = open();
  resumed.resume_at(4);
  resumed.scalar(4, "loss/flow", 0.125);
  resumed.scalar(1'000'000, "grad_norm", std::nan(""));
  resumed.flush().take_or_raise();
  const std::string command = std::string(STOKER_TEST_PYTHON " " STOKER_TRAIN_TESTS) +
                              "/loop/read_events.py " + scratch_.path();
  EXPECT_EQ(std::system(command.c_str()), 0);
}

}  // namespace
}  // namespace stoker::train
