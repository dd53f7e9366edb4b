#include "stoker/bench/cache_bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "stoker/base/aligned_bytes.h"
#include "stoker/base/bytes.h"
#include "stoker/base/clock.h"
#include "stoker/base/machine_figures.h"
#include "stoker/base/number_text.h"
#include "stoker/base/philox.h"
#include "stoker/base/thread/parallel.h"
#include "stoker/bench/errors.h"
#include "stoker/cache/build/build.h"
#include "stoker/cache/build/cache_lock.h"
#include "stoker/cache/build/record_maker.h"
#include "stoker/cache/errors.h"
#include "stoker/cache/maintain/verify.h"
#include "stoker/cache/read/fused_read.h"
#include "stoker/cache/read/reader.h"

namespace stoker::bench {
namespace {

constexpr std::uint32_t kBenchFrames = 566;
constexpr std::uint32_t kBenchPaddedFrames = 576;
constexpr std::uint32_t kBenchMels = 80;

// Made-up mel records of the mean clip, for measuring the cache without a data set: finite f16
// values that differ from record to record; the same on every machine.
class BenchRecordMaker final : public cache::RecordMaker {
 public:
  explicit BenchRecordMaker(std::size_t num_records) {
    for (std::size_t i = 0; i < num_records; ++i) ids_.push_back(fmt::format("clip{:06}", i));
  }

  cache::RecordKind kind() const override { return cache::RecordKind::kMel; }
  Digest128 settings() const override { return digest_of(std::string_view("made up")); }
  std::size_t num_rows() const override { return ids_.size(); }
  std::string_view id(std::size_t row) const override { return ids_[row]; }
  std::uint64_t expected_bytes(std::size_t) const override {
    return std::uint64_t{2} * kBenchFrames * kBenchMels;
  }
  Result<std::optional<cache::SourceStamp>> stamp(std::size_t) const override {
    return std::optional<cache::SourceStamp>();
  }
  Result<Digest128> source_digest(std::size_t row) const override { return digest_of(ids_[row]); }
  std::unique_ptr<Worker> make_worker() const override { return std::make_unique<RowMaker>(*this); }

 private:
  class RowMaker final : public Worker {
   public:
    explicit RowMaker(const BenchRecordMaker& maker) : maker_(maker) {}

    Result<void> make(std::size_t row, cache::MadeRecord& out) override {
      out.source = digest_of(maker_.id(row));
      out.source_bytes = maker_.id(row).size();
      const std::span<std::byte> payload =
          out.reset({cache::ElementType::kF16, 2, {kBenchFrames, kBenchMels}});
      KeyedDraws draws({.seed = 1, .stage = "bench record", .epoch = 0, .item = row});
      std::uint64_t state = draws.next_u64() | 1U;
      for (std::size_t at = 0; at < payload.size(); at += 8) {
        state = state * 6364136223846793005ULL + 1442695040888963407ULL;
        // The top exponent bit of every half stays 0, so all values are finite.
        store_le(payload.data() + at, state & 0xBFFFBFFFBFFFBFFFULL);
      }
      return {};
    }

   private:
    const BenchRecordMaker& maker_;
  };

