// Small data sets on disk for the tests of the index.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "stoker/data/index.h"
#include "tests/audio/file/wav_bytes.h"
#include "tests/doubles/scratch_folder.h"

namespace stoker::data {

class DataSet {
 public:
  DataSet() { options.sources = {{.path = folder.path()}}; }

  // A second of a wave around zero that is neither quiet nor clipped; every `variant` sounds
  // different.
  void put_wav(std::string_view path, std::size_t num_samples = 22050, unsigned variant = 0) const {
    folder.put(path, audio::good_wav({}, wave(num_samples, variant)));
  }
  void put_metadata(std::string_view content) const { folder.put("metadata.csv", content); }

  // Files for plain ids, each with a sound of its own.
  void put_ids(std::initializer_list<std::string_view> ids) const {
    unsigned variant = 1;
    for (const std::string_view id : ids)
      put_wav("wavs/" + std::string(id) + ".wav", 22050, ++variant);
  }

  Index scan() const { return scan_index(options, system_io()); }

  ScratchFolder folder;
  IndexOptions options;

 private:
  static std::string wave(std::size_t num_samples, unsigned variant) {
    std::string out;
    for (std::size_t i = 0; i < num_samples; ++i)
      out += audio::le((i * (61U + variant)) % 20000U + variant + 65536U - 10000U, 2);
    return out;
  }
};

inline bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace stoker::data
