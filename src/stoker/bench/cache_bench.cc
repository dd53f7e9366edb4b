#include "stoker/bench/cache_bench.h"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

#include "stoker/base/clock.h"
#include "stoker/base/number_text.h"
#include "stoker/base/philox.h"
#include "stoker/base/thread/parallel.h"
#include "stoker/bench/cache_bench_records.h"
#include "stoker/bench/errors.h"
#include "stoker/cache/build/build.h"
#include "stoker/cache/build/cache_lock.h"
#include "stoker/cache/errors.h"
#include "stoker/cache/maintain/verify.h"
#include "stoker/cache/read/fused_read.h"
#include "stoker/cache/read/reader.h"

namespace stoker::bench {
namespace {

using cache::ElementType;
using cache::Reader;
using cache::RecordKind;
using cache::RecordRef;

constexpr std::size_t kBatchRows = 64;
constexpr std::size_t kBatchesInRing = 4;
constexpr std::size_t kRowValues = std::size_t{kBenchPaddedFrames} * kBenchMels;
constexpr float kPadding = -11.512925F;
constexpr int kWindows = 5;

struct FreeAligned {
  void operator()(std::byte* at) const noexcept { std::free(at); }
};
using AlignedBytes = std::unique_ptr<std::byte, FreeAligned>;

// A ring of batches as a feed has them: written in turn, so that stores really reach memory.
class BatchRing {
 public:
  BatchRing() : bytes_(allocate()) {}
  void* row(std::size_t delivered, std::size_t value_bytes) {
    const std::size_t batch = delivered / kBatchRows % kBatchesInRing;
    const std::size_t row = batch * kBatchRows + delivered % kBatchRows;
    return bytes_.get() + row * kRowValues * value_bytes;
  }

