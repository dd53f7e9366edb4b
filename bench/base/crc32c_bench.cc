// CRC-32C of one record of 90.6 kB (566 frames of 80 f16) that stays in L2, by each way the
// processor has. One run of this program is short; read the best of several on a shared machine.
#include "stoker/base/digest/crc32c.h"

#include <benchmark/benchmark.h>

#include <array>
#include <cstdlib>
#include <memory>

namespace stoker {
namespace {

constexpr std::size_t kRecordBytes = 566 * 80 * 2;

// Records begin on a cache line, as in a shard.
struct alignas(64) Record {
  std::array<std::byte, kRecordBytes> bytes;
};

std::unique_ptr<Record> make_record() {
  auto record = std::make_unique<Record>();
  std::uint32_t state = 1;
  for (std::byte& byte : record->bytes) {
    state = state * 1664525U + 1013904223U;
    byte = static_cast<std::byte>(state >> 24);
  }
  return record;
}

bool all_right = true;

// A fast wrong answer must not count, nor leave the program with success.
void require(benchmark::State& state, bool holds, const char* otherwise) {
  if (holds) return;
  all_right = false;
  state.SkipWithError(otherwise);
}

void bench_checksum(benchmark::State& state, const Crc32cPath& path) {
  const std::unique_ptr<Record> record = make_record();
  const std::uint32_t expected = crc32c_paths().front().checksum(record->bytes, 0);
  std::uint32_t found = expected;
  for (auto _ : state) {
    benchmark::DoNotOptimize(found = path.checksum(record->bytes, 0));
  }
  require(state, found == expected, "the checksum differs from the table's");
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(kRecordBytes));
}

}  // namespace
}  // namespace stoker

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  for (const stoker::Crc32cPath& path : stoker::crc32c_paths()) {
    const std::string name(path.name);
    benchmark::RegisterBenchmark(("crc32c/" + name).c_str(), stoker::bench_checksum, path);
  }
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return stoker::all_right ? EXIT_SUCCESS : EXIT_FAILURE;
}
