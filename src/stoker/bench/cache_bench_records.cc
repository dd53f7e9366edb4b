#include "stoker/bench/cache_bench_records.h"

#include <fmt/format.h>

#include "stoker/base/bytes.h"
#include "stoker/base/philox.h"

namespace stoker::bench {
namespace {

class BenchWorker final : public cache::RecordMaker::Worker {
 public:
  explicit BenchWorker(const BenchRecordMaker& maker) : maker_(maker) {}

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

}  // namespace

BenchRecordMaker::BenchRecordMaker(std::size_t num_records) {
  for (std::size_t i = 0; i < num_records; ++i) ids_.push_back(fmt::format("clip{:06}", i));
}

std::unique_ptr<cache::RecordMaker::Worker> BenchRecordMaker::make_worker() const {
  return std::make_unique<BenchWorker>(*this);
}

}  // namespace stoker::bench
