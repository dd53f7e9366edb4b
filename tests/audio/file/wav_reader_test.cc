#include "stoker/audio/file/wav_reader.h"

#include <gtest/gtest.h>

#include <string>

#include "stoker/base/bytes.h"
#include "tests/audio/file/wav_bytes.h"

namespace stoker::audio {
namespace {

struct BadWav {
  std::string name;
  std::string file;
  std::string code;
  std::uint64_t at_bytes;
  std::string promised;  // a part of it
  std::string found;     // a part of it
};

void PrintTo(const BadWav& bad, std::ostream* out) { *out << bad.name; }

std::string with_fmt(const FmtFields& fields) { return good_wav(fields); }

std::string with_fmt_body(std::string_view body) {
  return riff(chunk("fmt ", body) + chunk("data", samples16()));
}

std::string many_chunks() {
  std::string chunks;
  for (int i = 0; i < 2000; ++i) chunks += chunk("junk", "");
  return riff(chunks + chunk("fmt ", fmt_body({})) + chunk("data", samples16()));
}

std::string page(std::string_view start) { return std::string(start) + std::string(200, 'x'); }

const std::string kFmt = chunk("fmt ", fmt_body({}));

std::vector<BadWav> bad_sizes() {
  return {
      {"B1HalfOfTheDataMissing", riff(kFmt + chunk("data", samples16(100), 400)), "E-WAV-TRUNC", 40,
       "400 bytes", "200 bytes"},
      {"B2DataSizeFFFFFFF0", riff(kFmt + chunk("data", samples16(), 0xFFFFFFF0)), "E-WAV-TRUNC", 40,
       "4,294,967,280 bytes", "200 bytes"},
      {"B2DataSizeOpen", riff(kFmt + chunk("data", samples16(), 0xFFFFFFFF), 0xFFFFFFFF),
       "E-WAV-STREAMED", 40, "a data size", "0xFFFFFFFF"},
      {"B2DataSizeZero", riff(kFmt + chunk("data", "")), "E-WAV-EMPTY", 40, "one sample",
       "0 bytes"},
      {"B2DataSizeZeroWithSamples", riff(kFmt + chunk("data", samples16(), 0)), "E-WAV-EMPTY", 40,
       "one sample", "0 bytes"},
      {"B12JunkOf2GiB", riff(kFmt + chunk("JUNK", "abcd", 0x80000000) + chunk("data", samples16())),
       "E-WAV-CHUNK", 36, "2,147,483,648 bytes in chunk \"JUNK\"", "212 bytes"},
      {"B12ListPastTheEnd", riff(kFmt + chunk("data", samples16()) + chunk("LIST", "ab", 999)),
       "E-WAV-CHUNK", 244, "999 bytes in chunk \"LIST\"", "2 bytes"},
      {"B12FmtPastTheEnd", riff(chunk("fmt ", fmt_body({}) + std::string(12, 'x'), 500)),
       "E-WAV-CHUNK", 12, "500 bytes in chunk \"fmt \"", "28 bytes"},
      {"B12TwoThousandChunks", many_chunks(), "E-WAV-CHUNKS", 12 + 1024 * 8, "1,024 chunks",
       "more"},
      {"B11NoPadAndUnclearNext",
       riff(kFmt + chunk("LIST", "abc", -1, false) + "zzzz" + chunk("data", samples16())),
       "E-WAV-PAD", 47, "pad byte after chunk \"LIST\"", "no known chunk"},
      {"B14NoByte", "", "E-WAV-EMPTY", 0, "44 bytes", "0 bytes"},
      {"B14TwentyBytes", good_wav().substr(0, 20), "E-WAV-EMPTY", 0, "44 bytes", "20 bytes"},
      {"B14HeaderOnly", good_wav({}, ""), "E-WAV-EMPTY", 40, "one sample", "0 bytes"},
      {"B14HalfASample", good_wav({}, "x"), "E-WAV-EMPTY", 40, "one sample", "1 byte"},
  };
}

std::vector<BadWav> bad_formats() {
  return {
      {"B4BlockZero", with_fmt({.block_bytes = 0}), "E-WAV-BLOCK", 32, "block_align 2",
       "block_align 0"},
      {"B4BlockThree", with_fmt({.block_bytes = 3}), "E-WAV-BLOCK", 32, "block_align 2",
       "block_align 3"},
      {"B5Bits0", with_fmt({.bits = 0}), "E-WAV-BITS", 34, "8, 16, 24 or 32", "0 bits"},
      {"B5Bits12", with_fmt({.bits = 12}), "E-WAV-BITS", 34, "8, 16, 24 or 32", "12 bits"},
      {"B5Bits20", with_fmt({.bits = 20}), "E-WAV-BITS", 34, "8, 16, 24 or 32", "20 bits"},
      {"B5Pcm64", with_fmt({.bits = 64}), "E-WAV-BITS", 34, "8, 16, 24 or 32", "64 bits"},
      {"B5Float16", with_fmt({.code = 3}), "E-WAV-BITS", 34, "32 or 64", "16 bits"},
      {"B5ValidBits24Of16", with_fmt_body(extensible_body({}, {.valid_bits = 24})), "E-WAV-BITS",
       38, "at most 16", "valid_bits 24"},
      {"B6NoChannel", with_fmt({.channels = 0}), "E-WAV-CHANNELS", 22, "1 to 64", "0 channels"},
      {"B6Channels65535", with_fmt({.channels = 65535}), "E-WAV-CHANNELS", 22, "1 to 64",
       "65,535 channels"},
      {"B7Rate0", with_fmt({.rate_hz = 0}), "E-WAV-RATE", 24, "1,000 to 768,000", "0 Hz"},
      {"B7RateLargest", with_fmt({.rate_hz = 0xFFFFFFFF}), "E-WAV-RATE", 24, "1,000 to 768,000",
       "4,294,967,295 Hz"},
      {"B8StrangeGuid", with_fmt_body(extensible_body({}, {.guid_tail = std::string(14, 'g')})),
       "E-WAV-GUID", 44, "PCM or float", "010067"},
      {"B8NoExtension", with_fmt({.code = 0xFFFE}), "E-WAV-FMT", 36, "at least 22 bytes",
       "fmt chunk of 16 bytes"},
      {"B8ExtensionTooShort", with_fmt_body(extensible_body({}, {.size_bytes = 20})), "E-WAV-FMT",
       36, "at least 22 bytes", "20 in a fmt chunk"},
      {"B8ExtensionPastTheChunk",
       with_fmt_body(extensible_body({}, {.size_bytes = 30}).substr(0, 40)), "E-WAV-FMT", 36,
       "at least 22 bytes", "40 bytes"},
      {"B8FmtOf14Bytes", with_fmt_body(fmt_body({}).substr(0, 14)), "E-WAV-FMT", 20, "16 bytes",
       "14 bytes"},
      {"B9MsAdpcm", with_fmt({.code = 2, .bits = 4, .block_bytes = 256}), "E-WAV-CODEC", 20,
       "PCM or float", "codec 0x0002 (Microsoft ADPCM), which is not supported"},
      {"B9MuLaw", with_fmt({.code = 7, .bits = 8}), "E-WAV-CODEC", 20, "PCM or float", "mu-law"},
      {"B9Mp3", with_fmt({.code = 0x55, .bits = 0}), "E-WAV-CODEC", 20, "PCM or float",
       "0x0055 (MP3)"},
      {"B9UnknownCodec", with_fmt({.code = 0x1234}), "E-WAV-CODEC", 20, "PCM or float", "0x1234"},
      {"B9AdpcmInExtensible", with_fmt_body(extensible_body({}, {.code = 2})), "E-WAV-CODEC", 20,
       "PCM or float", "0x0002"},
  };
}

std::vector<BadWav> bad_orders_and_kinds() {
  const std::string data = chunk("data", samples16());
  return {
      {"B10TwoFmt", riff(kFmt + chunk("fmt ", fmt_body({.channels = 2, .rate_hz = 44100})) + data),
       "E-WAV-DUPFMT", 36, "one fmt", "a second"},
      {"B10SecondFmtAfterData", riff(kFmt + data + kFmt), "E-WAV-DUPFMT", 244, "one fmt",
       "a second"},
      {"B10FmtAfterData", riff(data + kFmt), "E-WAV-ORDER", 220, "fmt before data", "data at 12"},
      {"B10NoFmt", riff(data), "E-WAV-NOFMT", 12, "a fmt chunk", "data without one"},
      {"B10NoData", riff(kFmt + chunk("LIST", "abcdefgh")), "E-WAV-NODATA", 52, "a data chunk",
       "none"},
      {"B10TwoData", riff(kFmt + data + data), "E-WAV-DUPDATA", 244, "one data", "a second"},
      {"B13Rifx", "RIFX" + good_wav().substr(4), "E-WAV-KIND", 0, "RIFF/WAVE", "RIFX"},
      {"B13Rf64", "RF64" + good_wav().substr(4), "E-WAV-KIND", 0, "RIFF/WAVE", "RF64"},
      {"B13Wave64", page("riff\x2E\x91\xCF\x11"), "E-WAV-KIND", 0, "RIFF/WAVE", "W64"},
      {"B13Aiff", page("FORM\1\2\3\4AIFF"), "E-WAV-KIND", 0, "RIFF/WAVE", "AIFF"},
      {"B13Flac", page("fLaC"), "E-WAV-KIND", 0, "RIFF/WAVE", "FLAC"},
      {"B13Html", page("\n<!DOCTYPE html><html>404"), "E-WAV-KIND", 0, "RIFF/WAVE", "HTML page"},
      {"B13SmallHtml", "<html>404</html>", "E-WAV-KIND", 0, "RIFF/WAVE", "HTML page"},
      {"B13Avi", "RIFF" + le(300, 4) + page("AVI "), "E-WAV-KIND", 0, "RIFF/WAVE",
       "another kind than WAVE"},
      {"B13Noise", page("noise"), "E-WAV-KIND", 0, "RIFF/WAVE", "\"noisexxxxxxx\" at its start"},
  };
}

class BadWavTest : public testing::TestWithParam<BadWav> {};

TEST_P(BadWavTest, IsRefusedWithCodePlacePromisedAndFound) {
  const BadWav& bad = GetParam();
  const auto header = parse_wav(view_bytes(bad.file), {});
  ASSERT_FALSE(header.ok());
  EXPECT_EQ(header.error().code->name, bad.code);
  EXPECT_EQ(header.error().place.byte, bad.at_bytes);
  EXPECT_NE(header.error().promised.find(bad.promised), std::string::npos)
      << header.error().promised;
  EXPECT_NE(header.error().found.find(bad.found), std::string::npos) << header.error().found;
}

std::string name_of(const testing::TestParamInfo<BadWav>& info) { return info.param.name; }
INSTANTIATE_TEST_SUITE_P(Sizes, BadWavTest, testing::ValuesIn(bad_sizes()), name_of);
INSTANTIATE_TEST_SUITE_P(Formats, BadWavTest, testing::ValuesIn(bad_formats()), name_of);
INSTANTIATE_TEST_SUITE_P(Orders, BadWavTest, testing::ValuesIn(bad_orders_and_kinds()), name_of);

}  // namespace
}  // namespace stoker::audio