 private:
  static AlignedBytes allocate() {
    constexpr std::size_t kBytes = kBatchesInRing * kBatchRows * kRowValues * 4;
    AlignedBytes bytes(static_cast<std::byte*>(std::aligned_alloc(64, kBytes)));
    std::memset(bytes.get(), 0, kBytes);
    return bytes;
  }
  AlignedBytes bytes_;
};

enum class Way { kMemcpy, kMappedF16, kMappedF32, kPreadF16, kPreadF32 };

struct WayName {
  Way way;
  const char* name;
};
constexpr WayName kWays[] = {{Way::kMemcpy, "memcpy"},
                             {Way::kMappedF16, "mapped f16"},
                             {Way::kMappedF32, "mapped f32"},
                             {Way::kPreadF16, "pread f16"},
                             {Way::kPreadF32, "pread f32"}};

struct Readers {
  Reader mapped;
  Reader read;
  std::vector<RecordRef> order;
};

void deliver(const Readers& readers, Way way, std::size_t place, BatchRing& ring,
             cache::ReadScratch& scratch, std::size_t delivered) {
  const RecordRef ref = readers.order[place];
  if (way == Way::kMemcpy) {
    auto* row = static_cast<std::byte*>(ring.row(delivered, 2));
    const std::span<const std::byte> payload = readers.mapped.mapped_payload(ref);
    std::memcpy(row, payload.data(), payload.size());
    cache::fill_values(row + payload.size(), ElementType::kF16, kRowValues - payload.size() / 2,
                       kPadding);
    return;
  }
  const bool is_f16 = way == Way::kMappedF16 || way == Way::kPreadF16;
  const Reader& reader =
      way == Way::kMappedF16 || way == Way::kMappedF32 ? readers.mapped : readers.read;
  const cache::RowTarget target{ring.row(delivered, is_f16 ? 2 : 4),
                                is_f16 ? ElementType::kF16 : ElementType::kF32, kRowValues,
                                kPadding};
  reader.read_mel_into(ref, target, scratch).take_or_raise();
}

double thread_cpu_s() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

struct Window {
  double clips_per_s = 0;
  double cpu_s_per_clip = 0;
};

// One thread's window: clips delivered until the time is over, by its own watch.
Window run_window(const Readers& readers, Way way, double seconds, std::size_t first,
                  BatchRing& ring) {
  cache::ReadScratch scratch;
  const Stopwatch watch;
  const double cpu_before = thread_cpu_s();
  std::size_t delivered = 0;
  double passed = 0;
  while (passed < seconds) {
    for (std::size_t i = 0; i < kBatchRows; ++i, ++delivered)
      deliver(readers, way, (first + delivered) % readers.order.size(), ring, scratch, delivered);
    passed = watch.seconds();
  }
  const auto clips = static_cast<double>(delivered);
  return {clips / passed, (thread_cpu_s() - cpu_before) / clips};
}

Window run_threads(const Readers& readers, Way way, double seconds,
                   std::vector<std::unique_ptr<BatchRing>>& rings) {
  std::vector<Window> windows(rings.size());
  const auto num_threads = static_cast<unsigned>(rings.size());
  run_parallel(num_threads, rings.size(), [&](std::size_t t) {
    windows[t] =
        run_window(readers, way, seconds, t * readers.order.size() / rings.size(), *rings[t]);
  });
  Window all;
  for (const Window& window : windows) {
    all.clips_per_s += window.clips_per_s;
    all.cpu_s_per_clip += window.cpu_s_per_clip / static_cast<double>(windows.size());
  }
  return all;
}

// Windows of all ways take turns, so that a disturbed stretch strikes them alike.
void measure(const Readers& readers, unsigned num_threads, double window_s,
             CacheBenchReport& report) {
  std::vector<std::unique_ptr<BatchRing>> rings;
  for (unsigned i = 0; i < num_threads; ++i) rings.push_back(std::make_unique<BatchRing>());
  std::vector<std::vector<Window>> windows(std::size(kWays));
  for (int round = 0; round < kWindows; ++round)
    for (std::size_t w = 0; w < std::size(kWays); ++w)
      windows[w].push_back(run_threads(readers, kWays[w].way, window_s, rings));
  double limit = 0;
  for (std::size_t w = 0; w < std::size(kWays); ++w) {
    std::sort(windows[w].begin(), windows[w].end(),
              [](const Window& a, const Window& b) { return a.clips_per_s < b.clips_per_s; });
    const Window& best = windows[w].back();
    if (w == 0) limit = best.clips_per_s;
    report.rows.push_back({kWays[w].name, num_threads, best.clips_per_s,
                           windows[w][windows[w].size() / 2].clips_per_s,
                           best.clips_per_s * 2e-9 * kBenchFrames * kBenchMels,
                           best.clips_per_s / limit, 1000 * best.cpu_s_per_clip});
  }
}

double build_if_absent(Io& io, const CacheBenchOptions& options) {
  const Result<Reader> present = Reader::open(io, options.folder);
  if (present.ok()) return 0;
  if (present.error().code != &cache::kNoCache) raise(present.error());
  make_folders(io, options.folder).take_or_raise();
  const File folder = open_file(io, options.folder, OpenFor::kFolder).take_or_raise();
  const cache::CacheLock lock = cache::CacheLock::take(folder, {}).take_or_raise();
  const BenchRecordMaker maker(options.num_records);
  cache::BuildTarget target;
  target.head.path = "made up/f16";
  target.makers = {&maker};
  const Stopwatch watch;
  cache::BuildOptions build;
  build.num_workers = std::max(1U, options.num_threads);
  build.stop = options.stop;
  cache::build_cache(folder, target, build);
  return watch.seconds();
}

// Anything else than what build_if_absent() makes would not fit the rows, or mean other clips.
void require_made_up(const Reader& reader, const std::string& folder) {
  const auto refuse = [&](std::string found) {
    raise({.code = &kBenchCache,
           .place = {.file = folder},
           .promised = fmt::format("mel records of {} frames and {} bands in f16", kBenchFrames,
                                   kBenchMels),
           .found = std::move(found),
           .action = {},
           .cure = {}});
  };
  const std::size_t num_records = reader.num_records(RecordKind::kMel);
  if (num_records == 0) refuse("no mel record");
  constexpr std::size_t kRecordBytes = std::size_t{2} * kBenchFrames * kBenchMels;
  for (std::size_t i = 0; i < num_records; ++i) {
    const RecordRef ref = reader.record(RecordKind::kMel, i);
    const cache::RecordInfo info = reader.info(ref);
    const std::size_t size_bytes = reader.mapped_payload(ref).size();
    if (info.shape.axes[0] == kBenchFrames && info.shape.axes[1] == kBenchMels &&
        size_bytes == kRecordBytes) {
      continue;
    }
    refuse(fmt::format("\"{}\" has {} frames and {} bands in {} bytes", info.id, info.shape.axes[0],
                       info.shape.axes[1], grouped(size_bytes)));
  }
}

std::vector<RecordRef> shuffled(const Reader& reader, std::uint64_t seed) {
  std::vector<RecordRef> order;
  for (std::size_t i = 0; i < reader.num_records(RecordKind::kMel); ++i)
    order.push_back(reader.record(RecordKind::kMel, i));
  KeyedDraws draws({.seed = seed, .stage = "bench order", .epoch = 0, .item = 0});
  for (std::size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1], order[draws.next_below(i)]);
  return order;
}

// One epoch through the whole way, the delivered values hashed.
Digest128 digest_epoch(const Readers& readers, Way way) {
  const std::size_t value_bytes = way == Way::kMappedF32 ? 4 : 2;
  BatchRing ring;
  cache::ReadScratch scratch;
  DigestStream stream;
  for (std::size_t i = 0; i < readers.order.size(); ++i) {
    deliver(readers, way, i, ring, scratch, i);
    const cache::RecordInfo info = readers.mapped.info(readers.order[i]);
    stream.add_text(info.id);
    stream.add_number(info.shape.axes[0]);
    const std::size_t num_values = std::size_t{info.shape.axes[0]} * info.shape.axes[1];
    stream.add({static_cast<const std::byte*>(ring.row(i, value_bytes)), num_values * value_bytes});
  }
  return stream.finish();
}

double time_first_pass(const Readers& readers) {
  BatchRing ring;
  cache::ReadScratch scratch;
  const Stopwatch watch;
  for (std::size_t i = 0; i < readers.order.size(); ++i)
    deliver(readers, Way::kMappedF16, i, ring, scratch, i);
  return watch.seconds();
}

double time_verify(Io& io, const CacheBenchOptions& options) {
  const File folder = open_file(io, options.folder, OpenFor::kFolder).take_or_raise();
  double best = 1e9;
  for (int round = 0; round < 3; ++round) {
    const Stopwatch watch;
    const cache::VerifyReport report =
        cache::verify_bytes(folder, {.num_workers = std::max(1U, options.num_threads)});
    if (!report.faults.empty()) raise(report.faults.front());
    best = std::min(best, watch.seconds());
  }
  return best;
}

}  // namespace

