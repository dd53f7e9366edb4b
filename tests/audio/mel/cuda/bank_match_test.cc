// The filters compiled into the GPU's kernels are those that the presets ask for, bit for bit.
#include <gtest/gtest.h>

#include <cmath>

#include "stoker/audio/mel/cuda/kernels.h"

namespace stoker::audio::device {
namespace {

TEST(MelBankMatchTest, EveryPlainPresetHasItsFiltersCompiled) {
  struct Case {
    const char* preset;
    MelBank bank;
  };
  for (const Case& c :
       {Case{"hifigan", MelBank::kSlaney8000}, Case{"tacotron2", MelBank::kSlaney8000},
        Case{"myxtts", MelBank::kSlaney11025}, Case{"myxtts_tf", MelBank::kHtk11025},
        Case{"vocos24", MelBank::kHtk12000}, Case{"librosa", MelBank::kTable},
        Case{"kaldi", MelBank::kTable}}) {
    EXPECT_EQ(matching_bank(sparse_bands(config::mel_preset(c.preset))), c.bank) << c.preset;
  }
}

TEST(MelBankMatchTest, OneChangedWeightIsAnotherBank) {
  MelBands bands = sparse_bands(config::MelRecipe{});
  bands.weights[301] = std::nextafter(bands.weights[301], 1.0F);
  EXPECT_EQ(matching_bank(bands), MelBank::kTable);
}

TEST(MelBankMatchTest, PartsCoverTheBandsInOrder) {
  std::vector<int> firsts;
  for (int band = 0; band <= 101; ++band) firsts.push_back(1 + band * band / 20);
  for (const int num_parts : {1, 4, 8, 16}) {
    for (const int align : {1, 8}) {
      const auto bounds = split_bands(firsts, 100, {.num_parts = num_parts, .align = align});
      EXPECT_EQ(bounds[0], 0);
      EXPECT_EQ(bounds[static_cast<std::size_t>(num_parts)], 100);
      for (std::size_t part = 1; part < bounds.size(); ++part) {
        EXPECT_GE(bounds[part], bounds[part - 1]);
        EXPECT_TRUE(bounds[part] == 100 || bounds[part] % align == 0);
      }
    }
  }
}

TEST(MelBankMatchTest, OnlyABinAtHalfTheRateThatCountsIsNeeded) {
  MelBands bands = sparse_bands(config::mel_preset("vocos24"));
  EXPECT_FALSE(needs_last_bin(bands));
  bands.end_bin = 513;
  bands.weights.back() = 0.01F;
  EXPECT_TRUE(needs_last_bin(bands));
}

}  // namespace
}  // namespace stoker::audio::device
