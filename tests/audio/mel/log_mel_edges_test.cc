// Sounds at the border of what a mel can be made of: short, silent, constant, clipped, denormal,
// not a number.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "stoker/audio/float16.h"
#include "stoker/audio/mel/log_mel.h"
#include "stoker/bench/mel_reference.h"
#include "tests/audio/mel/mel_signals.h"

namespace stoker::audio {
namespace {

bool all_finite(const std::vector<float>& values) {
  return std::ranges::all_of(values, [](float x) { return std::isfinite(x); });
}

TEST(LogMelEdgesTest, FrameCountsFollowEachPreset) {
  struct Case {
    const char* preset;
    std::size_t num_samples;
    std::size_t num_frames;
  };
  for (const Case& c :
       {Case{"hifigan", 255, 0}, Case{"hifigan", 256, 1}, Case{"hifigan", 511, 1},
        Case{"hifigan", 512, 2}, Case{"hifigan", 144953, 566}, Case{"tacotron2", 255, 0},
        Case{"tacotron2", 256, 2}, Case{"myxtts", 1000, 4}, Case{"myxtts_tf", 257, 2},
        Case{"librosa", 511, 0}, Case{"librosa", 512, 2}, Case{"torchaudio", 400, 3},
        Case{"whisper", 160, 3000}, Case{"whisper", 480001, 3000}, Case{"xtts", 1024, 5},
        Case{"kaldi", 399, 0}, Case{"kaldi", 400, 1}, Case{"kaldi", 560, 2},
        Case{"vocos24", 2560, 11}}) {
    const LogMel mel(config::mel_preset(c.preset), SimdLevel::kScalar);
    EXPECT_EQ(mel.num_frames(c.num_samples), c.num_frames) << c.preset << " " << c.num_samples;
  }
}

TEST(LogMelEdgesTest, TooFewSamplesWriteNothing) {
  const LogMel mel(config::MelRecipe{}, detect_simd_level());
  auto workspace = mel.make_workspace(0);
  EXPECT_EQ(mel.run(std::span<const std::int16_t>(), MelView{.row_stride = 80}, workspace), 0U);
}

TEST(LogMelEdgesTest, ShortUtterancesReflectAsOftenAsNeeded) {
  for (const char* preset : {"hifigan", "tacotron2", "xtts", "torchaudio", "vocos24"}) {
    const config::MelRecipe recipe = config::mel_preset(preset);
    for (const std::size_t count : {256, 257, 300, 383, 384, 385, 400, 1023}) {
      const auto samples = speech_like(count + 3000);
      const std::vector<std::int16_t> part(samples.begin() + 3000, samples.end());
      const auto reference = bench::mel_reference(recipe, bench::unit_samples(part));
      for (const SimdLevel level : runnable_levels()) {
        const auto values = run_mel(LogMel(recipe, level), part);
        EXPECT_TRUE(bench::within_tolerance(recipe, bench::compare_mel(recipe, reference, values)))
            << preset << " " << count << " at " << simd_level_name(level);
      }
    }
  }
}

TEST(LogMelEdgesTest, SilenceIsThePaddingValue) {
  for (const std::string_view preset : config::mel_preset_names()) {
    for (const SimdLevel level : runnable_levels()) {
      const LogMel mel(config::mel_preset(preset), level);
      // hifigan's 1e-9 under the root lifts silence a little above the floor where filters are
      // wide.
      const float slack = preset == "hifigan" ? 1.5F : 1e-5F;
      for (const float x : run_mel(mel, std::vector<std::int16_t>(2000))) {
        ASSERT_NEAR(x, mel.padding_value(), slack) << preset << " " << simd_level_name(level);
      }
    }
  }
}

struct Sound {
  const char* name;
  std::vector<float> samples;
};

std::vector<Sound> extreme_sounds() {
  const std::size_t count = 2000;
  std::vector<Sound> sounds{{"constant", std::vector<float>(count, 0.75F)},
                            {"full scale", std::vector<float>(count)},
                            {"square wave", std::vector<float>(count)},
                            {"impulse", std::vector<float>(count)},
                            {"denormal", std::vector<float>(count, 1e-41F)},
                            {"smallest int16", std::vector<float>(count)}};
  for (std::size_t i = 0; i < count; ++i) {
    sounds[1].samples[i] = i % 2 == 0 ? 32767.0F / 32768.0F : -1.0F;
    sounds[2].samples[i] = i / 50 % 2 == 0 ? 1.0F : -1.0F;
    sounds[5].samples[i] = i % 3 == 0 ? 1.0F / 32768.0F : 0.0F;
  }
  sounds[3].samples[1100] = 1.0F;
  return sounds;
}

// The largest error in parts of what may be off: 2e-6 of the frame's largest value, or 3e-4 of the
// value itself where the frame's energy is outside the bands (a tone at half the rate).
double worst_error(const config::MelRecipe& recipe, const bench::MelReference& reference,
                   const std::vector<float>& values) {
  double worst = 0.0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto row = std::span(reference.linear)
                         .subspan(i / reference.num_mels * reference.num_mels, reference.num_mels);
    const double expected = std::max(reference.linear[i], recipe.floor);
    const double linear = recipe.log == config::MelLog::kNone
                              ? static_cast<double>(values[i])
                              : std::exp(static_cast<double>(values[i]));
    const double allowed = std::max(2e-6 * std::ranges::max(row) + 1e-9, 3e-4 * expected);
    worst = std::max(worst, std::abs(linear - expected) / allowed);
  }
  return worst;
}

TEST(LogMelEdgesTest, ExtremeSoundsStayCloseToTheDefinition) {
  for (const Sound& sound : extreme_sounds()) {
    for (const std::string_view preset : {"hifigan", "tacotron2", "kaldi", "xtts", "librosa"}) {
      const config::MelRecipe recipe = config::mel_preset(preset);
      const std::vector<double> exact(sound.samples.begin(), sound.samples.end());
      const auto reference = bench::mel_reference(recipe, exact);
      for (const SimdLevel level : runnable_levels()) {
        const auto values = run_mel(LogMel(recipe, level), sound.samples);
        EXPECT_TRUE(all_finite(values)) << sound.name << " " << preset;
        EXPECT_LE(worst_error(recipe, reference, values), 1.0)
            << sound.name << " " << preset << " " << simd_level_name(level);
      }
    }
  }
}

TEST(LogMelEdgesTest, NotANumberCountsAsZeroAndInfinityIsCut) {
  std::vector<float> broken = noise(4000, 9);
  broken[100] = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> mended = broken;
  mended[100] = 0.0F;
  std::vector<float> huge = broken;
  huge[2000] = std::numeric_limits<float>::infinity();
  huge[2001] = -3e38F;
  for (const std::string_view preset : config::mel_preset_names()) {
    config::MelRecipe recipe = config::mel_preset(preset);
    if (recipe.fit_samples > 0) recipe.fit_samples = 5000;
    for (const SimdLevel level : runnable_levels()) {
      const LogMel mel(recipe, level);
      EXPECT_EQ(run_mel(mel, broken), run_mel(mel, mended)) << preset;
      EXPECT_TRUE(all_finite(run_mel(mel, huge))) << preset << " " << simd_level_name(level);
    }
  }
}

TEST(LogMelEdgesTest, F16SaturatesInsteadOfBecomingInfinite) {
  std::vector<float> loud(8000);
  for (std::size_t i = 0; i < loud.size(); ++i)
    loud[i] = 100.0F * std::sin(static_cast<float>(i) * 0.3F);
  for (const SimdLevel level : runnable_levels()) {
    const LogMel mel(config::mel_preset("librosa"), level);
    auto workspace = mel.make_workspace(loud.size());
    std::vector<std::uint16_t> out(mel.num_frames(loud.size()) * mel.num_mels());
    mel.run(loud,
            {.data = out.data(),
             .dtype = config::MelDtype::kF16,
             .row_stride = mel.num_mels(),
             .rows = mel.num_frames(loud.size())},
            workspace);
    EXPECT_EQ(f16_value(std::ranges::max(out)), kLargestF16);
  }
}

TEST(LogMelEdgesTest, SamplesMayLieAtAnyAddress) {
  const std::vector<std::int16_t> samples = speech_like(5000);
  for (const SimdLevel level : runnable_levels()) {
    const LogMel mel(config::MelRecipe{}, level);
    const std::span<const std::int16_t> odd = std::span(samples).subspan(1);
    EXPECT_EQ(run_mel(mel, odd), run_mel(mel, std::vector<std::int16_t>(odd.begin(), odd.end())));
  }
}

}  // namespace
}  // namespace stoker::audio