  std::vector<std::string> ids_;
};

using cache::ElementType;
using cache::Reader;
using cache::RecordKind;
using cache::RecordRef;

constexpr std::size_t kBatchRows = 64;
constexpr std::size_t kBatchesInRing = 4;
constexpr std::size_t kRowValues = std::size_t{kBenchPaddedFrames} * kBenchMels;
constexpr float kPadding = -11.512925F;
constexpr int kWindows = 5;

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
  static AlignedArray<std::byte> allocate() {
    constexpr std::size_t kBytes = kBatchesInRing * kBatchRows * kRowValues * 4;
    AlignedArray<std::byte> bytes = make_aligned<std::byte>(kBytes);
    std::memset(bytes.get(), 0, kBytes);
    return bytes;
  }
  AlignedArray<std::byte> bytes_;
};

enum class ReadPath { kMemcpy, kMappedF16, kMappedF32, kPreadF16, kPreadF32 };

struct NamedPath {
  ReadPath path;
  const char* name;
};
constexpr NamedPath kReadPaths[] = {{ReadPath::kMemcpy, "memcpy"},
                                    {ReadPath::kMappedF16, "mapped f16"},
                                    {ReadPath::kMappedF32, "mapped f32"},
                                    {ReadPath::kPreadF16, "pread f16"},
                                    {ReadPath::kPreadF32, "pread f32"}};

struct Readers {
  Reader mapped;
  Reader read;
  std::vector<RecordRef> order;
};

void deliver(const Readers& readers, ReadPath path, std::size_t position, BatchRing& ring,
             cache::ReadScratch& scratch, std::size_t delivered) {
  const RecordRef ref = readers.order[position];
  if (path == ReadPath::kMemcpy) {
    auto* row = static_cast<std::byte*>(ring.row(delivered, 2));
    const std::span<const std::byte> payload = readers.mapped.mapped_payload(ref);
    std::memcpy(row, payload.data(), payload.size());
    cache::fill_values(row + payload.size(), ElementType::kF16, kRowValues - payload.size() / 2,
                       kPadding);
    return;
  }
  const bool is_f16 = path == ReadPath::kMappedF16 || path == ReadPath::kPreadF16;
  const Reader& reader =
      path == ReadPath::kMappedF16 || path == ReadPath::kMappedF32 ? readers.mapped : readers.read;
  const cache::RowTarget target{ring.row(delivered, is_f16 ? 2 : 4),
                                is_f16 ? ElementType::kF16 : ElementType::kF32, kRowValues,
                                kPadding};
  reader.read_mel_into(ref, target, scratch).take_or_raise();
}

struct Window {
  double clips_per_s = 0;
  double cpu_s_per_clip = 0;
};

// One thread's window: clips delivered until the time is over, by its own watch.
Window run_window(const Readers& readers, ReadPath path, double seconds, std::size_t first,
                  BatchRing& ring) {
  cache::ReadScratch scratch;
  const Stopwatch watch;
  const double cpu_before = thread_cpu_s();
  std::size_t delivered = 0;
  double passed = 0;
  while (passed < seconds) {
    for (std::size_t i = 0; i < kBatchRows; ++i, ++delivered)
      deliver(readers, path, (first + delivered) % readers.order.size(), ring, scratch, delivered);
    passed = watch.seconds();
  }
  const auto clips = static_cast<double>(delivered);
  return {clips / passed, (thread_cpu_s() - cpu_before) / clips};
}

Window run_threads(const Readers& readers, ReadPath path, double seconds,
                   std::vector<std::unique_ptr<BatchRing>>& rings) {
  std::vector<Window> windows(rings.size());
  const auto num_threads = static_cast<unsigned>(rings.size());
  run_parallel(num_threads, rings.size(), [&](std::size_t t) {
    windows[t] =
        run_window(readers, path, seconds, t * readers.order.size() / rings.size(), *rings[t]);
  });
  Window all;
  for (const Window& window : windows) {
    all.clips_per_s += window.clips_per_s;
    all.cpu_s_per_clip += window.cpu_s_per_clip / static_cast<double>(windows.size());
  }
  return all;
}

// Windows of all paths take turns, so that a disturbed stretch strikes them alike.
void measure(const Readers& readers, unsigned num_threads, double window_s,
             CacheBenchReport& report) {
  std::vector<std::unique_ptr<BatchRing>> rings;
  for (unsigned i = 0; i < num_threads; ++i) rings.push_back(std::make_unique<BatchRing>());
  std::vector<std::vector<Window>> windows(std::size(kReadPaths));
  for (int round = 0; round < kWindows; ++round)
    for (std::size_t w = 0; w < std::size(kReadPaths); ++w)
      windows[w].push_back(run_threads(readers, kReadPaths[w].path, window_s, rings));
  double limit = 0;
  for (std::size_t w = 0; w < std::size(kReadPaths); ++w) {
    std::sort(windows[w].begin(), windows[w].end(),
              [](const Window& a, const Window& b) { return a.clips_per_s < b.clips_per_s; });
    const Window& best = windows[w].back();
    if (w == 0) limit = best.clips_per_s;
    report.rows.push_back({kReadPaths[w].name, num_threads, best.clips_per_s,
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

// One epoch through the whole path, the delivered values hashed.
Digest128 digest_epoch(const Readers& readers, ReadPath path) {
  const std::size_t value_bytes = path == ReadPath::kMappedF32 ? 4 : 2;
  BatchRing ring;
  cache::ReadScratch scratch;
  DigestStream stream;
  for (std::size_t i = 0; i < readers.order.size(); ++i) {
    deliver(readers, path, i, ring, scratch, i);
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
    deliver(readers, ReadPath::kMappedF16, i, ring, scratch, i);
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
  report.digest_f16 = digest_epoch(readers, ReadPath::kMappedF16);
  report.digest_f32 = digest_epoch(readers, ReadPath::kMappedF32);
  std::vector<unsigned> thread_counts{1};
  if (options.num_threads > 1) thread_counts.push_back(options.num_threads);
  const double window_s = options.seconds / static_cast<double>(thread_counts.size() *
                                                                std::size(kReadPaths) * kWindows);
  for (const unsigned num_threads : thread_counts) measure(readers, num_threads, window_s, report);
  report.verify_s = time_verify(io, options);
  return report;
}

}  // namespace stoker::bench
