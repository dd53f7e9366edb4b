// FLAC comes back exactly; the lossy kinds come back long enough, in order and alike.
#include <gtest/gtest.h>

#include <algorithm>

#include "stoker/audio/file/sound_file.h"
#include "tests/audio/file/coded_files.h"
#include "tests/doubles/scratch_folder.h"

namespace stoker::audio {
namespace {

constexpr int kVorbis = SF_FORMAT_OGG | SF_FORMAT_VORBIS;
constexpr int kOpus = SF_FORMAT_OGG | SF_FORMAT_OPUS;
constexpr int kMp3 = SF_FORMAT_MPEG | SF_FORMAT_MPEG_LAYER_III;

template <class Sample>
std::vector<Sample> read_all(const std::string& path, std::uint64_t first = 0,
                             std::uint64_t count = 0) {
  File file = open_file(system_io(), path, OpenFor::kRead).take_or_raise();
  const SoundInfo info = read_sound_info(file).take_or_raise();
  std::vector<Sample> out(count == 0 ? info.num_samples : count);
  SoundReader reader;
  if constexpr (std::is_same_v<Sample, float>) {
    reader.read_float(file, info, first, out).take_or_raise();
  } else {
    reader.read_pcm16(file, info, first, out).take_or_raise();
  }
  return out;
}

TEST(FlacTest, SixteenBitSamplesComeBackExactly) {
  ScratchFolder folder;
  KeyedDraws draws({.seed = 1, .stage = "flac", .epoch = 0, .item = 0});
  for (const std::size_t size :
       {std::size_t{1}, std::size_t{255}, std::size_t{4096}, std::size_t{70001}}) {
    std::vector<short> samples(size);
    for (short& sample : samples) sample = static_cast<short>(draws.next_u32());
    const std::string path = folder.path() + "/a" + std::to_string(size) + ".flac";
    write_coded(path, {"flac", ".flac", SF_FORMAT_FLAC | SF_FORMAT_PCM_16, 22050}, 1, samples,
                sf_writef_short);
    EXPECT_EQ(read_all<std::int16_t>(path), samples) << size;
  }
}

TEST(FlacTest, TwentyFourBitSamplesComeBackExactlyAsFloat) {
  ScratchFolder folder;
  const std::vector<int> samples{0, 256, -256, 0x7FFFFF00, -0x7FFFFF00, 0x12345600};
  const std::string path = folder.path() + "/a.flac";
  write_coded(path, {"flac24", ".flac", SF_FORMAT_FLAC | SF_FORMAT_PCM_24, 48000}, 1, samples,
              sf_writef_int);
  const std::vector<float> read = read_all<float>(path);
  ASSERT_EQ(read.size(), samples.size());
  for (std::size_t i = 0; i < read.size(); ++i)
    EXPECT_EQ(read[i], static_cast<float>(samples[i] * 0x1p-31)) << i;
}

TEST(FlacTest, ChannelsAreMixedToTheirMean) {
  ScratchFolder folder;
  const std::vector<short> stereo{100, 300, -5, -7, 32767, 32767};
  const std::string path = folder.path() + "/a.flac";
  write_coded(path, {"flac", ".flac", SF_FORMAT_FLAC | SF_FORMAT_PCM_16, 22050}, 2, stereo,
              sf_writef_short);
  EXPECT_EQ(read_all<std::int16_t>(path), (std::vector<std::int16_t>{200, -6, 32767}));
}

TEST(FlacTest, ASegmentIsThatPartOfTheWhole) {
  ScratchFolder folder;
  const std::vector<float> speech = speech_like(60000, 22050);
  const std::string path = folder.path() + "/a.flac";
  write_coded(path, {"flac", ".flac", SF_FORMAT_FLAC | SF_FORMAT_PCM_16, 22050}, 1, speech,
              sf_writef_float);
  const std::vector<std::int16_t> whole = read_all<std::int16_t>(path);
  const std::vector<std::int16_t> part = read_all<std::int16_t>(path, 31000, 5000);
  EXPECT_TRUE(std::equal(part.begin(), part.end(), whole.begin() + 31000));
}

TEST(SoundKindTest, ContentCountsAndAnotherSuffixIsNoted) {
  ScratchFolder folder;
  const std::string path = folder.path() + "/really_flac.wav";
  write_coded(path, {"flac", ".wav", SF_FORMAT_FLAC | SF_FORMAT_PCM_16, 22050}, 1,
              speech_like(3000, 22050), sf_writef_float);
  File file = open_file(system_io(), path, OpenFor::kRead).take_or_raise();
  const SoundInfo info = read_sound_info(file).take_or_raise();
  EXPECT_EQ(info.format, SoundFormat::kFlac);
  EXPECT_NE(info.oddities & kOddSuffix, 0U);
}

class LossyTest : public testing::TestWithParam<CodedKind> {};

double correlation_at(const std::vector<float>& a, const std::vector<float>& b,
                      std::ptrdiff_t lag) {
  double ab = 0, aa = 0, bb = 0;
  for (std::size_t i = 6000; i < 10000; ++i) {
    const std::ptrdiff_t j = static_cast<std::ptrdiff_t>(i) + lag;
    if (j < 0 || j >= static_cast<std::ptrdiff_t>(b.size())) continue;
    const double x = a[i], y = b[static_cast<std::size_t>(j)];
    ab += x * y, aa += x * x, bb += y * y;
  }
  return ab / std::sqrt(aa * bb + 1e-30);
}

double best_correlation(const std::vector<float>& a, const std::vector<float>& b) {
  double best = -1;
  for (std::ptrdiff_t lag = -1300; lag <= 2600; ++lag)
    best = std::max(best, correlation_at(a, b, lag));
  return best;
}

TEST_P(LossyTest, LengthAndShapeComeBack) {
  ScratchFolder folder;
  const CodedKind& kind = GetParam();
  const std::vector<float> speech =
      speech_like(static_cast<std::size_t>(kind.rate_hz), kind.rate_hz);
  const std::string path = folder.path() + "/a" + kind.suffix;
  write_coded(path, kind, 1, speech, sf_writef_float);
  const std::vector<float> read = read_all<float>(path);
  const double allowed = kind.format == kMp3 ? 1152 : 1;
  EXPECT_NEAR(static_cast<double>(read.size()), static_cast<double>(speech.size()), allowed);
  EXPECT_GT(best_correlation(speech, read), 0.98);
}

INSTANTIATE_TEST_SUITE_P(Kinds, LossyTest,
                         testing::Values(CodedKind{"vorbis16", ".ogg", kVorbis, 16000, 0.6},
                                         CodedKind{"vorbis22", ".ogg", kVorbis, 22050, 0.6},
                                         CodedKind{"vorbis44", ".ogg", kVorbis, 44100, 0.6},
                                         CodedKind{"vorbis48", ".ogg", kVorbis, 48000, 0.6},
                                         CodedKind{"opus16", ".opus", kOpus, 16000},
                                         CodedKind{"opus24", ".opus", kOpus, 24000},
                                         CodedKind{"opus48", ".opus", kOpus, 48000},
                                         CodedKind{"mp3_16", ".mp3", kMp3, 16000},
                                         CodedKind{"mp3_22", ".mp3", kMp3, 22050},
                                         CodedKind{"mp3_44", ".mp3", kMp3, 44100},
                                         CodedKind{"mp3_48", ".mp3", kMp3, 48000}),
                         [](const auto& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace stoker::audio
