// The ten presets, the texts their digest is made of, and the refusals of values that cannot be.
#include "stoker/config/mel_recipe.h"

#include <gtest/gtest.h>

#include <set>

#include "stoker/base/error.h"

namespace stoker::config {
namespace {

TEST(MelRecipeTest, TenPresetsAreKnownValidAndDifferent) {
  std::set<std::vector<std::pair<std::string, std::string>>> values;
  for (const std::string_view name : mel_preset_names()) {
    const MelRecipe recipe = mel_preset(name);
    EXPECT_EQ(recipe.preset, name);
    EXPECT_NO_THROW(check_mel_recipe(recipe)) << name;
    values.insert(mel_recipe_values(recipe));
  }
  EXPECT_EQ(mel_preset_names().size(), 10U);
  EXPECT_EQ(values.size(), 10U);
}

TEST(MelRecipeTest, DefaultIsHifigan) { EXPECT_EQ(MelRecipe{}, mel_preset("hifigan")); }

TEST(MelRecipeTest, ValuesRebuildTheRecipeTheyCameFrom) {
  for (const std::string_view name : mel_preset_names()) {
    MelRecipe rebuilt = mel_preset(name == "hifigan" ? "kaldi" : "hifigan");
    for (const auto& [key, value] : mel_recipe_values(mel_preset(name))) {
      set_mel_value(rebuilt, key, value);
    }
    rebuilt.preset = name;
    EXPECT_EQ(rebuilt, mel_preset(name)) << name;
  }
}

TEST(MelRecipeTest, ChannelDivisorsAreAListOfNumbers) {
  MelRecipe recipe;
  set_mel_value(recipe, "channel_divisors", "0.5,2,1e-3");
  EXPECT_EQ(recipe.channel_divisors, (std::vector<double>{0.5, 2.0, 1e-3}));
  EXPECT_THROW(check_mel_recipe(recipe), ConfigError);  // three divisors for 80 bands
}

TEST(MelRecipeTest, UnknownPresetNamesTheKnownOnes) {
  try {
    mel_preset("hifi");
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_NE(std::string(error.what()).find("hifigan, tacotron2"), std::string::npos);
  }
}

struct BadValue {
  const char* key;
  const char* value;
};

TEST(MelRecipeTest, ImpossibleValuesAreRefusedByKey) {
  for (const BadValue& bad :
       {BadValue{"n_fft", "32"}, BadValue{"n_fft", "8193"}, BadValue{"win_samples", "1025"},
        BadValue{"hop_samples", "0"}, BadValue{"fmax_hz", "11026"}, BadValue{"fmin_hz", "8000"},
        BadValue{"power", "3"}, BadValue{"floor", "0"}, BadValue{"num_mels", "0"},
        BadValue{"floor", "nan"}}) {
    MelRecipe recipe;
    set_mel_value(recipe, bad.key, bad.value);
    try {
      check_mel_recipe(recipe);
      ADD_FAILURE() << bad.key << " = " << bad.value;
    } catch (const ConfigError& error) {
      EXPECT_NE(std::string(error.what()).find(bad.key), std::string::npos) << error.what();
    }
  }
}

TEST(MelRecipeTest, TextThatDoesNotParseIsRefused) {
  MelRecipe recipe;
  EXPECT_THROW(set_mel_value(recipe, "n_fft", "1024x"), ConfigError);
  EXPECT_THROW(set_mel_value(recipe, "scale", "bark"), ConfigError);
  EXPECT_THROW(set_mel_value(recipe, "remove_dc", "yes"), ConfigError);
  EXPECT_THROW(set_mel_value(recipe, "mels", "80"), ConfigError);
}

}  // namespace
}  // namespace stoker::config
