// Every format that is accepted is decoded to the same bits as libsndfile gives.
#include <gtest/gtest.h>
#include <sndfile.h>

#include <string>
#include <vector>

#include "stoker/audio/file/sound_file.h"
#include "stoker/base/bytes.h"
#include "stoker/base/philox.h"
#include "tests/audio/file/wav_bytes.h"
#include "tests/doubles/scratch_folder.h"

namespace stoker::audio {
namespace {

struct Matrix {
  const char* name;
  std::uint16_t code;
  std::uint16_t bits;
  bool extensible;
};

void PrintTo(const Matrix& row, std::ostream* out) { *out << row.name; }

// Random bits, but finite numbers where the format is float.
std::string random_samples(const Matrix& row, std::size_t count, std::uint64_t item) {
  KeyedDraws draws({.seed = 1, .stage = row.name, .epoch = 0, .item = item});
  std::string out;
  for (std::size_t i = 0; i < count; ++i) {
    const double unit = draws.next_between(-1.5, 1.5);
    const auto single = static_cast<float>(unit);
    std::uint64_t raw = draws.next_u64();
    if (row.code == 3 && row.bits == 32) raw = std::bit_cast<std::uint32_t>(single);
    if (row.code == 3 && row.bits == 64) raw = std::bit_cast<std::uint64_t>(unit);
    out += le(raw, row.bits / 8);
  }
  return out;
}

std::string make_file(const Matrix& row, std::uint16_t channels, std::uint32_t rate_hz,
                      std::size_t num_samples) {
  const FmtFields fields{
      .code = row.code, .channels = channels, .rate_hz = rate_hz, .bits = row.bits};
  const std::string body = row.extensible
                               ? extensible_body(fields, {.valid_bits = row.bits, .code = row.code})
                               : fmt_body(fields);
  return riff(chunk("fmt ", body) +
              chunk("data", random_samples(row, num_samples * channels, num_samples)));
}

template <class Sample, class Read>
std::vector<Sample> read_with_sndfile(const std::string& path, Read read) {
  SF_INFO info{};
  SNDFILE* file = sf_open(path.c_str(), SFM_READ, &info);
  EXPECT_NE(file, nullptr) << sf_strerror(nullptr);
  std::vector<Sample> out(static_cast<std::size_t>(info.frames * info.channels));
  EXPECT_EQ(read(file, out.data(), info.frames), info.frames);
  sf_close(file);
  return out;
}

std::vector<float> mean_of_channels(const std::vector<double>& frames, std::size_t channels) {
  std::vector<float> out;
  for (std::size_t i = 0; i < frames.size(); i += channels) {
    double sum = 0;
    for (std::size_t c = 0; c < channels; ++c) sum += frames[i + c];
    out.push_back(static_cast<float>(sum / static_cast<double>(channels)));
  }
  return out;
}

class SndfileTest : public testing::TestWithParam<Matrix> {
 protected:
  void compare(const std::string& path, std::uint16_t channels) {
    const File file = open_file(system_io(), path, OpenFor::kRead).take_or_raise();
    const SoundInfo info = read_sound_info(file).take_or_raise();
    SoundReader reader;
    std::vector<float> ours(info.num_samples);
    reader.read_float(file, info, 0, ours).take_or_raise();
    if (channels == 1) {
      ASSERT_EQ(ours, read_with_sndfile<float>(path, sf_readf_float)) << path;
    } else {
      ASSERT_EQ(ours, mean_of_channels(read_with_sndfile<double>(path, sf_readf_double), channels));
    }
    if (channels != 1 || GetParam().code != 1) return;
    std::vector<std::int16_t> ours16(info.num_samples);
    reader.read_pcm16(file, info, 0, ours16).take_or_raise();
    ASSERT_EQ(ours16, read_with_sndfile<std::int16_t>(path, sf_readf_short)) << path;
  }
};

TEST_P(SndfileTest, GivesTheSameBits) {
  const ScratchFolder folder;
  for (const std::uint16_t channels : std::initializer_list<std::uint16_t>{1, 2, 3, 6})
    for (const std::uint32_t rate_hz : {8000U, 16000U, 22050U, 44100U, 48000U, 96000U})
      for (const std::size_t num_samples : {1U, 2U, 255U, 256U, 257U, 1023U, 4099U}) {
        folder.put("a.wav", make_file(GetParam(), channels, rate_hz, num_samples));
        compare(folder / "a.wav", channels);
        if (HasFatalFailure()) return;
      }
}

INSTANTIATE_TEST_SUITE_P(Formats, SndfileTest,
                         testing::Values(Matrix{"U8", 1, 8, false}, Matrix{"S16", 1, 16, false},
                                         Matrix{"S24", 1, 24, false}, Matrix{"S32", 1, 32, false},
                                         Matrix{"F32", 3, 32, false}, Matrix{"F64", 3, 64, false},
                                         Matrix{"ExtensibleS16", 1, 16, true},
                                         Matrix{"ExtensibleS24", 1, 24, true},
                                         Matrix{"ExtensibleF32", 3, 32, true}),
                         [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace stoker::audio
