// Griffin-Lim over a ragged batch on the CPU and on a GPU, for tests that compare the two.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "stoker/audio/griffin_lim/griffin_lim.h"
#include "stoker/base/philox.h"
#include "tests/audio/back_end.h"

namespace stoker::audio {

// Frames of a ragged batch with values as the recipe writes them.
struct MelFrames {
  MelFrames(const config::MelRecipe& recipe, std::vector<std::int32_t> lengths)
      : num_mels(static_cast<std::size_t>(recipe.num_mels)),
        num_frames(std::move(lengths)),
        padded_frames(*std::max_element(num_frames.begin(), num_frames.end())) {
    KeyedDraws draws({7, "frames", 0, 0});
    values.resize(num_frames.size() * static_cast<std::size_t>(padded_frames) * num_mels);
    const bool is_log = recipe.log != config::MelLog::kNone;
    for (float& value : values) {
      const double level = draws.next_between(-8, 1);
      value = static_cast<float>(is_log ? level / 8 : std::exp(level));
    }
  }
  std::span<const float> of(std::size_t utterance) const {
    return std::span(values).subspan(utterance * static_cast<std::size_t>(padded_frames) * num_mels,
                                     static_cast<std::size_t>(num_frames[utterance]) * num_mels);
  }

  std::size_t num_mels;
  std::vector<std::int32_t> num_frames;
  std::int32_t padded_frames;
  std::vector<float> values;
};

using Waves = std::vector<std::vector<float>>;

inline Waves waves_on_cpu(const config::MelRecipe& recipe, const GriffinLimOptions& options,
                          const MelFrames& frames) {
  const GriffinLim way_back =
      GriffinLim::make(recipe, options, detect_simd_level()).take_or_raise();
  GriffinLim::Workspace workspace;
  Waves waves;
  for (std::size_t u = 0; u < frames.num_frames.size(); ++u) {
    waves.emplace_back(way_back.num_samples(static_cast<std::size_t>(frames.num_frames[u])));
    way_back.run(frames.of(u), waves.back(), workspace);
  }
  return waves;
}

using WaveRun =
    std::function<void(const DeviceGriffinLim&, const DeviceWaveBatch&, cuda::StreamView)>;
inline void run_plainly(const DeviceGriffinLim& way_back, const DeviceWaveBatch& batch,
                        cuda::StreamView stream) {
  way_back.run(batch, stream);
}

inline Waves waves_on_gpu(const config::MelRecipe& recipe, const GriffinLimOptions& options,
                          const MelFrames& frames, const WaveRun& run = run_plainly) {
  constexpr std::size_t kBeyond = 13;  // samples after the longest utterance
  const DeviceGriffinLim way_back = DeviceGriffinLim::make(recipe, options, 0).take_or_raise();
  const std::size_t count = frames.num_frames.size();
  const auto padded_frames = static_cast<std::size_t>(frames.padded_frames);
  const std::size_t padded = way_back.num_samples(padded_frames) + kBeyond;
  const GuardedArray<float> log_mel{std::span(frames.values)};
  const GuardedArray<std::int32_t> num_frames{std::span(frames.num_frames)};
  const GuardedArray<float> samples(count * padded);
  const GuardedArray<std::byte> scratch(way_back.scratch_bytes(count, padded_frames));
  const cuda::Stream stream(0);
  const DeviceWaveBatch batch{.log_mel = log_mel.data(),
                              .num_frames = num_frames.data(),
                              .num_utterances = static_cast<int>(count),
                              .padded_frames = frames.padded_frames,
                              .samples = samples.data(),
                              .padded_samples = static_cast<std::int64_t>(padded),
                              .scratch = scratch.data()};
  run(way_back, batch, stream);
  stream.synchronize();
  EXPECT_TRUE(samples.has_whole_guards() && scratch.has_whole_guards());
  const std::vector<float> all = samples.values();
  Waves waves;
  for (std::size_t u = 0; u < count; ++u) {
    const auto row = std::span(all).subspan(u * padded, padded);
    const std::size_t length = way_back.num_samples(static_cast<std::size_t>(frames.num_frames[u]));
    waves.emplace_back(row.begin(), row.begin() + static_cast<std::ptrdiff_t>(length));
    for (const float value : row.subspan(length)) EXPECT_EQ(value, 0.0F) << "after utterance " << u;
  }
  return waves;
}

}  // namespace stoker::audio
