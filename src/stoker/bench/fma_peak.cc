// The burst of multiply-adds that a core is measured by, compiled for each SIMD level.
#include "stoker/base/clock.h"
#include "stoker/base/invariant.h"
#include "stoker/bench/mel_bench.h"

#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2)
#define HWY_BROKEN_EMU128 1
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stoker/bench/fma_peak.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h, which compiles this file again for each level.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace stoker::bench::HWY_NAMESPACE {
namespace {

using namespace hwy::HWY_NAMESPACE;

constexpr std::size_t kRounds = 65536;
constexpr std::size_t kChains = 10;  // latency four, two a cycle: eight would just do

}  // namespace

double burst_gflops() {
  const ScalableTag<float> d;
  using V = VFromD<decltype(d)>;
  // Different beginnings: equal chains would be merged into one.
  V a0 = Set(d, 0.0F), a1 = Set(d, 0.1F), a2 = Set(d, 0.2F), a3 = Set(d, 0.3F), a4 = Set(d, 0.4F);
  V a5 = Set(d, 0.5F), a6 = Set(d, 0.6F), a7 = Set(d, 0.7F), a8 = Set(d, 0.8F), a9 = Set(d, 0.9F);
  const V factor = Set(d, 0.999F);
  const V term = Set(d, 0.001F);
  const Stopwatch watch;
  for (std::size_t i = 0; i < kRounds; ++i) {
    a0 = MulAdd(a0, factor, term);
    a1 = MulAdd(a1, factor, term);
    a2 = MulAdd(a2, factor, term);
    a3 = MulAdd(a3, factor, term);
    a4 = MulAdd(a4, factor, term);
    a5 = MulAdd(a5, factor, term);
    a6 = MulAdd(a6, factor, term);
    a7 = MulAdd(a7, factor, term);
    a8 = MulAdd(a8, factor, term);
    a9 = MulAdd(a9, factor, term);
  }
  const V sum = Add(Add(Add(Add(a0, a1), Add(a2, a3)), Add(Add(a4, a5), Add(a6, a7))), Add(a8, a9));
  // The clock is read only once the sum is there.
  const volatile float used = GetLane(sum);
  (void)used;
  const double seconds = watch.seconds();
  return 2.0 * static_cast<double>(kRounds * kChains * MaxLanes(d)) / seconds * 1e-9;
}

}  // namespace stoker::bench::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stoker::bench {

double fma_burst_gflops(SimdLevel level) {
  switch (level) {
#if HWY_TARGETS & HWY_AVX3
    case SimdLevel::kAvx512:
      return N_AVX3::burst_gflops();
#endif
#if HWY_TARGETS & HWY_AVX2
    case SimdLevel::kAvx2:
      return N_AVX2::burst_gflops();
#endif
#if HWY_TARGETS & HWY_NEON
    case SimdLevel::kNeon:
      return N_NEON::burst_gflops();
#endif
#if HWY_TARGETS & HWY_SCALAR
    case SimdLevel::kScalar:
      return N_SCALAR::burst_gflops();
#endif
    default:
      invariant_broken("a SIMD level this program was compiled for",
                       std::source_location::current());
  }
}

}  // namespace stoker::bench
#endif  // HWY_ONCE
