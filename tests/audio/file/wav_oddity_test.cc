#include <gtest/gtest.h>

#include <string>

#include "stoker/audio/file/wav_reader.h"
#include "stoker/base/bytes.h"
#include "tests/audio/file/wav_bytes.h"

namespace stoker::audio {
namespace {

const std::string kFmt = chunk("fmt ", fmt_body({}));
const std::string kData = chunk("data", samples16());

struct OddWav {
  std::string name;
  std::string file;
  std::uint32_t oddities;
  std::uint64_t num_samples = 100;
  SoundPolicy policy = {};
};

void PrintTo(const OddWav& odd, std::ostream* out) { *out << odd.name; }

std::vector<OddWav> odd_wavs() {
  return {
      {"PlainFileHasNone", good_wav(), 0},
      {"B3RiffSizeTooSmall", riff(kFmt + kData, 4), kOddRiffSize},
      {"B3RiffSizeTooLarge", riff(kFmt + kData, 5000), kOddRiffSize},
      {"B3ZerosBehindTheLastChunk", good_wav() + std::string(64, '\0'),
       kOddRiffSize | kOddTrailingBytes},
      {"B3WordsBehindTheRiffEnd", good_wav() + "written by a recorder of 1998",
       kOddRiffSize | kOddTrailingBytes},
      {"B3FewBytesBehind", good_wav() + "abc", kOddRiffSize | kOddTrailingBytes},
      {"B2StreamedWhenAllowed",
       riff(kFmt + chunk("data", samples16(), 0xFFFFFFFF), 0xFFFFFFFF),
       kOddRiffSize | kOddStreamed,
       100,
       {.allow_streamed = true}},
      {"B8ExtensiblePcm", riff(chunk("fmt ", extensible_body({})) + kData), 0},
      {"B8LongerExtension", riff(chunk("fmt ", extensible_body({}, {.size_bytes = 30})) + kData),
       0},
      {"B8FmtOf18Bytes", riff(chunk("fmt ", fmt_body({}) + le(0, 2)) + kData), 0},
      {"B11PadByteHonoured", riff(kFmt + chunk("LIST", "abc") + kData), 0},
      {"B11NoPadButKnownNext", riff(kFmt + chunk("LIST", "abc", -1, false) + kData),
       kOddMissingPad},
      {"OddNumberOfDataBytes", riff(kFmt + chunk("data", samples16(100) + "x")), kOddDataBytes},
      {"WrongByteRate", riff(chunk("fmt ", fmt_body({.byte_rate = 7})) + kData), kOddByteRate},
      {"B6StereoIsMixed", good_wav({.channels = 2}), 0, 50},
      {"ListBehindTheData", riff(kFmt + kData + chunk("LIST", "INFOISFT")), 0},
  };
}

class OddWavTest : public testing::TestWithParam<OddWav> {};

TEST_P(OddWavTest, IsReadAndItsOddityNamed) {
  const OddWav& odd = GetParam();
  const auto header = parse_wav(view_bytes(odd.file), odd.policy);
  ASSERT_TRUE(header.ok()) << error_line(header.error());
  EXPECT_EQ(header->oddities, odd.oddities);
  EXPECT_EQ(header->num_samples, odd.num_samples);
}

INSTANTIATE_TEST_SUITE_P(All, OddWavTest, testing::ValuesIn(odd_wavs()),
                         [](const auto& row) { return row.param.name; });

TEST(WavPolicyTest, OddDataAreRefusedOnRequest) {
  const std::string file = riff(kFmt + chunk("data", samples16(100) + "x"));
  const auto header = parse_wav(view_bytes(file), {.allow_odd_data = false});
  ASSERT_FALSE(header.ok());
  EXPECT_EQ(header.error().code->name, "E-WAV-ODDDATA");
  EXPECT_EQ(header.error().place.byte, 40U);
}

TEST(WavPolicyTest, StereoIsRefusedOnRequest) {
  const auto header = parse_wav(view_bytes(good_wav({.channels = 2})), {.allow_mix = false});
  ASSERT_FALSE(header.ok());
  EXPECT_EQ(header.error().code->name, "E-WAV-CHANNELS");
}

TEST(WavReaderTest, EveryCutOfAFileIsRefused) {
  const std::string file = riff(kFmt + chunk("LIST", "abcde") + kData);
  ASSERT_TRUE(parse_wav(view_bytes(file), {}).ok());
  for (std::size_t size = 0; size < file.size(); ++size)
    EXPECT_FALSE(parse_wav(view_bytes(std::string_view(file).substr(0, size)), {}).ok()) << size;
}

}  // namespace
}  // namespace stoker::audio
