// From what was measured to settings: each with its reason and the figure behind it, what they will
// bring, and what they take. Pure: the same findings give the same advice.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "stoker/base/json.h"
#include "stoker/observe/recommend/data_survey.h"
#include "stoker/observe/recommend/feed_trials.h"
#include "stoker/observe/recommend/known_gpus.h"
#include "stoker/observe/recommend/machine_facts.h"
#include "stoker/observe/recommend/search.h"

namespace stoker::observe {

// The card that the settings are for.
struct GpuFindings {
  std::string name{};
  std::uint64_t memory_mib = 0;
  bool has_bf16 = true;
  bool is_here = false;             // measured here; else by its public figures
  std::optional<KnownGpu> known{};  // its public figures, where the table has them
};

// Everything that was measured.
struct Findings {
  MachineFacts machine{};
  DataSurvey data{};
  bool is_made_data = false;  // no data set was named: one was made
  double share_tried = 1;     // of the utterances, in the runs
  std::optional<GpuFindings> gpu{};
  std::string why_no_gpu{};
  SearchResult search{};
  std::map<FeedTier, Error> refusals{};
  std::optional<std::uint64_t> buffer_memory_bytes{};  // what the runs were allowed; absent: auto
  FeedTrials::Held held{};
  std::uint64_t start_bytes = 0;  // held by the process before any run
};

struct AdvisedSetting {
  std::string path;   // "data.num_workers"
  std::string value;  // as it is written in a file
  std::string reason;
};

// A figure with the range that it is expected in.
struct Expected {
  double value = 0;
  double low = 0;
  double high = 0;
};

struct Advice {
  std::vector<AdvisedSetting> settings{};
  Expected clips_per_s{};
  Expected memory_bytes{};
  std::vector<std::string> notes{};  // one sentence each
};

// Throws the refusal of the first tier where no choice could be run.
Advice advise(const Findings& findings);

// A file that --config takes: reasons and figures are comments in it.
std::string advice_yaml(const Findings& findings, const Advice& advice);
Json advice_json(const Findings& findings, const Advice& advice);

}  // namespace stoker::observe
