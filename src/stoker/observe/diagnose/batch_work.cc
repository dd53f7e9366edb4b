// From records of batches to work by resource.
#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "stoker/observe/diagnose/supply_model.h"
#include "stoker/observe/diagnose/thresholds.h"
#include "stoker/observe/statistics.h"

namespace stoker::observe {
namespace {

using feed::BatchRecord;
using feed::RecordStage;

constexpr double kSPerNs = 1e-9;
constexpr std::size_t kNumWorkerStages = static_cast<std::size_t>(RecordStage::kWaitSlot);

double worker_wall_s(const BatchRecord& record) {
  double busy_s = 0;
  for (std::size_t i = 0; i < kNumWorkerStages; ++i)
    busy_s += static_cast<double>(record.stages[i].busy_ns) * kSPerNs;
  return busy_s;
}

// Processor time of the worker by batch. A look at it counts for all batches that the worker filled
// since the look before; behind the last one the share is that of all others.
std::vector<double> worker_cpu_seconds(const std::vector<BatchRecord>& records) {
  struct Unread {
    std::vector<std::size_t> batches{};
    double wall_s = 0;
  };
  std::map<std::int32_t, Unread> unread;
  std::vector<double> cpu_s(records.size());
  double all_cpu_s = 0, all_wall_s = 0;
  for (std::size_t i = 0; i < records.size(); ++i) {
    const double wall_s = worker_wall_s(records[i]);
    if (records[i].worker < 0 && records[i].worker_cpu_ns <= 0) {
      cpu_s[i] = wall_s;  // the consumer filled it: its time is counted once
      continue;
    }
    Unread& mine = unread[records[i].worker];
    mine.batches.push_back(i);
    mine.wall_s += wall_s;
    if (records[i].worker_cpu_ns < 0) continue;
    const double spent_s = static_cast<double>(records[i].worker_cpu_ns) * kSPerNs;
    const double share = mine.wall_s > 0 ? std::min(1.0, spent_s / mine.wall_s) : 1;
    for (const std::size_t batch : mine.batches)
      cpu_s[batch] = share * worker_wall_s(records[batch]);
    all_cpu_s += share * mine.wall_s;
    all_wall_s += mine.wall_s;
    mine = {};
  }
  const double usual_share = all_wall_s > 0 ? all_cpu_s / all_wall_s : 1;
  for (const auto& [worker, rest] : unread)
    for (const std::size_t batch : rest.batches)
      cpu_s[batch] = usual_share * worker_wall_s(records[batch]);
  return cpu_s;
}

// The GPU times a batch now and then; the others take what those take on average.
double usual_device_s(const std::vector<BatchRecord>& records, RecordStage stage) {
  double busy_s = 0;
  std::size_t count = 0;
  for (const BatchRecord& record : records) {
    const std::int64_t busy_ns = record.stages[static_cast<std::size_t>(stage)].busy_ns;
    if (busy_ns <= 0) continue;
    busy_s += static_cast<double>(busy_ns) * kSPerNs;
    ++count;
  }
  return count > 0 ? busy_s / static_cast<double>(count) : 0;
}

// Of the time in which workers neither ran nor were idle, the part in which they wanted a core.
double run_queue_share(const Evidence& evidence, const std::vector<double>& cpu_s) {
  const Watch& watch = evidence.watch;
  if (!watch.machine || watch.records.size() < 2) return 0;
  double waited_per_s = 0;
  for (const ThreadLoad& thread : watch.machine->cpu.threads) {
    if (thread.name.starts_with("stoker-fill")) waited_per_s += thread.run_queue_wait;
  }
  if (evidence.setup.num_workers == 0) waited_per_s = watch.machine->cpu.run_queue_wait.value_or(0);
  double off_s = 0;
  for (std::size_t i = 0; i < watch.records.size(); ++i)
    off_s += worker_wall_s(watch.records[i]) - cpu_s[i];
  const double span_s =
      static_cast<double>(watch.records.back().handed_ns - watch.records.front().handed_ns) *
      kSPerNs;
  return off_s > 0 ? std::clamp(waited_per_s * span_s / off_s, 0.0, 1.0) : 0.0;
}

// Reading is what waits; what a worker waited beyond it is spread over its other stages.
void split_stages(const BatchRecord& record, double cpu_s, double queue_share, BatchWork& work) {
  const double wall_s = worker_wall_s(record);
  const double off_s = wall_s - cpu_s;
  const auto fetch = static_cast<std::size_t>(RecordStage::kFetch);
  const double fetch_s = static_cast<double>(record.stages[fetch].busy_ns) * kSPerNs;
  const double fetch_off_s = std::min(off_s, fetch_s);
  const double others_s = wall_s - fetch_s;
  const double others_off_share = others_s > 0 ? (off_s - fetch_off_s) / others_s : 0;
  for (std::size_t i = 0; i < kNumWorkerStages; ++i) {
    const double busy_s = static_cast<double>(record.stages[i].busy_ns) * kSPerNs;
    const double stage_off_s = i == fetch ? fetch_off_s : busy_s * others_off_share;
    work.cpu_s[i] = busy_s - stage_off_s;
    work.blocked_s[i] = stage_off_s * (1 - queue_share);
  }
}

void put_consumer(const BatchRecord& record, const BatchRecord& after, BatchWork& work) {
  work.wait_s = static_cast<double>(std::max<std::int64_t>(0, record.wait_ns())) * kSPerNs;
  double own_s =
      static_cast<double>(std::max<std::int64_t>(0, after.asked_ns - record.handed_ns)) * kSPerNs;
  for (std::size_t i = 0; i < work.works_s.size(); ++i) {
    work.works_s[i] = std::min(static_cast<double>(after.works_ns[i]) * kSPerNs, own_s);
    own_s -= work.works_s[i];
  }
  work.step_s = own_s;
}

void put_device_times(const std::vector<BatchRecord>& records, std::vector<BatchWork>& batches) {
  for (const RecordStage stage : {RecordStage::kCopy, RecordStage::kKernel}) {
    const auto i = static_cast<std::size_t>(stage);
    const double usual_s = usual_device_s(records, stage);
    for (BatchWork& work : batches) {
      const double busy_s = static_cast<double>(records[work.record].stages[i].busy_ns) * kSPerNs;
      work.cpu_s[i] = busy_s > 0 ? busy_s : usual_s;
    }
  }
}

void put_outliers(const Evidence& evidence, const std::vector<double>& cpu_s,
                  std::vector<BatchWork>& batches) {
  std::vector<double> slowest_s, timed_s;
  slowest_s.reserve(batches.size());
  for (const BatchWork& work : batches) {
    slowest_s.push_back(static_cast<double>(evidence.watch.records[work.record].slowest_ns) *
                        kSPerNs);
    if (slowest_s.back() > 0) timed_s.push_back(slowest_s.back());
  }
  if (timed_s.empty()) return;
  const double usual_s = median_of(std::move(timed_s));
  for (std::size_t i = 0; i < batches.size(); ++i) {
    if (slowest_s[i] <= kOutlierFactor * usual_s) continue;
    const BatchRecord& record = evidence.watch.records[batches[i].record];
    const double wall_s = worker_wall_s(record);
    batches[i].outlier_s = std::min(slowest_s[i] - usual_s, wall_s);
    batches[i].outlier_cpu_share = wall_s > 0 ? cpu_s[batches[i].record] / wall_s : 1;
  }
}

}  // namespace

std::size_t num_start_records(const Evidence& evidence) {
  if (!evidence.watch.has_start) return 0;
  const std::size_t start = kStartBatches + evidence.setup.depth + evidence.setup.num_workers;
  return std::min(start, evidence.watch.records.size() / 4);
}

std::vector<BatchWork> works_of(const Evidence& evidence) {
  const std::vector<BatchRecord>& records = evidence.watch.records;
  const std::vector<double> cpu_s = worker_cpu_seconds(records);
  const double queue_share = run_queue_share(evidence, cpu_s);
  std::vector<BatchWork> batches;
  for (std::size_t i = num_start_records(evidence); i + 1 < records.size(); ++i) {
    BatchWork work;
    work.record = i;
    work.padded_frames = records[i].padded_frames;
    split_stages(records[i], cpu_s[i], queue_share, work);
    put_consumer(records[i], records[i + 1], work);
    batches.push_back(work);
  }
  put_device_times(records, batches);
  put_outliers(evidence, cpu_s, batches);
  return batches;
}

OutlierFiles outlier_files(const Evidence& evidence, const std::vector<BatchWork>& batches) {
  std::map<std::string, double> seconds;
  OutlierFiles files;
  for (const BatchWork& work : batches) {
    if (work.outlier_s <= 0) continue;
    seconds[evidence.watch.records[work.record].slowest_file.data()] += work.outlier_s;
    files.all_s += work.outlier_s;
  }
  for (const auto& [file, outlier_s] : seconds) files.worst_first.emplace_back(outlier_s, file);
  std::sort(files.worst_first.rbegin(), files.worst_first.rend());
  double few_s = 0;
  for (std::size_t i = 0; i < std::min(kFewFiles, files.worst_first.size()); ++i)
    few_s += files.worst_first[i].first;
  files.are_few = files.all_s > 0 && few_s >= kFewFilesShare * files.all_s;
  return files;
}

bool waits_for_slow_files(const Evidence& evidence, const std::vector<BatchWork>& batches) {
  double all_s = 0;
  for (const BatchWork& work : batches) all_s += work.interval_s();
  const OutlierFiles files = outlier_files(evidence, batches);
  return files.are_few && files.all_s >= kSlowFilesShare * all_s;
}

bool CoreFacts::is_saturated() const { return workers_use >= kSaturatedShare * available; }

CoreFacts cores_of(const Evidence& evidence, const std::vector<BatchWork>& batches) {
  CoreFacts cores;
  double cpu_s = 0, wall_s = 0, consumer_cpu_s = 0;
  for (const BatchWork& work : batches) {
    for (std::size_t i = 0; i < kNumWorkerStages; ++i) cpu_s += work.cpu_s[i];
    wall_s += work.interval_s();
    consumer_cpu_s += 1e-9 * static_cast<double>(std::max<std::int64_t>(
                                 0, evidence.watch.records[work.record].consumer_cpu_ns));
  }
  cores.workers_use = wall_s > 0 ? cpu_s / wall_s : 0;
  cores.limit = cores.affinity = std::max(1U, evidence.setup.num_workers);
  if (evidence.watch.machine) {
    const CpuWindow& cpu = evidence.watch.machine->cpu;
    cores.affinity = std::max(1U, cpu.num_allowed_cores);
    cores.limit = std::min(cores.affinity, cpu.quota_cores.value_or(cores.affinity));
    cores.others = cpu.other_cores.value_or(0);
  }
  const double consumer = wall_s > 0 ? std::min(1.0, consumer_cpu_s / wall_s) : 0;
  cores.available =
      std::max({kLeastCores, cores.workers_use, cores.limit - cores.others - consumer});
  return cores;
}

}  // namespace stoker::observe
