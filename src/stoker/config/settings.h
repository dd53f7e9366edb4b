// All settings of a run, as the structs that the folders take their parts from.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>

#include "stoker/base/philox.h"
#include "stoker/config/mel_recipe.h"
#include "stoker/config/sections/cache_settings.h"
#include "stoker/config/sections/data_settings.h"
#include "stoker/config/sections/feature_settings.h"
#include "stoker/config/sections/feed_settings.h"
#include "stoker/config/sections/training_settings.h"

namespace stoker::config {

// Settings at the top of the file, outside any section.
struct RunSettings {
  static constexpr std::string_view kSection = "";
  static constexpr std::string_view kTitle = "Run";

  std::int64_t seed = kDefaultSeed;
  std::string device = "auto";
  bool strict = false;

  static constexpr auto fields() {
    using C = RunSettings;
    return std::tuple{
        field("seed", &C::seed, {0, INT64_MAX}, "Decides everything random."),
        field("device", &C::device, "auto, cpu, cuda or cuda:N."),
        field("strict", &C::strict, "Every fallback is an error."),
    };
  }
};

// Several structs may share a section of the file; each belongs to one subject.
struct Settings {
  RunSettings run;
  DataSettings data;
  RowSettings rows;
  BatchSettings batch;
  LoaderSettings loader;
  GpuSettings gpu;
  FeatureSettings features;
  AugmentSettings augment;
  TextSettings text;
  CacheSettings cache;
  TrainingSettings training;
  OptimizerSettings optimizer;
  ObserveSettings observe;
};

// The preset with the values of `features` put in. Throws ConfigError when it cannot be.
MelRecipe recipe_of(const FeatureSettings& features);

}  // namespace stoker::config
