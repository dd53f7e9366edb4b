// The mel filters: known numbers of the default bank, and the sparse form against the dense one.
#include "stoker/audio/mel/mel_filterbank.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string_view>

namespace stoker::audio {
namespace {

// As librosa.filters.mel(sr=22050, n_fft=1024, n_mels=80, fmax=8000) prints them.
TEST(MelFilterbankTest, DefaultBankHasLibrosasNumbers) {
  const std::vector<float> bank = mel_filterbank(config::MelRecipe{});
  const auto row_sum = [&](std::size_t band) {
    return std::accumulate(bank.begin() + static_cast<std::ptrdiff_t>(band * 513),
                           bank.begin() + static_cast<std::ptrdiff_t>(band * 513 + 513), 0.0);
  };
  EXPECT_EQ(bank[0], 0.0F);
  EXPECT_EQ(bank[1], 0x1.fccff6p-7F);
  EXPECT_EQ(bank[2], 0x1.731edp-6F);
  EXPECT_EQ(bank[3], 0x1.d2db58p-8F);
  EXPECT_NEAR(row_sum(0), 0.04530278, 1e-8);
  EXPECT_NEAR(row_sum(40), 0.046545247, 1e-8);
  EXPECT_NEAR(row_sum(79), 0.046414794, 1e-8);
  EXPECT_NEAR(std::ranges::max(bank), 0.0264925, 1e-7);
  EXPECT_EQ(std::ranges::count_if(bank, [](float w) { return w != 0.0F; }), 727);
}

TEST(MelFilterbankTest, SparseFormHoldsEveryWeightOnce) {
  for (const std::string_view preset : config::mel_preset_names()) {
    const config::MelRecipe recipe = config::mel_preset(preset);
    const std::vector<float> bank = mel_filterbank(recipe);
    const MelBands bands = sparse_bands(recipe);
    const auto num_bins = static_cast<std::size_t>(recipe.n_fft) / 2 + 1;
    std::vector<float> rebuilt(bank.size());
    std::size_t bin = bands.first_bin;
    for (std::size_t segment = 0; segment <= bands.num_mels; ++segment) {
      for (std::uint32_t i = 0; i < bands.segment_bins[segment]; ++i, ++bin) {
        const float* weight = bands.weights.data() + 2 * (bin - bands.first_bin);
        if (segment > 0) rebuilt[(segment - 1) * num_bins + bin] = weight[0];
        if (segment < bands.num_mels) rebuilt[segment * num_bins + bin] = weight[1];
      }
    }
    EXPECT_EQ(bin, bands.end_bin);
    EXPECT_EQ(rebuilt, bank) << preset;
  }
}

TEST(MelFilterbankTest, ScalesInvertThemselves) {
  for (const auto scale : {config::MelScale::kSlaney, config::MelScale::kHtk}) {
    for (const double hz : {0.0, 20.0, 999.0, 1000.0, 1001.0, 8000.0, 24000.0}) {
      EXPECT_NEAR(mel_to_hz(scale, hz_to_mel(scale, hz)), hz, 1e-8);
    }
  }
}

}  // namespace
}  // namespace stoker::audio
