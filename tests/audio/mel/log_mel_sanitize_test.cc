// Every GPU kernel of log-mel over small batches with awkward ends: what compute-sanitizer runs.
#include <gtest/gtest.h>

#include "tests/audio/mel/mel_back_end.h"
#include "tests/audio/mel/mel_signals.h"

namespace stoker::audio {
namespace {

struct Row {
  const char* name;
  MelVariant variant;
  const char* preset;
  config::MelDtype dtype;
  bool is_f32;
};

std::vector<Row> rows() {
  using config::MelDtype;
  return {
      {"HopperHifigan", MelVariant::kHopper, "hifigan", MelDtype::kF32, false},
      {"HopperFloats", MelVariant::kHopper, "hifigan", MelDtype::kBf16, true},
      {"HopperRowsOff16Bytes", MelVariant::kHopper, "vocos24", MelDtype::kF16, false},
      {"HopperRanges", MelVariant::kHopper, "myxtts_tf", MelDtype::kF16, false},
      {"PortableHifigan", MelVariant::kPortable, "hifigan", MelDtype::kF32, false},
      {"PortableFloats", MelVariant::kPortable, "tacotron2", MelDtype::kF16, true},
      {"PortableRanges", MelVariant::kPortable, "myxtts_tf", MelDtype::kF32, false},
      {"PortableAllBins", MelVariant::kPortable, "vocos24", MelDtype::kBf16, false},
      {"GeneralKaldi", MelVariant::kGeneral, "kaldi", MelDtype::kF32, false},
      {"GeneralWhisper", MelVariant::kGeneral, "whisper", MelDtype::kF16, true},
      {"GeneralLibrosa", MelVariant::kGeneral, "librosa", MelDtype::kBf16, false},
  };
}

class LogMelSanitizeTest : public testing::TestWithParam<Row> {
 protected:
  void SetUp() override {
    cuda::skip_without_gpu();
    if (GetParam().variant == MelVariant::kHopper) cuda::skip_without_hopper();
  }
};

MelInput awkward_utterances(const Row& row) {
  MelInput input;
  input.dtype = row.dtype;
  for (const std::size_t count : {9001U, 256U, 0U, 8192U, 255U, 700U, 8449U, 1025U}) {
    const std::vector<std::int16_t> samples = speech_like(count, count);
    input.utterances.push_back(samples);
    input.floats.emplace_back();
    for (const std::int16_t x : samples) {
      input.floats.back().push_back(static_cast<float>(x) / 32768.0F);
    }
  }
  if (row.is_f32) {
    input.utterances.clear();
  } else {
    input.floats.clear();
  }
  return input;
}

float value_of(const MelOutput& out, config::MelDtype dtype, std::size_t index) {
  const std::byte* const at = out.bytes.data() + index * out.value_bytes;
  if (dtype == config::MelDtype::kF32) {
    float value = 0.0F;
    std::memcpy(&value, at, sizeof(value));
    return value;
  }
  std::uint16_t bits = 0;
  std::memcpy(&bits, at, sizeof(bits));
  return dtype == config::MelDtype::kF16 ? f16_value(bits) : bf16_value(bits);
}

TEST_P(LogMelSanitizeTest, ComesCloseToTheCpu) {
  config::MelRecipe recipe = config::mel_preset(GetParam().preset);
  if (recipe.fit_samples > 0) recipe.fit_samples = 9000;
  const MelInput input = awkward_utterances(GetParam());
  const MelOutput gpu = run_back_end({"", GetParam().variant}, recipe, input);
  const MelOutput cpu = run_back_end({"", std::nullopt}, recipe, input);
  ASSERT_EQ(gpu.bytes.size(), cpu.bytes.size());
  for (std::size_t i = 0; i < gpu.bytes.size() / gpu.value_bytes; ++i) {
    const float want = value_of(cpu, GetParam().dtype, i);
    // A step of bf16 beside what f32 leaves open near the floor.
    ASSERT_NEAR(value_of(gpu, GetParam().dtype, i), want, 0.02F + std::abs(want) / 100.0F) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, LogMelSanitizeTest, testing::ValuesIn(rows()),
                         [](const auto& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace stoker::audio
