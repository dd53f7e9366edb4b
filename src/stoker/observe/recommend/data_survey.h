// The user's own data in the figures that decide a feed's settings: lengths, formats, rates, sizes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "stoker/base/json.h"
#include "stoker/config/settings.h"
#include "stoker/data/index.h"

namespace stoker::observe {

struct DataSurvey {
  std::size_t num_utterances = 0;
  double audio_s = 0;
  double shortest_s = 0, median_s = 0, p95_s = 0, longest_s = 0;
  std::map<std::string, std::size_t> formats{};  // by the file's ending: "wav", "flac"
  std::map<std::uint32_t, std::size_t> rates_hz{};
  double resampled_share = 0;  // utterances at another rate than the features
  double mean_file_bytes = 0;  // over a draw of files
  double mel_bytes = 0;        // of all mels in the cache, as the settings store them
  double pcm_bytes = 0;        // of all samples at the features' rate
  double frames_per_clip = 0;

  double mean_s() const {
    return num_utterances > 0 ? audio_s / static_cast<double>(num_utterances) : 0;
  }
};

// Of a keyed draw of sound files.
double mean_file_bytes(const data::Index& index);

DataSurvey survey_data(const data::Index& index, const config::Settings& settings);

Json survey_json(const DataSurvey& survey);
// "1,310 clips, 2.4 h, 1.1 to 10.1 s (half below 6.5), flac, 44,100 Hz"
std::string survey_text(const DataSurvey& survey);

}  // namespace stoker::observe
