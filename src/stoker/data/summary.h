// What people ask of a data set first: how long, how many voices, which rates and characters.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "stoker/base/json.h"
#include "stoker/data/index.h"

namespace stoker::data {

struct DurationSummary {
  double total_s = 0;
  double shortest_s = 0;
  double mean_s = 0;
  double median_s = 0;
  double p95_s = 0;
  double longest_s = 0;
};

struct SpeakerSummary {
  std::string name{};
  std::uint64_t num_utterances = 0;
  double audio_s = 0;
};

struct Summary {
  DurationSummary durations;
  std::vector<double> durations_s;                  // of each utterance, in index order
  std::map<std::uint32_t, std::uint64_t> rates_hz;  // utterances at each rate
  std::vector<SpeakerSummary> speakers;             // most sound first
  std::map<std::string, std::uint64_t> languages;   // utterances in each
  std::map<std::string, std::uint64_t> characters;  // how often each occurs
  double characters_per_s = 0;
};

Summary summarise(const Index& index);

// rows, accepted, filtered, rejected, audio_s, codes{} and what else programs may want.
Json account_json(const Index& index);

// "4 speakers, language fa": the line that says what a feed will give as speakers and languages.
std::string voices_text(const Index& index);

// How many values fall into each of `num_bins` equal ranges from 0 to the largest.
struct Histogram {
  double bin_width = 0;
  std::vector<std::uint64_t> counts;
};
Histogram histogram_of(const std::vector<double>& values, std::size_t num_bins);

}  // namespace stoker::data
