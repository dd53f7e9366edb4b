// Tones, clicks and noise: how far log-mel is from f64, beside torch's f32 (make_torch_error.py).
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <fstream>
#include <functional>
#include <map>
#include <numbers>
#include <sstream>
#include <string>
#include <vector>

#include "stoker/audio/log_mel.h"
#include "stoker/bench/mel_reference.h"
#include "tests/audio/mel_signals.h"

namespace stoker {
namespace {

using Samples = std::vector<std::int16_t>;

std::int64_t sine(std::int64_t place) {
  const double turn = static_cast<double>(place % 441) / 441.0;
  return std::llround(32767.0 * std::sin(2.0 * std::numbers::pi * turn));
}

Samples each(const std::function<std::int64_t(std::int64_t)>& value) {
  Samples samples;
  for (std::int64_t n = 0; n < 5000; ++n) samples.push_back(static_cast<std::int16_t>(value(n)));
  return samples;
}

std::map<std::string, Samples> signals() {
  std::uint64_t state = 1;
  const auto noise = [&state](std::int64_t) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (static_cast<std::int64_t>(state >> 48U) - 32768) >> 1;
  };
  return {
      {"tone", each([](auto n) { return sine(20 * n) >> 1; })},
      {"loud tone", each([](auto n) { return sine(9 * n); })},
      {"two tones", each([](auto n) { return ((sine(10 * n) + sine(11 * n)) * 14000) >> 15; })},
      {"chirp", each([](auto n) { return (sine((n * n) >> 7) * 22000) >> 15; })},
      {"square", each([](auto n) { return n / 50 % 2 == 0 ? 16000 : -16000; })},
      {"clicks", each([](auto n) { return n % 1250 == 0 ? 29000 : 0; })},
      {"noise", each(noise)},
  };
}

struct TorchError {
  std::string preset, signal;
  double largest_loud = 0;
  double mean = 0;
};

std::vector<TorchError> torch_errors() {
  std::ifstream file(std::string(STOKER_GOLDEN_DATA) + "/torch_error.csv");
  std::vector<TorchError> errors;
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::istringstream cells(line);
    TorchError error;
    std::getline(cells, error.preset, ',');
    std::getline(cells, error.signal, ',');
    char comma = 0;
    cells >> error.largest_loud >> comma >> error.mean;
    errors.push_back(error);
  }
  return errors;
}

// Level by level, how far a recipe is from f64.
std::map<SimdLevel, bench::MelDifference> differences(const config::MelRecipe& recipe,
                                                      const Samples& samples) {
  const auto reference = bench::mel_reference(recipe, bench::unit_samples(samples));
  std::map<SimdLevel, bench::MelDifference> found;
  for (const SimdLevel level : audio::runnable_levels()) {
    const auto values = audio::run_mel(audio::LogMel(recipe, level), samples);
    found[level] = bench::compare_mel(recipe, reference, values);
  }
  return found;
}

// A single cell is a matter of luck between two programs that round differently, hence the half.
TEST(TorchErrorTest, RecipesInF32AreNoFurtherFromF64ThanTorch) {
  const auto made = signals();
  const auto errors = torch_errors();
  ASSERT_EQ(errors.size(), 3 * made.size());
  std::map<SimdLevel, double> mean;
  double torch_mean = 0;
  for (const TorchError& torch : errors) {
    torch_mean += torch.mean;
    const auto found = differences(config::mel_preset(torch.preset), made.at(torch.signal));
    for (const auto& [level, ours] : found) {
      EXPECT_LE(ours.largest_loud, 1.5 * torch.largest_loud)
          << torch.preset << ", " << torch.signal << ", " << simd_level_name(level);
      mean[level] += ours.mean;
    }
  }
  for (const auto& [level, ours] : mean) EXPECT_LE(ours, torch_mean) << simd_level_name(level);
}

TEST(TorchErrorTest, RecipesInF64AreExactOnAnySignal) {
  for (const std::string_view preset : {"myxtts_tf", "xtts", "kaldi", "vocos24"}) {
    for (const auto& [name, samples] : signals()) {
      for (const auto& [level, ours] : differences(config::mel_preset(preset), samples)) {
        const double largest =
            std::max({ours.largest_loud, ours.largest_middle, ours.largest_quiet});
        EXPECT_LE(largest, 2e-6) << preset << ", " << name << ", " << simd_level_name(level);
      }
    }
  }
}

}  // namespace
}  // namespace stoker
