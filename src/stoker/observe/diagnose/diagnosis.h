// What a diagnosis says: a verdict in one sentence, ranked causes, cures with what they would
// bring, the longest gaps and what repeats.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/json.h"
#include "stoker/feed/records/batch_record.h"
#include "stoker/observe/diagnose/causes.h"
#include "stoker/observe/diagnose/evidence.h"
#include "stoker/observe/diagnose/verdict.h"

namespace stoker::observe {

struct NamedCause {
  Cause cause = Cause::kStorageSlow;
  double share = 0;     // of the consumer's time; all causes together at most 1
  double regained = 0;  // what would come back if it alone were gone
  std::vector<std::string> evidence{};
};

// A change that may be tried. Settings that it changes are in `set`, as --set takes them.
struct Cure {
  std::string change{};            // "num_workers 1 → 4"
  std::vector<std::string> set{};  // empty: nothing that a setting does
  bool needs_precompute = false;   // the cache is built first
  std::string flags{};             // "--num-workers 4"
  std::string yaml{};              // "data: {num_workers: 4}"
  std::string command{};           // what to type; empty: nothing to type
  double predicted_gain = 1;       // batches per second with it by those without
  double predicted_low = 1;
  double predicted_high = 1;
  std::optional<double> measured_gain{};
};

struct Gap {
  std::uint64_t epoch = 0;
  std::uint64_t batch = 0;
  double at_s = 0;      // since the first record
  double length_s = 0;  // beyond the usual interval
  bool is_consumer = false;
  std::string stage{};  // of the feed, or the consumer's work
  std::string file{};   // where one utterance is the reason
  std::string sentence{};
};

struct Oscillation {
  bool is_present = false;
  std::size_t period_batches = 0;
  double period_s = 0;
  double strength = 0;  // autocorrelation at the period
  std::string what{};   // repeats with that period
};

struct StageLine {
  std::string_view name;
  double ms_per_batch = 0;
  double waiting_ms = 0;  // of that, without a core in use
  double share = 0;       // of the workers' time
};

struct Diagnosis {
  LoopVerdict verdict = LoopVerdict::kUnknown;
  std::string sentence{};
  double confidence = 0;
  std::vector<NamedCause> causes{};  // the largest share first
  std::vector<Cure> cures{};         // the largest gain first
  std::vector<Gap> gaps{};           // the longest first
  Oscillation oscillation{};
  std::vector<StageLine> stages{};
  std::vector<SupplyRun> runs{};  // what was tried
  std::size_t num_batches = 0;
  double interval_ms = 0;
  double interval_cv = 0;
  double stall_share = 0;
  double batches_per_s = 0;
  double clips_per_s = 0;
  double supply_batches_per_s = 0;  // to a consumer that takes all at once
  double padding_share = 0;

  // How many times the demand the feed could bring; 0 where it is not known.
  double supply_ratio() const {
    return batches_per_s > 0 ? supply_batches_per_s / batches_per_s : 0;
  }
};

// Pure: the same evidence gives the same diagnosis.
Diagnosis judge(const Evidence& evidence);

// Of the records alone.
std::vector<Gap> find_gaps(const Evidence& evidence);
Oscillation find_oscillation(const Evidence& evidence);

Json diagnosis_json(const Diagnosis& diagnosis);
std::string diagnosis_text(const Diagnosis& diagnosis);

}  // namespace stoker::observe
