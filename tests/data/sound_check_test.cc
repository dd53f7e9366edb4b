// Rows A9 to A14 and A20, and those of B that need a file: what is found on disk for a row.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <bit>
#include <filesystem>

#include "tests/data/data_set.h"
#include "tests/doubles/fault_io.h"

namespace stoker::data {
namespace {

namespace fs = std::filesystem;
using audio::chunk;
using audio::fmt_body;
using audio::le;

// The one reject of a data set with the single row a.
Error only_reject(const DataSet& data) {
  data.put_metadata("a|some text|some text\n");
  const Index index = data.scan();
  EXPECT_EQ(index.size(), 0U);
  EXPECT_EQ(index.rejects().size(), 1U);
  return index.rejects().empty() ? Error{} : index.rejects()[0].error;
}

std::vector<std::string> warning_names(const Index& index) {
  std::vector<std::string> out;
  for (const Warning& warning : index.warnings()) out.emplace_back(warning.error.code->name);
  return out;
}

TEST(SoundRowTest, TwoIdsOfOneFileAreNamed) {
  DataSet data;
  data.put_ids({"a"});
  fs::create_hard_link(data.folder / "wavs/a.wav", data.folder / "wavs/b.wav");
  data.put_metadata("a|some text|some text\nb|other text|other text\n");
  const Index index = data.scan();
  EXPECT_EQ(index.size(), 2U);
  ASSERT_EQ(warning_names(index), std::vector<std::string>{"E-META-SAMEFILE"});
  EXPECT_EQ(index.warnings()[0].id, "b");
  EXPECT_TRUE(contains(index.warnings()[0].error.found, "\"a\" (line 1)"));
}

TEST(SoundRowTest, TwoFilesOfOneContentAreNamedWhenContentIsRead) {
  DataSet data;
  data.put_wav("wavs/a.wav");
  data.put_wav("wavs/b.wav");
  data.put_metadata("a|some text|some text\nb|other text|other text\n");
  data.options.check = FileCheck::kContent;
  const Index index = data.scan();
  ASSERT_EQ(warning_names(index), std::vector<std::string>{"E-META-SAMEFILE"});
  EXPECT_TRUE(contains(index.warnings()[0].error.found, "content"));
}

TEST(SoundRowTest, TheFullPathTriedIsNamed) {
  DataSet data;
  data.put_ids({"b"});
  const Error error = only_reject(data);
  EXPECT_EQ(error.code->name, "E-META-NOFILE");
  EXPECT_EQ(error.place.file, data.folder / "wavs/a.wav");
}

TEST(SoundRowTest, LinksThatLeaveOrLoopAreRefused) {
  DataSet data;
  data.put_ids({"b"});
  const ScratchFolder elsewhere;
  elsewhere.put("a.wav", audio::good_wav());
  fs::create_symlink(elsewhere / "a.wav", data.folder / "wavs/a.wav");
  EXPECT_EQ(only_reject(data).code->name, "E-META-LINK");
  fs::remove(data.folder / "wavs/a.wav");
  fs::create_symlink("a.wav", data.folder / "wavs/a.wav");
  const Error loop = only_reject(data);
  EXPECT_EQ(loop.code->name, "E-META-LINK");
  EXPECT_TRUE(contains(loop.found, "links")) << loop.found;
}

TEST(SoundRowTest, LinksInsideTheRootAreAPolicy) {
  DataSet data;
  data.put_ids({"b"});
  fs::create_symlink("b.wav", data.folder / "wavs/a.wav");
  data.put_metadata("a|some text|some text\n");
  EXPECT_EQ(data.scan().size(), 1U);
  data.options.links = Links::kRefuse;
  EXPECT_EQ(only_reject(data).code->name, "E-META-LINK");
}

TEST(SoundRowTest, PipesSocketsAndFoldersAreRefusedWithoutWaiting) {
  DataSet data;
  data.put_ids({"b"});
  const std::string path = data.folder / "wavs/a.wav";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(only_reject(data).code->name, "E-IO-KIND");
  EXPECT_TRUE(contains(only_reject(data).found, "pipe"));
  fs::remove(path);
  fs::create_directory(path);
  EXPECT_TRUE(contains(only_reject(data).found, "folder"));
  fs::remove(path);
  const int server = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  ASSERT_LT(path.size(), sizeof address.sun_path);
  path.copy(address.sun_path, path.size());
  ASSERT_EQ(::bind(server, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  EXPECT_TRUE(contains(only_reject(data).found, "socket"));
  ::close(server);
}

TEST(SoundRowTest, TheOtherNormalFormIsNamed) {
  DataSet data;
  data.put_wav("wavs/cafe\xCC\x81.wav");
  data.put_metadata("caf\xC3\xA9|some text|some text\n");
  const Index index = data.scan();
  ASSERT_EQ(index.rejects().size(), 1U);
  EXPECT_EQ(index.rejects()[0].error.code->name, "E-META-NOFILE");
  EXPECT_TRUE(contains(index.rejects()[0].error.found, "NFD"));
}

TEST(SoundRowTest, OtherRatesAreResampledOrRejectedWithBothRates) {
  DataSet data;
  data.folder.put("wavs/a.wav", audio::good_wav({.rate_hz = 44100}, audio::samples16(44100)));
  data.put_metadata("a|some text|some text\n");
  EXPECT_EQ(warning_names(data.scan()), std::vector<std::string>{"E-DATA-RESAMPLED"});
  data.options.other_rates = OtherRates::kReject;
  const Error error = only_reject(data);
  EXPECT_EQ(error.code->name, "E-DATA-RATE");
  EXPECT_EQ(error.promised, "22050 Hz");
  EXPECT_EQ(error.found, "44100 Hz");
}

TEST(SoundRowTest, TheFirstSampleThatIsNoNumberIsNamed) {
  DataSet data;
  std::string samples;
  for (int i = 0; i < 22050; ++i) samples += le(std::bit_cast<std::uint32_t>(0.25F), 4);
  samples.replace(4 * 700, 4, le(0x7FC00000, 4));
  data.folder.put("wavs/a.wav", audio::good_wav({.code = 3, .bits = 32}, samples));
  data.options.check = FileCheck::kContent;
  const Error error = only_reject(data);
  EXPECT_EQ(error.code->name, "E-WAV-NONFINITE");
  EXPECT_EQ(error.place.byte, 44U + 4 * 700);
  EXPECT_TRUE(contains(error.found, "sample 700"));
}

struct DullSound {
  const char* name;
  int low;
  int high;
  const char* code;
};
TEST(SoundRowTest, SilenceConstantsAndClippingAreWarnings) {
  for (const auto& [name, low, high, code] :
       {DullSound{"zeros", 0, 0, "E-DATA-SILENT"}, DullSound{"constant", 77, 77, "E-DATA-CONSTANT"},
        DullSound{"square", -32768, 32767, "E-DATA-CLIPPED"}}) {
    DataSet data;
    std::string samples;
    for (int i = 0; i < 22050; ++i)
      samples += le(static_cast<std::uint16_t>(i % 40 < 20 ? low : high), 2);
    data.folder.put("wavs/a.wav", audio::good_wav({}, samples));
    data.put_metadata("a|some text|some text\n");
    data.options.check = FileCheck::kContent;
    EXPECT_EQ(warning_names(data.scan()), std::vector<std::string>{code}) << name;
  }
}

struct WeakSound {
  const char* name;
  int offset;
  int amplitude;
  std::vector<std::string> codes;
};
TEST(SoundRowTest, AnOffsetAndALevelFarBelowSpeechAreWarnings) {
  for (const auto& [name, offset, amplitude, codes] :
       {WeakSound{"offset of 2 %", 655, 8000, {"E-DATA-OFFSET"}},
        WeakSound{"offset the other way", -655, 8000, {"E-DATA-OFFSET"}},
        WeakSound{"peaks at -60 dB", 0, 33, {"E-DATA-QUIET"}},
        WeakSound{"both", 655, 33, {"E-DATA-OFFSET", "E-DATA-QUIET"}},
        WeakSound{"soft speech", 30, 700, {}}}) {
    DataSet data;
    std::string samples;
    for (int i = 0; i < 22050; ++i) {
      const int saw = (i % 41 - 20) * amplitude / 20;
      samples += le(static_cast<std::uint16_t>(offset + saw), 2);
    }
    data.folder.put("wavs/a.wav", audio::good_wav({}, samples));
    data.put_metadata("a|some text|some text\n");
    data.options.check = FileCheck::kContent;
    const Index index = data.scan();
    EXPECT_EQ(warning_names(index), codes) << name;
    EXPECT_EQ(index.size(), 1U) << name;
    for (const Warning& warning : index.warnings()) EXPECT_EQ(warning.id, "a") << name;
  }
}

TEST(SoundRowTest, TooShortAndTooLongAreRejectedWithSeconds) {
  DataSet data;
  data.put_wav("wavs/a.wav", 255);
  const Error too_short = only_reject(data);
  EXPECT_EQ(too_short.code->name, "E-DATA-SHORT");
  EXPECT_TRUE(contains(too_short.found, "255 (0.012 s)"));
  data.put_wav("wavs/a.wav", 256);
  EXPECT_EQ(data.scan().size(), 1U);
  data.options.max_utterance_s = 0.5;
  data.put_wav("wavs/a.wav", 22050);
  const Error too_long = only_reject(data);
  EXPECT_EQ(too_long.code->name, "E-DATA-LONG");
  EXPECT_TRUE(contains(too_long.found, "1.000 s"));
}

TEST(SoundRowTest, AbsurdPaceIsListed) {
  DataSet data;
  data.put_ids({"a"});
  data.put_metadata("a|x|" + std::string(500, 'y') + "\n");
  const Index index = data.scan();
  ASSERT_EQ(warning_names(index), std::vector<std::string>{"E-DATA-PACE"});
  EXPECT_TRUE(contains(index.warnings()[0].error.found, "500.0"));
}

TEST(SoundRowTest, AFileThatMayNotBeReadNamesPathAndUser) {
  DataSet data;
  data.put_ids({"a"});
  data.put_metadata("a|some text|some text\n");
  FaultIo counting;
  ASSERT_EQ(scan_index(data.options, counting).size(), 1U);
  // The sound file is the last thing opened. Permissions would not stop a test run by root.
  FaultIo io;
  io.plan({.at_call = counting.num_calls(IoCall::kOpen),
           .calls = {IoCall::kOpen},
           .error_number = EACCES});
  const Index index = scan_index(data.options, io);
  ASSERT_EQ(index.rejects().size(), 1U);
  const Error& error = index.rejects()[0].error;
  EXPECT_EQ(error.code->name, "E-IO-ACCESS");
  EXPECT_EQ(error.place.file, data.folder / "wavs/a.wav");
  EXPECT_TRUE(contains(error.found, std::to_string(::geteuid())));
}

TEST(SoundRowTest, HugeFilesAreRefusedBeforeReading) {
  for (const std::uintmax_t size_bytes :
       {(std::uintmax_t{1} << 32U) + 44, std::uintmax_t{1} << 40U}) {
    DataSet data;
    data.put_ids({"a"});
    std::error_code error;
    fs::resize_file(data.folder / "wavs/a.wav", size_bytes, error);
    if (error) GTEST_SKIP() << "no sparse files here: " << error.message();
    const Error refused = only_reject(data);
    EXPECT_EQ(refused.code->name, "E-WAV-TOOBIG");
    EXPECT_TRUE(contains(refused.promised, "4,294,967,295"));
  }
}

}  // namespace
}  // namespace stoker::data