CacheBenchReport bench_cache(Io& io, const CacheBenchOptions& options) {
  CacheBenchReport report;
  report.kernel = cache::fused_kernel_name();
  report.build_s = build_if_absent(io, options);
  const auto open = [&](cache::ReadMode mode) {
    return Reader::open(io, options.folder,
                        {.mode = mode, .verification = cache::Verification::kEveryTime})
        .take_or_raise();
  };
  Readers readers{open(cache::ReadMode::kMap), open(cache::ReadMode::kPread), {}};
  require_made_up(readers.mapped, options.folder);
  readers.order = shuffled(readers.mapped, options.seed);
  report.num_records = readers.order.size();
  for (const cache::ShardLine& line : readers.mapped.manifest().shards)
    report.size_bytes += line.size_bytes;
  for (const RecordRef ref : readers.order) report.order.emplace_back(readers.mapped.info(ref).id);
  report.first_pass_s = time_first_pass(readers);
  report.digest_f16 = digest_epoch(readers, Way::kMappedF16);
  report.digest_f32 = digest_epoch(readers, Way::kMappedF32);
  std::vector<unsigned> thread_counts{1};
  if (options.num_threads > 1) thread_counts.push_back(options.num_threads);
  const double window_s =
      options.seconds / static_cast<double>(thread_counts.size() * std::size(kWays) * kWindows);
  for (const unsigned num_threads : thread_counts) measure(readers, num_threads, window_s, report);
  report.verify_s = time_verify(io, options);
  return report;
}

}  // namespace stoker::bench
