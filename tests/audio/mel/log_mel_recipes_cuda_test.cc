// Recipes set by hand on the GPU, any transform length, and which kernel is chosen for what.
#include <gtest/gtest.h>

#include <array>

#include "stoker/audio/errors.h"
#include "stoker/audio/float_cast.h"
#include "stoker/base/error.h"
#include "stoker/bench/mel_reference.h"
#include "stoker/cuda/graph.h"
#include "tests/audio/mel/mel_back_end.h"
#include "tests/audio/mel/mel_signals.h"

namespace stoker::audio {
namespace {

class DeviceRecipeTest : public cuda::GpuTest {
 protected:
  static bool is_hopper() { return cuda::probe_devices().devices[0].compute_major == 9; }
  static void expect_accurate(const config::MelRecipe& recipe, MelVariant variant,
                              const std::vector<std::int16_t>& samples) {
    const auto reference = bench::mel_reference(recipe, bench::unit_samples(samples));
    const MelOutput out =
        run_back_end({"", variant}, recipe, MelInput{.utterances = {speech_like(700), samples}});
    const float padding = LogMel(recipe, detect_simd_level()).padding_value();
    const std::vector<float> shorter = out.values<float>(0);
    for (std::size_t i = out.num_frames[0] * out.num_mels; i < shorter.size(); ++i) {
      ASSERT_EQ(shorter[i], padding) << "row " << i / out.num_mels;
    }
    const auto difference = bench::compare_mel(recipe, reference, out.frames(1));
    EXPECT_TRUE(bench::within_tolerance(recipe, difference))
        << "n_fft " << recipe.n_fft << " in " << mel_variant_name(variant) << ": loud "
        << difference.largest_loud << " middle " << difference.largest_middle << " quiet "
        << difference.largest_quiet << " mean " << difference.mean << " relative "
        << difference.largest_relative;
  }
};

TEST_F(DeviceRecipeTest, AnyTransformLengthIsAccurate) {
  for (const int n_fft : {64,   65,   100,  127,  192,  255,  441,  512,  600,  768,  1000, 1001,
                          1021, 1024, 1536, 2048, 2205, 4096, 4099, 6000, 8182, 8191, 8192}) {
    config::MelRecipe recipe;
    recipe.n_fft = n_fft;
    recipe.win_samples = recipe.n_fft;
    recipe.hop_samples = recipe.n_fft / 4;
    recipe.num_mels = 20;
    const auto count = static_cast<std::size_t>(recipe.n_fft) * 5 / (n_fft > 2048 ? 8 : 1);
    expect_accurate(recipe, MelVariant::kGeneral, speech_like(count));
  }
}

struct HandSet {
  const char* name;
  bool is_fast;  // 1024-point kernels can do it
  std::vector<std::pair<const char*, const char*>> values;
};

std::vector<HandSet> hand_set_recipes() {
  return {
      {"hop 200", false, {{"hop_samples", "200"}}},
      {"short window", true, {{"win_samples", "800"}}},
      {"window off the grid of 8", false, {{"win_samples", "1002"}}},
      {"hamming", true, {{"window", "hamming"}}},
      {"symmetric", true, {{"window", "hann_symmetric"}, {"framing", "center"}}},
      {"snip edges", true, {{"framing", "snip_edges"}}},
      {"dropped frame", true, {{"framing", "center"}, {"drop_last_frames", "1"}}},
      {"7 bands", true, {{"num_mels", "7"}, {"fmin_hz", "300"}, {"fmax_hz", "3400"}}},
      {"128 bands", true, {{"num_mels", "128"}}},
      {"more bands than bins", true, {{"num_mels", "126"}, {"fmax_hz", "1000"}}},
      {"200 bands", false, {{"num_mels", "200"}}},
      {"powers", true, {{"power", "2"}}},
      {"no norm", true, {{"norm", "none"}}},
      {"no norm, 128 bands of powers",
       true,
       {{"norm", "none"}, {"num_mels", "128"}, {"power", "2"}, {"floor", "1e-7"}}},
      {"no norm, no logarithm", true, {{"norm", "none"}, {"log", "none"}}},
      {"decibel below its maximum",
       true,
       {{"log", "db"},
        {"power", "2"},
        {"floor", "1e-10"},
        {"range", "below_max"},
        {"range_below_max", "80"}}},
      {"hifigan's bands in 0..1", true, {{"range", "min_max"}}},
      {"emphasis", false, {{"preemphasis", "0.9"}, {"remove_dc", "true"}}},
      {"kaldi's int16 range", true, {{"waveform_scale", "32768"}, {"log", "none"}}},
      {"affine", true, {{"out_offset", "5.5"}, {"out_scale", "0.5"}}},
      {"divisors", true, {{"num_mels", "2"}, {"channel_divisors", "2,-4"}}},
      {"fitted", false, {{"fit_samples", "5000"}}},
  };
}

TEST_F(DeviceRecipeTest, ValuesSetByHandAreObeyed) {
  for (const HandSet& hand : hand_set_recipes()) {
    SCOPED_TRACE(hand.name);
    config::MelRecipe recipe;
    for (const auto& [key, value] : hand.values) config::set_mel_value(recipe, key, value);
    expect_accurate(recipe, MelVariant::kGeneral, speech_like(6000));
    if (!hand.is_fast) continue;
    expect_accurate(recipe, MelVariant::kPortable, speech_like(6000));
    if (is_hopper()) expect_accurate(recipe, MelVariant::kHopper, speech_like(6000));
  }
}

TEST_F(DeviceRecipeTest, TheFastestKernelThatCanIsChosen) {
  const MelVariant fast = is_hopper() ? MelVariant::kHopper : MelVariant::kPortable;
  for (const std::string_view preset : config::mel_preset_names()) {
    const config::MelRecipe recipe = config::mel_preset(preset);
    const bool is_plain = is_plain_1024(recipe);
    EXPECT_EQ(DeviceLogMel(recipe, {}).variant(), is_plain ? fast : MelVariant::kGeneral) << preset;
    EXPECT_EQ(DeviceLogMel(recipe, {.in = SampleType::kF32}).variant(),
              is_plain ? MelVariant::kPortable : MelVariant::kGeneral)
        << preset;
  }
}

TEST_F(DeviceRecipeTest, ARecordedRunReplaysTheSameBytes) {
  const cuda::Stream stream(0);
  const PackedSamples<std::int16_t> packed({speech_like(6000), speech_like(2000)});
  const auto samples = on_device(packed.samples, stream);
  const auto begins = on_device(packed.begins, stream);
  const auto lengths = on_device(packed.lengths, stream);
  const cuda::DeviceBuffer out(0, 2 * 24 * 80 * sizeof(float));
  const DeviceLogMel mel(config::mel_preset("myxtts_tf"), {});
  const cuda::DeviceBuffer scratch(0, mel.scratch_bytes(2, 24));
  const auto run = [&] {
    mel.run({.samples = samples.data(),
             .begins = begins.as<std::int64_t>(),
             .lengths = lengths.as<std::int32_t>(),
             .num_utterances = 2,
             .padded_frames = 24,
             .mel = out.data(),
             .scratch = scratch.data()},
            stream);
  };
  const auto read = [&] {
    std::vector<std::byte> bytes(out.size_bytes());
    cuda::system_device_api().copy(
        {bytes.data(), out.data(), bytes.size(), cuda::CopyKind::kToHost}, stream.view().handle());
    stream.synchronize();
    return bytes;
  };
  run();
  const std::vector<std::byte> expected = read();
  const cuda::Graph graph = cuda::Graph::record(stream, run);
  cuda::system_device_api().fill_bytes(out.data(), 0xEE, out.size_bytes(), stream.view().handle());
  graph.launch(stream);
  EXPECT_EQ(read(), expected);
}

// A launch may begin while the one before it ends: it must wait for what that reads and writes.
TEST_F(DeviceRecipeTest, LaunchesRightAfterEachOtherKeepTheirOrder) {
  constexpr std::size_t kSamples = 60000;
  constexpr int kRows = 240;
  const cuda::Stream stream(0);
  const DeviceLogMel mel(config::mel_preset("hifigan"),
                         {.in = SampleType::kF32,
                          .variant = is_hopper() ? MelVariant::kHopper : MelVariant::kPortable});
  const auto begins = on_device(std::vector<std::int64_t>{0}, stream);
  const auto lengths = on_device(std::vector<std::int32_t>{kSamples}, stream);
  const cuda::DeviceBuffer samples(0, kSamples * sizeof(float));
  const cuda::DeviceBuffer out(0, kRows * 80 * sizeof(float));
  const auto half_noise = [&](std::uint64_t seed) {
    std::vector<std::uint16_t> bits;
    for (const float x : noise(kSamples, seed)) bits.push_back(f16_bits(x));
    return on_device(bits, stream);
  };
  const std::array sources{half_noise(1), half_noise(2)};
  const auto make = [&](std::size_t voice) {
    cast_floats({sources[voice].data(), config::MelDtype::kF16, samples.data(),
                 config::MelDtype::kF32, kSamples},
                stream);
    mel.run({.samples = samples.data(),
             .begins = begins.as<std::int64_t>(),
             .lengths = lengths.as<std::int32_t>(),
             .num_utterances = 1,
             .padded_frames = kRows,
             .mel = out.data()},
            stream);
  };
  const auto read = [&] {
    std::vector<float> values(kRows * 80);
    cuda::system_device_api().copy(
        {values.data(), out.data(), out.size_bytes(), cuda::CopyKind::kToHost},
        stream.view().handle());
    stream.synchronize();
    return values;
  };
  make(0);
  const std::vector<float> first = read();
  make(1);
  const std::vector<float> second = read();
  ASSERT_NE(first, second);
  for (std::size_t i = 0; i < 60; ++i) {
    for (std::size_t k = 0; k < 3; ++k) make((i + k) % 2);
    ASSERT_EQ(read(), i % 2 == 0 ? first : second) << i;
  }
}

TEST_F(DeviceRecipeTest, AVariantThatCannotIsRefused) {
  const config::MelRecipe recipe = config::mel_preset("librosa");
  for (const MelVariant variant : {MelVariant::kHopper, MelVariant::kPortable}) {
    try {
      DeviceLogMel(recipe, {.variant = variant});
      ADD_FAILURE() << mel_variant_name(variant);
    } catch (const ConfigError& failure) {
      EXPECT_EQ(failure.error().code, &kMelVariant);
      EXPECT_EQ(failure.error().found, "the recipe is not a plain 1024/256 one");
    }
  }
}

}  // namespace
}  // namespace stoker::audio
