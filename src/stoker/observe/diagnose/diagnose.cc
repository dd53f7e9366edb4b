#include "stoker/observe/diagnose/diagnose.h"

#include <algorithm>
#include <utility>

#include "stoker/base/cpu_count.h"
#include "stoker/cache/build/precompute.h"
#include "stoker/config/field_table.h"
#include "stoker/feed/records/record_places.h"
#include "stoker/feed/records/record_reader.h"
#include "stoker/observe/diagnose/experiments.h"

namespace stoker::observe {
namespace {

// Runs the first cure that a setting does, and writes down what it brought.
void apply_first(const DiagnoseOptions& options, Experiments& experiments, Diagnosis& diagnosis) {
  const auto first = std::find_if(diagnosis.cures.begin(), diagnosis.cures.end(),
                                  [](const Cure& cure) { return !cure.set.empty(); });
  if (first == diagnosis.cures.end() || diagnosis.batches_per_s <= 0) return;
  options.say("applying: " + first->change);
  const config::Settings changed = with_cure(experiments.settings(), *first);
  if (first->needs_precompute) {
    cache::PrecomputeOptions build;
    build.num_workers = count_cpus().allowed;
    build.stop = options.stop;
    static_cast<void>(cache::precompute(changed, *options.io, build));
  }
  first->measured_gain = experiments.measure(changed) / diagnosis.batches_per_s;
}

}  // namespace

config::Settings with_cure(config::Settings settings, const Cure& cure) {
  for (const std::string& change : cure.set) {
    const std::size_t equals = change.find('=');
    const std::string path = change.substr(0, equals);
    const config::FieldInfo* field = config::find_field(path);
    if (field != nullptr)
      field->read(settings, config::parse_value(change.substr(equals + 1), path));
  }
  return settings;
}

DiagnoseReport diagnose(const DiagnoseOptions& options) {
  Experiments experiments(options);
  DiagnoseReport report{.evidence = experiments.run(), .diagnosis = {}};
  report.diagnosis = judge(report.evidence);
  if (options.applies) apply_first(options, experiments, report.diagnosis);
  return report;
}

DiagnoseReport diagnose_records(std::vector<feed::BatchRecord> records) {
  DiagnoseReport report;
  SetupFacts& setup = report.evidence.setup;
  Watch& watch = report.evidence.watch;
  std::uint64_t num_misses = 0, num_hits = 0;
  setup.depth = 1;
  const auto took_time = [](const feed::BatchRecord& record, feed::RecordStage stage) {
    return record.stages[static_cast<std::size_t>(stage)].busy_ns > 0;
  };
  bool makes_mel_on_cpu = false, has_kernels = false;
  for (const feed::BatchRecord& record : records) {
    setup.depth = std::max(setup.depth, record.num_ready);
    setup.num_workers = record.num_workers;
    setup.is_on_gpu |= took_time(record, feed::RecordStage::kCopy);
    makes_mel_on_cpu |= took_time(record, feed::RecordStage::kMel);
    has_kernels |= took_time(record, feed::RecordStage::kKernel);
    num_hits += record.num_cache_hits;
    num_misses += record.num_cache_misses;
  }
  setup.is_cached = num_hits > 0 && num_misses == 0;
  setup.makes_mel_on_gpu = has_kernels && !makes_mel_on_cpu && !setup.is_cached;
  watch.has_start = !records.empty() && records.front().number == 0;
  watch.records = std::move(records);
  report.diagnosis = judge(report.evidence);
  return report;
}

DiagnoseReport diagnose_run(const std::string& path, Io& io) {
  const feed::RecordReader reader =
      feed::RecordReader::open(feed::records_at(path, io).take_or_raise(), io).take_or_raise();
  std::vector<feed::BatchRecord> records;
  static_cast<void>(reader.read_since(0, records).take_or_raise());
  return diagnose_records(std::move(records));
}

}  // namespace stoker::observe
