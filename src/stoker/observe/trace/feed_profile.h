// Where the time of a batch goes, stage by stage: who worked, who waited, and for what.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/json.h"
#include "stoker/feed/records/batch_record.h"
#include "stoker/observe/machine/machine_window.h"

namespace stoker::observe {

// Milliseconds a batch. What cannot happen in a stage, or is not known of it, is absent.
struct StageTimes {
  std::string name;
  std::string_view thread;  // "worker", "gpu", "consumer"
  double working_ms = 0;
  std::optional<double> input_ms{};  // waits for input: storage, or the stage before it
  std::optional<double> room_ms{};   // waits for a place to put its result
  std::optional<double> core_ms{};   // ready to run, without a core
  double total_s = 0;                // of all batches, as the records have it
};

// The words of myxtts for the mean time that a consumer waits for a batch: below 100 ms, up to
// 500 ms, above.
enum class LoadVerdict : std::uint8_t { kGood, kModerate, kSlow };
std::string_view name_of(LoadVerdict verdict);  // "good", "moderate", "slow"
LoadVerdict judge_load(double batch_ms);

struct FeedProfile {
  std::uint64_t num_batches = 0;
  double num_workers = 0;  // mean
  std::vector<StageTimes> stages{};
  double data_ms = 0;     // mean wait for a batch, without the first
  double compute_ms = 0;  // mean time from a batch to asking for the next one
  double data_std_ms = 0, data_min_ms = 0, data_max_ms = 0;
  double first_wait_ms = 0;
  double interval_ms() const { return data_ms + compute_ms; }
  double fill_ms() const;  // how long a worker has a batch
  LoadVerdict verdict() const { return judge_load(data_ms); }

  Json json() const;  // stages[], data_ms, compute_ms, batch_ms{}, verdict, …
  std::string text() const;
};

// Adds records up as they come, so that a long run needs no more memory than a short one.
class ProfileSums {
 public:
  void add(const feed::BatchRecord& record);  // in the order of their numbers
  std::uint64_t num_batches() const { return num_batches_; }
  // `machine`: of the same time; without it waits for a core are counted as waits for input.
  FeedProfile profile(const std::optional<MachineWindow>& machine = {}) const;

 private:
  void add_consumer(const feed::BatchRecord& record);
  void put_workers(const std::optional<MachineWindow>& machine, FeedProfile& out) const;
  void put_device(FeedProfile& out) const;
  void put_consumer(FeedProfile& out) const;

  std::uint64_t num_batches_ = 0;
  std::array<std::int64_t, feed::kNumRecordStages> busy_ns_{};
  std::array<std::uint64_t, feed::kNumRecordStages> num_measured_{};
  std::array<std::int64_t, feed::kNumConsumerWorks> works_ns_{};
  std::int64_t worker_cpu_ns_ = 0;
  std::int64_t later_fill_ns_ = 0;  // of all but the first
  double worker_sum_ = 0;
  std::uint64_t num_waits_ = 0, num_steps_ = 0;
  double wait_sum_ms_ = 0, wait_squares_ = 0, least_wait_ms_ = 0, most_wait_ms_ = 0;
  double step_sum_ms_ = 0, first_wait_ms_ = 0;
  std::int64_t first_handed_ns_ = 0;
  std::uint64_t last_number_ = 0;
  std::int64_t last_handed_ns_ = 0;
};

}  // namespace stoker::observe
