// Samples of files on disk: only the asked bytes are read, changes and faults are noticed.
#include "stoker/audio/file/sound_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <vector>

#include "stoker/audio/errors.h"
#include "tests/audio/file/wav_bytes.h"
#include "tests/doubles/fault_io.h"
#include "tests/doubles/scratch_folder.h"

namespace stoker::audio {
namespace {

File open_in(FaultIo& io, const std::string& path) {
  return open_file(io, path, OpenFor::kRead).take_or_raise();
}

std::vector<std::int16_t> expected_samples(std::size_t first, std::size_t count) {
  std::vector<std::int16_t> out(count);
  for (std::size_t i = 0; i < count; ++i)
    out[i] = static_cast<std::int16_t>(static_cast<std::uint16_t>((first + i) * 331U));
  return out;
}

TEST(SoundFileTest, SegmentsOfAnHourAreReadByThemselves) {
  const ScratchFolder folder;
  constexpr std::uint64_t kHourSamples = 3600ULL * 22050;
  {
    std::ofstream out(folder / "hour.wav", std::ios::binary);
    const std::string body = samples16(22050 * 60);
    out << "RIFF" << le(36 + kHourSamples * 2, 4) << "WAVE" << chunk("fmt ", fmt_body({})) << "data"
        << le(kHourSamples * 2, 4);
    for (int minute = 0; minute < 60; ++minute) out << body;
  }
  FaultIo io;
  const File file = open_in(io, folder / "hour.wav");
  const SoundInfo info = read_sound_info(file).take_or_raise();
  ASSERT_EQ(info.num_samples, kHourSamples);
  SoundReader reader;
  std::uint64_t num_read_samples = 0;
  for (const std::uint64_t second : {0ULL, 1234ULL, 3590ULL}) {
    std::vector<std::int16_t> pcm(5 * 22050);
    reader.read_pcm16(file, info, second * 22050, pcm).take_or_raise();
    EXPECT_EQ(pcm, expected_samples(second % 60 * 22050, pcm.size())) << second;
    num_read_samples += pcm.size();
  }
  const std::uint64_t bytes_read = io.bytes_read_by_path().at(folder / "hour.wav");
  EXPECT_GE(bytes_read, num_read_samples * 2);
  EXPECT_LE(bytes_read, num_read_samples * 2 + 8192) << "the hour around them was read";
}

TEST(SoundFileTest, AFileThatShrankSinceItsHeaderIsNamed) {
  const ScratchFolder folder;
  folder.put("a.wav", good_wav({}, samples16(5000)));
  FaultIo io;
  const File file = open_in(io, folder / "a.wav");
  const SoundInfo info = read_sound_info(file).take_or_raise();
  std::filesystem::resize_file(folder / "a.wav", 3044);
  std::vector<std::int16_t> pcm(5000);
  const auto read = SoundReader().read_pcm16(file, info, 0, pcm);
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().code, &kWavChanged);
  EXPECT_EQ(read.error().place.byte, 3044U);
  EXPECT_EQ(read.error().place.file, folder / "a.wav");
}

TEST(SoundFileTest, SamplesThatTheFileDoesNotHaveAreAnErrorAndNoAbort) {
  const ScratchFolder folder;
  folder.put("a.wav", good_wav({}, samples16(5000)));
  FaultIo io;
  const File file = open_in(io, folder / "a.wav");
  const SoundInfo info = read_sound_info(file).take_or_raise();
  std::vector<std::int16_t> pcm(1000);
  std::vector<float> samples(1000);
  for (const std::uint64_t first : {4001ULL, 5000ULL, 9000ULL, ~0ULL}) {
    SoundReader reader;
    for (const Result<void>& read :
         {reader.read_pcm16(file, info, first, pcm), reader.read_float(file, info, first, samples),
          reader.stream_pcm16(file, info, first, pcm)}) {
      ASSERT_FALSE(read.ok()) << first;
      EXPECT_EQ(read.error().code, &kWavChanged);
      EXPECT_EQ(read.error().found, "5,000 in the file");
    }
  }
}

TEST(SoundFileTest, AReadErrorNamesTheOffset) {
  const ScratchFolder folder;
  folder.put("a.wav", good_wav({}, samples16(5000)));
  FaultIo io;
  const File file = open_in(io, folder / "a.wav");
  const SoundInfo info = read_sound_info(file).take_or_raise();
  io.plan({.calls = {IoCall::kRead}, .error_number = EIO});
  std::vector<float> samples(1000);
  const auto read = SoundReader().read_float(file, info, 2000, samples);
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().place.byte, 44U + 4000);
}

TEST(SoundFileTest, ShortAndInterruptedReadsChangeNothing) {
  const ScratchFolder folder;
  folder.put("a.wav", good_wav({}, samples16(5000)));
  for (const Fault& fault : {Fault{.kind = Fault::Kind::kShort, .calls = {IoCall::kRead}},
                             Fault{.calls = {IoCall::kRead}, .error_number = EINTR}}) {
    FaultIo io;
    io.plan(fault);
    const File file = open_in(io, folder / "a.wav");
    const auto info = read_sound_info(file);
    ASSERT_TRUE(info.ok()) << error_line(info.error());
    std::vector<std::int16_t> pcm(info->num_samples);
    SoundReader().read_pcm16(file, *info, 0, pcm).take_or_raise();
    EXPECT_EQ(pcm, expected_samples(0, 5000));
    EXPECT_EQ(io.num_fired(), 1U);
  }
}

}  // namespace
}  // namespace stoker::audio
