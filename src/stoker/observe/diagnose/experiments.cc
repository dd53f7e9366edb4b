#include "stoker/observe/diagnose/experiments.h"

#include <fcntl.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "stoker/base/cpu_count.h"
#include "stoker/base/machine_figures.h"
#include "stoker/feed/errors.h"
#include "stoker/feed/source/augmentation.h"
#include "stoker/observe/batch_source.h"
#include "stoker/observe/diagnose/findings.h"
#include "stoker/observe/diagnose/stand_ins.h"
#include "stoker/observe/diagnose/thresholds.h"
#include "stoker/observe/diagnose/watched_run.h"
#include "stoker/observe/recommend/data_survey.h"
#include "stoker/observe/statistics.h"

namespace stoker::observe {
namespace {

// Of the budget: what the user's own run gets, and each of the others of what is left then; those
// that only add evidence get less.
constexpr double kWatchShare = 0.4, kRunShare = 0.3, kPartShare = 0.15;
constexpr double kShortestRunS = 0.15, kLongestRunS = 4;
constexpr double kMostWatchS = 20;
constexpr double kWarmShare = 0.25;
constexpr std::size_t kNumParts = 4;  // of a run, for its spread
constexpr double kMostForgettingS = 0.5;

using Mode = config::PreprocessingMode;

double step_of(const DiagnoseOptions& options, const feed::Feed& feed) {
  if (options.step_s) return *options.step_s;
  if (!options.demand_clips_per_s) return 0;
  const auto clips = static_cast<double>(feed.order().rows().size());
  return clips / static_cast<double>(feed.num_batches()) / *options.demand_clips_per_s;
}

SetupFacts setup_facts(const config::Settings& settings, const feed::OpenedFeed& opened) {
  SetupFacts facts;
  facts.num_workers = opened.feed.num_workers();
  facts.depth = opened.feed.depth();
  facts.max_depth = opened.feed.max_depth();
  facts.world_size = static_cast<unsigned>(settings.loader.world_size.value_or(1));
  facts.is_native = settings.loader.use_native_loading;
  facts.is_cached = settings.loader.preprocessing_mode != Mode::kRuntime;
  facts.can_precompute = !feed::Augmentation::is_on(settings.augment);
  facts.is_on_gpu = opened.mode.choice.mode != feed::GpuMode::kCpu;
  facts.pins_memory = settings.gpu.pin_memory;
  facts.makes_mel_on_gpu = facts.is_on_gpu && opened.mode.mel.source == feed::MelSource::kGpu;
  facts.is_packed = settings.batch.batch_layout == config::BatchLayout::kPacked;
  facts.data = settings.data.path;
  return facts;
}

DataFacts data_facts(const feed::DataSetSource& source) {
  const data::Index& index = source.index();
  DataFacts facts;
  facts.features_rate_hz = source.speech_rule().rate_hz;
  if (index.size() == 0) return facts;
  const auto count = static_cast<double>(index.size());
  for (std::size_t i = 0; i < index.size(); ++i) {
    const data::Utterance utterance = index[i];
    facts.mean_audio_s += utterance.duration_s() / count;
    facts.mean_rate_hz += utterance.rate_hz / count;
    const bool is_wav = utterance.file.ends_with(".wav") || utterance.file.ends_with(".WAV");
    facts.compressed_share += is_wav ? 0 : 1 / count;
    if (utterance.duration_s() <= facts.longest_audio_s) continue;
    facts.longest_audio_s = utterance.duration_s();
    facts.longest_file = utterance.file;
  }
  facts.mean_file_bytes = mean_file_bytes(index);
  return facts;
}

// Asks the system to drop the sound files from its page cache; what others use or what was just
// written stays.
void forget_files(const data::Index& index) {
  const Stopwatch watch;
  for (std::size_t i = 0; i < index.size() && watch.seconds() < kMostForgettingS; ++i) {
    const Result<File> file = index.open_sound(index[i]);
    if (file) posix_fadvise(file->handle(), 0, 0, POSIX_FADV_DONTNEED);
  }
}

// A tuner may have moved them: most of the time there were so many.
unsigned usual_num_workers(const std::vector<feed::BatchRecord>& records, const feed::Feed& feed) {
  if (records.empty()) return feed.num_workers();
  std::vector<double> counts;
  counts.reserve(records.size());
  for (const feed::BatchRecord& record : records) counts.push_back(record.num_workers);
  return static_cast<unsigned>(median_of(std::move(counts)));
}

// Batches per second in each part of the run, and how far they are apart.
void put_rate(const std::vector<feed::BatchRecord>& records, SupplyRun& run) {
  const std::size_t part = (records.size() - 1) / kNumParts;
  const auto rate = [&](std::size_t first, std::size_t last) {
    const double span_s =
        1e-9 * static_cast<double>(records[last].handed_ns - records[first].handed_ns);
    return span_s > 0 ? static_cast<double>(last - first) / span_s : 0.0;
  };
  run.batches_per_s = rate(0, records.size() - 1);
  double rows = 0;
  for (const feed::BatchRecord& record : records) rows += record.num_rows;
  run.clips_per_s = run.batches_per_s * rows / static_cast<double>(records.size());
  if (part == 0) return;
  double squares = 0;
  for (std::size_t i = 0; i < kNumParts; ++i) {
    const double each = rate(i * part, (i + 1) * part) / std::max(1e-9, run.batches_per_s) - 1;
    squares += each * each;
  }
  run.spread = std::sqrt(squares / (kNumParts - 1) / kNumParts);
}

}  // namespace

Experiments::Experiments(const DiagnoseOptions& options)
    : options_(options), settings_(options.settings) {}

double Experiments::left_s() const { return options_.budget_s - since_start_.seconds(); }

double Experiments::slice_s(double share) const {
  return std::clamp(share * left_s(), kShortestRunS, kLongestRunS);
}

feed::OpenedFeed Experiments::open(const config::Settings& settings, const SourceWrap& wrap) const {
  return feed::open_feed(settings, {.io = options_.io, .wrap = wrap, .stop = options_.stop});
}

feed::OpenedFeed Experiments::open(const config::Settings& settings) const {
  return open(settings, options_.wrap);
}

// Mode `auto` would go on building the cache while it is watched: what is measured then is the
// first epoch only. A whole cache is used, else none is.
void Experiments::settle_cache() {
  if (settings_.loader.preprocessing_mode != Mode::kAuto) return;
  settings_.loader.preprocessing_mode = Mode::kPrecompute;
  try {
    static_cast<void>(open(settings_));
  } catch (const Failure& failure) {
    if (failure.error().code != &feed::kFeedNotCached) throw;
    settings_.loader.preprocessing_mode = Mode::kRuntime;
    options_.say("there is no whole cache: features are computed as in a first epoch");
  }
}

Evidence Experiments::run() {
  settle_cache();
  {
    feed::OpenedFeed opened = open(settings_);
    watch(opened);
    evidence_.data = data_facts(*opened.source);
    try_supply(opened);
    if (is_clear()) return std::move(evidence_);
    try_workers(opened);
  }
  try_loaders();
  try_stand_ins();
  try_without_copy();
  try_cold_files();
  return std::move(evidence_);
}

std::vector<feed::BatchRecord> Experiments::consume(feed::OpenedFeed& opened,
                                                    std::uint64_t max_batches) const {
  std::unique_ptr<WatchedConsumer> stand_in;
  if (options_.consumer == nullptr)
    stand_in = make_stand_in(opened, step_of(options_, opened.feed));
  WatchedConsumer& consumer = options_.consumer != nullptr ? *options_.consumer : *stand_in;
  std::vector<feed::BatchRecord> records =
      watch_batches(opened.feed, consumer,
                    {.seconds = std::min(kMostWatchS, kWatchShare * options_.budget_s),
                     .max_batches = max_batches,
                     .stop = options_.stop});
  consumer.rest();
  return records;
}

void Experiments::watch(feed::OpenedFeed& opened) {
  const double step_s = step_of(options_, opened.feed);
  std::unique_ptr<MachineWatch> own_machine;
  if (options_.machine == nullptr) own_machine = watch_machine(opened, settings_);
  MachineWatch& machine = options_.machine != nullptr ? *options_.machine : *own_machine;
  options_.say("watching the consumer");
  machine.begin();
  Watch& watch = evidence_.watch;
  watch.records = consume(opened, options_.num_batches.value_or(~std::uint64_t{0}));
  watch.machine = machine.end();
  watch.is_paced = options_.consumer != nullptr || step_s > 0;
  if (step_s > 0) watch.step_s = step_s;
  evidence_.setup = setup_facts(settings_, opened);
  evidence_.setup.num_workers = usual_num_workers(watch.records, opened.feed);
}

SupplyRun Experiments::drain(feed::OpenedFeed& opened, RunKind kind, const Drain& how) {
  const std::unique_ptr<WatchedConsumer> nothing = make_stand_in(opened, 0);
  SupplyRun run{.kind = kind, .num_workers = opened.feed.num_workers()};
  // What was ready before is no supply.
  const WatchOptions warm{.seconds = kWarmShare * how.seconds, .stop = options_.stop};
  static_cast<void>(watch_batches(opened.feed, *nothing, warm));
  // Ready, or begun by workers that are no longer there.
  const std::uint64_t begun = opened.feed.stats().pipeline.num_ready + most_workers_ + 1;
  for (std::uint64_t i = 0; i < begun; ++i)
    static_cast<void>(next_of_any_epoch(opened.feed, options_.stop));
  most_workers_ = std::max(most_workers_, opened.feed.num_workers());
  if (how.before) how.before();
  const double cpu_before_s = process_cpu_s() - thread_cpu_s();
  const WatchOptions watched{
      .seconds = how.seconds, .max_batches = how.max_batches, .stop = options_.stop};
  const std::vector<feed::BatchRecord> records = watch_batches(opened.feed, *nothing, watched);
  nothing->rest();
  run.num_workers = opened.feed.num_workers();
  if (records.size() < 2) return run;
  put_rate(records, run);
  run.cpu_s_per_batch =
      (process_cpu_s() - thread_cpu_s() - cpu_before_s) / static_cast<double>(records.size());
  return run;
}

void Experiments::try_supply(feed::OpenedFeed& opened) {
  options_.say("measuring what the feed could bring");
  evidence_.runs.push_back(drain(opened, RunKind::kSupply, {.seconds = slice_s(kRunShare)}));
}

// A loop that hardly waits needs no further test.
bool Experiments::is_clear() const {
  if (options_.stop.stop_requested() || left_s() < kShortestRunS) return true;
  if (!evidence_.watch.is_paced) return false;
  const Diagnosis first = judge(evidence_);
  return first.verdict != LoopVerdict::kStarved;
}

void Experiments::try_workers(feed::OpenedFeed& opened) {
  if (!evidence_.setup.is_native) return;  // the naive loader has none
  const unsigned own = evidence_.setup.num_workers;
  // A tuner would move them again.
  std::optional<feed::OpenedFeed> fixed;
  if (settings_.loader.auto_tune_performance) {
    config::Settings still = settings_;
    still.loader.auto_tune_performance = false;
    fixed = open(still);
  }
  feed::OpenedFeed& tried = fixed ? *fixed : opened;
  const unsigned better = better_num_workers(evidence_.setup, SupplyModel(evidence_));
  for (const unsigned wanted : {better, 1U}) {
    if (wanted == own || left_s() < 2 * kShortestRunS) continue;
    options_.say("trying another number of workers");
    tried.feed.set_num_workers(wanted);
    evidence_.runs.push_back(drain(tried, RunKind::kWorkers, {.seconds = slice_s(kRunShare)}));
  }
}

// One part of the reading costs nothing at a time.
void Experiments::try_stand_ins() {
  // Rows of made-up length are not for kernels.
  if (!settings_.loader.use_native_loading || evidence_.setup.is_on_gpu) return;
  const bool has_mel = settings_.loader.preprocessing_mode == Mode::kRuntime;
  for (const RunKind kind :
       {RunKind::kNoMel, RunKind::kNoText, RunKind::kMemory, RunKind::kInstant}) {
    if (left_s() < 4 * kShortestRunS || (kind == RunKind::kNoMel && !has_mel)) continue;
    options_.say("trying without a part of the reading");
    feed::OpenedFeed opened = open(settings_, [this, kind](auto source) {
      return without_part(options_.wrap ? options_.wrap(std::move(source)) : std::move(source),
                          kind);
    });
    evidence_.runs.push_back(drain(opened, kind, {.seconds = slice_s(kPartShare)}));
  }
}

void Experiments::try_without_copy() {
  if (!evidence_.setup.is_on_gpu || left_s() < 2 * kShortestRunS) return;
  options_.say("trying without the copy to the GPU");
  config::Settings on_host = settings_;
  on_host.run.device = "cpu";
  feed::OpenedFeed opened = open(on_host);
  evidence_.runs.push_back(drain(opened, RunKind::kNoCopy, {.seconds = slice_s(kPartShare)}));
}

// As in a first epoch, or where the data are larger than the memory. Shards of a cache are mapped,
// and what is mapped stays in memory. The last run, as it leaves the files cold; no longer than an
// epoch, as the next one would find them in memory again.
void Experiments::try_cold_files() {
  const bool reads_files = settings_.loader.preprocessing_mode == Mode::kRuntime;
  if (!reads_files || left_s() < 4 * kShortestRunS) return;
  options_.say("trying files that are not in memory");
  feed::OpenedFeed opened = open(settings_);
  evidence_.runs.push_back(drain(opened, RunKind::kCold,
                                 {.seconds = slice_s(kPartShare),
                                  .max_batches = opened.feed.num_batches(),
                                  .before = [&] { forget_files(opened.source->index()); }}));
}

void Experiments::try_loaders() {
  if (settings_.loader.use_native_loading || left_s() < 2 * kShortestRunS) return;
  options_.say("trying the native loader");
  config::Settings native = settings_;
  native.loader.use_native_loading = true;
  feed::OpenedFeed opened = open(native);
  evidence_.runs.push_back(drain(opened, RunKind::kNative, {.seconds = slice_s(kRunShare)}));
}

double Experiments::measure(const config::Settings& settings) {
  feed::OpenedFeed opened = open(settings);
  Evidence evidence;
  evidence.watch.records = consume(opened);
  evidence.setup = setup_facts(settings, opened);
  return judge(evidence).batches_per_s;
}

}  // namespace stoker::observe
