// Makes FLAC, Ogg and MP3 files with libsndfile, for the tests that read and damage them.
#pragma once

#include <gtest/gtest.h>
#include <sndfile.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "stoker/base/philox.h"

namespace stoker::audio {

struct CodedKind {
  const char* name;
  const char* suffix;
  int format;
  int rate_hz;
  double quality = -1;  // libsndfile's, 0 to 1; -1 = its default
};

inline void PrintTo(const CodedKind& kind, std::ostream* out) { *out << kind.name; }

// Something like speech: a gliding pitch with harmonics, syllables and a little noise.
inline std::vector<float> speech_like(std::size_t num_samples, int rate_hz) {
  KeyedDraws draws({.seed = 5, .stage = "speech-like", .epoch = 0, .item = num_samples});
  std::vector<float> out(num_samples);
  double phase = 0;
  for (std::size_t i = 0; i < num_samples; ++i) {
    const double t = static_cast<double>(i) / rate_hz;
    phase += 2 * M_PI * (140 + 40 * std::sin(2.1 * t)) / rate_hz;
    double value = 0;
    for (int h = 1; h <= 12; ++h) value += std::sin(h * phase) / (h * h);
    const double syllable = 0.6 + 0.4 * std::sin(2 * M_PI * 3.0 * t);
    out[i] = static_cast<float>(0.3 * syllable * value + 0.001 * draws.next_between(-1, 1));
  }
  return out;
}

template <class Sample, class Write>
void write_coded(const std::string& path, const CodedKind& kind, int num_channels,
                 const std::vector<Sample>& interleaved, Write write) {
  SF_INFO info{};
  info.samplerate = kind.rate_hz;
  info.channels = num_channels;
  info.format = kind.format;
  SNDFILE* file = sf_open(path.c_str(), SFM_WRITE, &info);
  ASSERT_NE(file, nullptr) << kind.name << ": " << sf_strerror(nullptr);
  double quality = kind.quality;
  if (quality >= 0) sf_command(file, SFC_SET_VBR_ENCODING_QUALITY, &quality, sizeof(quality));
  const auto frames = static_cast<sf_count_t>(interleaved.size()) / num_channels;
  EXPECT_EQ(write(file, interleaved.data(), frames), frames);
  ASSERT_EQ(sf_close(file), 0);
}

}  // namespace stoker::audio
