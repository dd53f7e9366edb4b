// Damaged FLAC, Ogg and MP3 files: each is refused with the code that names its fault, none is
// taken in silence.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "stoker/audio/file/sound_file.h"
#include "tests/audio/file/coded_files.h"
#include "tests/doubles/scratch_folder.h"

namespace stoker::audio {
namespace {

const CodedKind kFlacFile{"flac", ".flac", SF_FORMAT_FLAC | SF_FORMAT_PCM_16, 22050};
const CodedKind kVorbisFile{"vorbis", ".ogg", SF_FORMAT_OGG | SF_FORMAT_VORBIS, 22050};
const CodedKind kOpusFile{"opus", ".opus", SF_FORMAT_OGG | SF_FORMAT_OPUS, 24000};
const CodedKind kMp3File{"mp3", ".mp3", SF_FORMAT_MPEG | SF_FORMAT_MPEG_LAYER_III, 22050};

std::string bytes_of(const CodedKind& kind) {
  ScratchFolder folder;
  const std::string path = folder.path() + "/a" + kind.suffix;
  write_coded(path, kind, 1, speech_like(40000, kind.rate_hz), sf_writef_float);
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// The code of the first refusal of header or samples; "taken" when there is none.
std::string verdict(const std::string& bytes, const char* suffix) {
  ScratchFolder folder;
  const std::string path = folder.path() + "/a" + suffix;
  std::ofstream(path, std::ios::binary) << bytes;
  File file = open_file(system_io(), path, OpenFor::kRead).take_or_raise();
  const Result<SoundInfo> info = read_sound_info(file);
  if (!info) return std::string(info.error().code->name);
  std::vector<float> out(info->num_samples);
  const Result<void> read = SoundReader().read_float(file, *info, 0, out);
  return read ? "taken" : std::string(read.error().code->name);
}

struct Damage {
  const char* name;
  std::string (*apply)(std::string bytes);
};

std::string cut(std::string bytes, double share) {
  return bytes.substr(0, static_cast<std::size_t>(static_cast<double>(bytes.size()) * share));
}
std::string flipped(std::string bytes, double at) {
  bytes[static_cast<std::size_t>(static_cast<double>(bytes.size()) * at)] ^= 0x10;
  return bytes;
}
std::string without(std::string bytes, double at, std::size_t count) {
  return bytes.erase(static_cast<std::size_t>(static_cast<double>(bytes.size()) * at), count);
}
std::string zeroed(std::string bytes, double at, std::size_t count) {
  const auto first = static_cast<std::size_t>(static_cast<double>(bytes.size()) * at);
  for (std::size_t i = first; i < first + count; ++i) bytes[i] = 0;
  return bytes;
}

// Damages that every kind must notice.
const Damage kForAll[]{
    {"cut by one byte", [](std::string b) { return b.substr(0, b.size() - 1); }},
    {"cut by seven bytes", [](std::string b) { return b.substr(0, b.size() - 7); }},
    {"nine tenths", [](std::string b) { return cut(b, 0.9); }},
    {"half", [](std::string b) { return cut(b, 0.5); }},
    {"a fifth", [](std::string b) { return cut(b, 0.2); }},
    {"garbage behind", [](std::string b) { return b + std::string(200, 'x'); }},
    {"a hole of 300 bytes", [](std::string b) { return without(b, 0.5, 300); }},
    {"one byte missing", [](std::string b) { return without(b, 0.5, 1); }},
    {"a byte too many", [](std::string b) { return b.insert(b.size() / 2, "x"); }},
    {"600 bytes of zeros", [](std::string b) { return zeroed(b, 0.4, 600); }},
    {"text in the middle",
     [](std::string b) { return b.replace(b.size() / 3, 900, std::string(900, 'a')); }},
    {"twice", [](std::string b) { return b + cut(b, 0.3); }},
};
// Damages that only a checksum shows; MP3 frames carry none.
const Damage kForChecksummed[]{
    {"a bit early", [](std::string b) { return flipped(b, 0.3); }},
    {"a bit in the middle", [](std::string b) { return flipped(b, 0.5); }},
    {"a bit late", [](std::string b) { return flipped(b, 0.95); }},
};

int expect_refused(const CodedKind& kind, std::span<const Damage> damages,
                   std::string_view prefix) {
  const std::string whole = bytes_of(kind);
  EXPECT_EQ(verdict(whole, kind.suffix), "taken");
  int count = 0;
  for (const Damage& damage : damages) {
    const std::string code = verdict(damage.apply(whole), kind.suffix);
    EXPECT_TRUE(code.starts_with(prefix) || code == "E-SOUND-DECODE")
        << kind.name << ", " << damage.name << ": " << code;
    ++count;
  }
  return count;
}

TEST(CodedDamageTest, EveryDamageIsRefusedByItsCode) {
  int count = 0;
  count += expect_refused(kFlacFile, kForAll, "E-FLAC-");
  count += expect_refused(kVorbisFile, kForAll, "E-OGG-");
  count += expect_refused(kOpusFile, kForAll, "E-OGG-");
  count += expect_refused(kMp3File, kForAll, "E-MP3-");
  count += expect_refused(kFlacFile, kForChecksummed, "E-FLAC-");
  count += expect_refused(kVorbisFile, kForChecksummed, "E-OGG-");
  count += expect_refused(kOpusFile, kForChecksummed, "E-OGG-");
  EXPECT_GE(count, 40);
}

TEST(CodedDamageTest, AFileWithoutASampleIsEmpty) {
  ScratchFolder folder;
  const std::string path = folder.path() + "/a.ogg";
  write_coded(path, kVorbisFile, 1, std::vector<float>(), sf_writef_float);
  File file = open_file(system_io(), path, OpenFor::kRead).take_or_raise();
  const Result<SoundInfo> info = read_sound_info(file);
  ASSERT_FALSE(info.ok());
  EXPECT_EQ(info.error().code->name, "E-SOUND-EMPTY");
  EXPECT_EQ(help_line(info.error()), "help: export or download the recording again");
}

TEST(CodedDamageTest, TruncationSaysWhatWasPromisedAndHeld) {
  const std::string flac = bytes_of(kFlacFile);
  ScratchFolder folder;
  const std::string path = folder.path() + "/a.flac";
  std::ofstream(path, std::ios::binary) << flac.substr(0, flac.size() / 2);
  File file = open_file(system_io(), path, OpenFor::kRead).take_or_raise();
  const Result<SoundInfo> info = read_sound_info(file);
  ASSERT_FALSE(info.ok());
  EXPECT_EQ(info.error().code->name, "E-FLAC-TRUNC");
  EXPECT_EQ(info.error().promised, "40,000 samples by STREAMINFO");
  EXPECT_TRUE(info.error().place.byte.has_value());
}

TEST(CodedDamageTest, HeadersOfNoSenseAreRefused) {
  const std::string flac = bytes_of(kFlacFile);
  const std::string ogg = bytes_of(kVorbisFile);
  const std::string mp3 = bytes_of(kMp3File);
  EXPECT_EQ(verdict("fLaC", ".flac"), "E-FLAC-HEADER");
  EXPECT_EQ(verdict(flac.substr(0, 42), ".flac"), "E-FLAC-HEADER");
  EXPECT_EQ(verdict(ogg.substr(0, 20), ".ogg"), "E-OGG-TRUNC");
  EXPECT_EQ(verdict(ogg.substr(0, 58), ".ogg"), "E-OGG-TRUNC");
  EXPECT_EQ(verdict(mp3.substr(0, 4), ".mp3"), "E-MP3-TRUNC");
  EXPECT_EQ(verdict("ID3\x04" + std::string(6, '\0'), ".mp3"), "E-MP3-TRUNC");
  EXPECT_EQ(verdict(ogg + ogg, ".ogg"), "E-OGG-CHAINED");
}

}  // namespace
}  // namespace stoker::audio
