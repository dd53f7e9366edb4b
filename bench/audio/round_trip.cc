// What the vocoder alone costs: every WAV file of a folder to log-mel frames and back to sound, the
// bound of any speech that is made from frames. Usage: bench_round_trip IN OUT, both folders.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>
#include <vector>

#include "stoker/audio/feature_file.h"
#include "stoker/audio/file/wav_writer.h"
#include "stoker/audio/griffin_lim/griffin_lim.h"
#include "stoker/base/io/output_file.h"

namespace stoker {
namespace {

std::vector<std::int16_t> to_pcm16(const std::vector<float>& samples) {
  float peak = 1;
  for (const float sample : samples) peak = std::max(peak, std::abs(sample));
  std::vector<std::int16_t> pcm(samples.size());
  std::transform(samples.begin(), samples.end(), pcm.begin(), [&](float sample) {
    return static_cast<std::int16_t>(std::lround(sample / peak * 32767.0F));
  });
  return pcm;
}

class RoundTrip {
 public:
  RoundTrip()
      : maker_(config::FeatureSettings{}),
        inverse_(audio::GriffinLim::make(maker_.recipe(), {}, simd_level().take_or_raise())
                     .take_or_raise()) {}

  void run(const std::string& from, const std::string& to) {
    const audio::FileFeatures mel = maker_.run(system_io(), from).take_or_raise();
    std::vector<float> samples(inverse_.num_samples(mel.num_frames));
    inverse_.run(mel.values, samples, workspace_);
    const auto rate_hz = static_cast<std::uint32_t>(maker_.recipe().sample_rate_hz);
    publish_output(system_io(), to, audio::wav_pcm16_bytes(to_pcm16(samples), rate_hz))
        .take_or_raise();
  }

 private:
  audio::FeatureMaker maker_;
  audio::GriffinLim inverse_;
  audio::GriffinLim::Workspace workspace_;
};

void run_folder(const std::filesystem::path& from, const std::filesystem::path& to) {
  std::filesystem::create_directories(to);
  RoundTrip trip;
  for (const auto& entry : std::filesystem::directory_iterator(from))
    if (entry.path().extension() == ".wav")
      trip.run(entry.path().string(), (to / entry.path().filename()).string());
}

}  // namespace
}  // namespace stoker

int main(int argc, char** argv) {
  if (argc != 3) return std::fputs("usage: bench_round_trip IN OUT\n", stderr), 2;
  try {
    stoker::run_folder(argv[1], argv[2]);
  } catch (const std::exception& error) {
    return std::fprintf(stderr, "%s\n", error.what()), 1;
  }
  return 0;
}
