// What batches cost by resource, fitted to what was measured, and what the consumer would see if
// something were different.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "stoker/observe/diagnose/evidence.h"
#include "stoker/observe/diagnose/queue_simulation.h"

namespace stoker::observe {

using StageSeconds = std::array<double, feed::kNumRecordStages>;
using WorkSeconds = std::array<double, feed::kNumConsumerWorks>;

// One batch's work, apart by what it needs.
struct BatchWork {
  StageSeconds cpu_s{};      // of the worker
  StageSeconds blocked_s{};  // the worker waited for something that is not a core
  double outlier_s = 0;      // of the slowest utterance, beyond what is usual
  double outlier_cpu_share = 1;
  double wait_s = 0;  // measured at the consumer
  double step_s = 0;
  WorkSeconds works_s{};
  std::uint64_t padded_frames = 0;
  std::size_t record = 0;  // its index in the watch

  // From this batch in hand to the next.
  double interval_s() const {
    return wait_s + step_s + std::reduce(works_s.begin(), works_s.end());
  }
};

// What outliers took, by the file that each was of.
struct OutlierFiles {
  std::vector<std::pair<double, std::string>> worst_first{};  // seconds and file
  double all_s = 0;
  bool are_few = false;  // a few files make most of it
};
OutlierFiles outlier_files(const Evidence& evidence, const std::vector<BatchWork>& batches);

// Batches are handed out in order: behind one file that takes long more workers bring no more.
bool waits_for_slow_files(const Evidence& evidence, const std::vector<BatchWork>& batches);

// Cores: what the system allows, and what is left of it.
struct CoreFacts {
  double limit = 1;        // affinity and quota
  double affinity = 1;     // affinity alone
  double others = 0;       // used by other processes
  double workers_use = 0;  // by the feed's workers
  double available = 1;    // to the workers
  bool is_saturated() const;
};

// What is different from what was watched; by default nothing is.
struct Scenario {
  std::optional<unsigned> num_workers{};
  std::optional<unsigned> depth{};
  std::optional<double> cores{};
  std::optional<unsigned> num_held{};
  std::optional<double> supply_batches_per_s{};  // the feed costs what a run with it showed
  StageSeconds cpu_factor = all(1.0);
  StageSeconds blocked_factor = all(1.0);
  bool has_outliers = true;
  bool has_serial_part = true;
  bool is_cached = false;  // a copy from memory instead of everything before assembly
  WorkSeconds work_factor{1, 1, 1, 1, 1};
  double step_factor = 1;
  bool has_free_consumer = false;  // its thread no longer loads: steps take what they should
  bool is_unpaced = false;         // a consumer that does nothing

  static constexpr StageSeconds all(double value) {
    StageSeconds seconds{};
    for (double& each : seconds) each = value;
    return seconds;
  }
  // The native loader as a run with it showed; the consumer's thread no longer loads.
  static Scenario with_native_loader(const SupplyRun& run);
  // Without this stage, whatever it needs.
  Scenario& drop(feed::RecordStage stage);
};

struct Gain {
  double value = 1;  // batches per second with the change by those without
  double low = 1;
  double high = 1;
};

class SupplyModel {
 public:
  explicit SupplyModel(const Evidence& evidence);

  const std::vector<BatchWork>& batches() const { return batches_; }  // without the start
  const CoreFacts& cores() const { return cores_; }
  bool is_empty() const { return batches_.empty(); }

  SimulatedRun predict(const Scenario& scenario) const;
  const SimulatedRun& base() const { return base_; }
  // Batches per second to a consumer that takes all at once: measured where a run did.
  double supply_batches_per_s() const;
  // The share of the consumer's time that the change would give back, 0 … 1.
  double regained(const Scenario& scenario) const;
  // From many draws of the measured batches, in blocks.
  Gain gain(const Scenario& scenario) const;

  // Means over the batches.
  double stage_s(feed::RecordStage stage) const;
  double blocked_s(feed::RecordStage stage) const;  // of that, waiting without a core
  double worker_s() const;                          // processor time and waiting of one batch
  double blocked_share() const;                     // of worker_s
  double mean_held() const { return mean_held_; }
  double serial_s() const { return serial_s_; }

 private:
  SimulatedBatch cost_of(const BatchWork& work, const Scenario& scenario) const;
  SimulatedRun predict(const Scenario& scenario, const std::vector<std::size_t>& order) const;
  SimulatedFeed feed_of(const Scenario& scenario) const;
  double scale_of(const Scenario& scenario) const;
  std::vector<SimulatedBatch> costs_of(const Scenario& scenario,
                                       const std::vector<std::size_t>& order) const;
  void fit_runs(const Evidence& evidence);
  void fit_serial_part(const Evidence& evidence);

  SetupFacts setup_;
  CoreFacts cores_;
  std::vector<BatchWork> batches_;
  std::vector<std::size_t> in_order_;
  double mean_held_ = 1;
  double serial_s_ = 0;
  std::optional<double> nominal_step_s_;
  // Measured by modelled time at a number of workers.
  struct Anchor {
    unsigned num_workers = 0;
    double scale = 1;
    double spread = 0;
  };
  std::vector<Anchor> anchors_;
  std::optional<double> measured_supply_;
  double spread_ = 0;  // of the runs
  SimulatedRun base_;
};

// How the records' times become work: batch by batch, the start left out.
std::vector<BatchWork> works_of(const Evidence& evidence);
CoreFacts cores_of(const Evidence& evidence, const std::vector<BatchWork>& batches);
// Records at the beginning that belong to the start.
std::size_t num_start_records(const Evidence& evidence);

}  // namespace stoker::observe
