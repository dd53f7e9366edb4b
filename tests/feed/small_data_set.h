// A data set of a few noisy WAV files with its cache, made anew for one test.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "stoker/audio/file/wav_writer.h"
#include "stoker/base/io/io.h"
#include "stoker/base/philox.h"
#include "stoker/cache/build/build.h"
#include "stoker/cache/build/cache_target.h"
#include "stoker/cache/read/cache_location.h"
#include "stoker/config/settings.h"
#include "stoker/data/from_settings.h"
#include "stoker/data/index.h"
#include "tests/doubles/scratch_folder.h"

namespace stoker::feed {

class SmallDataSet {
 public:
  explicit SmallDataSet(unsigned num_rows) {
    std::filesystem::create_directories(folder_ / "wavs");
    std::ofstream metadata(folder_ / "metadata.csv");
    const File root = open_file(system_io(), folder_ / "wavs", OpenFor::kFolder).take_or_raise();
    for (unsigned i = 0; i < num_rows; ++i) {
      const std::string id = "spk" + std::to_string(i % 3) + "_" + std::to_string(1000 + i);
      metadata << id << "|Sentence number " << i << " of the set.|sentence number " << i
               << std::string(i % 7, 'x') << "\n";
      KeyedDraws draws({7, "wave", 0, i});
      std::vector<std::int16_t> samples(4000 + 900 * (i * 7 % 23));
      for (auto& sample : samples) {
        sample = static_cast<std::int16_t>(static_cast<int>(draws.next_below(8000)) - 4000);
      }
      audio::write_wav_pcm16(root, id + ".wav", samples, 22050).take_or_raise();
    }
    settings_.data.path = folder_.path();
    settings_.batch.batch_frames = 600;
    settings_.loader.num_workers = 2;
  }

  config::Settings& settings() { return settings_; }
  const ScratchFolder& folder() const { return folder_; }
  std::string wav(unsigned i) const {
    return folder_ / ("wavs/spk" + std::to_string(i % 3) + "_" + std::to_string(1000 + i) + ".wav");
  }

  // Builds the cache that the settings ask for and returns its folder.
  std::string build_cache() const {
    const data::Index index = data::open_index(data::index_options_of(settings_), system_io());
    const data::FeatureSpec spec(settings_, index, simd_level().take_or_raise());
    const cache::CacheTarget target(settings_, spec, system_io());
    const std::string place =
        cache::find_cache_location(settings_, spec.identity().features, system_io()).folder;
    make_folders(system_io(), place).take_or_raise();
    const File opened = open_file(system_io(), place, OpenFor::kFolder).take_or_raise();
    cache::build_cache(opened, target.target(), {});
    return place;
  }

 private:
  ScratchFolder folder_;
  config::Settings settings_;
};

}  // namespace stoker::feed
