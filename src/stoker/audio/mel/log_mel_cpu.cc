// The CPU kernels of LogMel, compiled once per SIMD level.
#include <span>
#include <utility>

#include "stoker/audio/mel/mel_lane_reader.h"
#include "stoker/audio/mel/mel_plan.h"
#include "stoker/base/checked.h"
#include "stoker/base/invariant.h"

// One frame at a time is the fallback; between it and AVX2 nothing is worth a level of its own.
#define HWY_DISABLED_TARGETS \
  (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
#define HWY_BROKEN_EMU128 1
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stoker/audio/mel/log_mel_cpu.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h, which compiles this file again for each level.
#include <hwy/highway.h>

#include "stoker/audio/mel/fft_general-inl.h"
#include "stoker/audio/mel/mel_bands-inl.h"
#include "stoker/audio/mel/mel_lanes-inl.h"
#include "stoker/audio/mel/mel_rows-inl.h"
#include "stoker/audio/mel/mel_steps_1024-inl.h"

HWY_BEFORE_NAMESPACE();
namespace stoker::audio::HWY_NAMESPACE {
namespace {

template <class D, class T = TFromD<D> >
HWY_NOINLINE void remove_dc(D d, size_t count, T* frame) {
  auto sum = Zero(d);
  for (size_t i = 0; i < count; ++i) sum = Add(sum, Load(d, frame + i * MaxLanes(d)));
  const auto mean = Mul(sum, Set(d, T(1) / static_cast<T>(count)));
  for (size_t i = 0; i < count; ++i) {
    T* const at = frame + i * MaxLanes(d);
    Store(Sub(Load(d, at), mean), d, at);
  }
}

// From the end, so that each sample still finds its unchanged predecessor; the first is its own.
template <class D, class T = TFromD<D> >
HWY_NOINLINE void emphasise(D d, T factor, size_t count, T* frame) {
  for (size_t i = count; i-- > 0;) {
    T* const at = frame + i * MaxLanes(d);
    const auto before = Load(d, i == 0 ? at : at - MaxLanes(d));
    Store(NegMulAdd(before, Set(d, factor), Load(d, at)), d, at);
  }
}

// Windowed samples as complex points: pairs of them for an even n_fft, else with zero imaginary
// parts.
template <class D, class T = TFromD<D> >
HWY_NOINLINE void fill_points(D d, const MelPlan& plan, const T* window,
                              std::pair<const T*, T*> frame_and_points) {
  const auto [frame, points] = frame_and_points;
  const size_t spread = plan.fft->n_fft % 2 == 0 ? 1 : 2;
  const size_t total = 2 * plan.fft->num_points;
  for (size_t i = 0; i < total; ++i) Store(Zero(d), d, points + i * MaxLanes(d));
  for (size_t i = 0; i < plan.window_samples; ++i) {
    Store(Mul(Load(d, frame + i * MaxLanes(d)), Set(d, window[i])), d,
          points + i * spread * MaxLanes(d));
  }
}

// Part of a worker's memory as the numbers a plan computes with.
template <class T>
T* reals(const MelScratch::Floats& memory) {
  return reinterpret_cast<T*>(memory.get());
}

// The part of a run that both transforms share: band sums in scratch.mels become rows of `out`.
template <class D>
class RowWriter {
 public:
  using T = TFromD<D>;
  static constexpr std::size_t kWidth = MaxLanes(D());

  RowWriter(const MelPlan& plan, const MelView& out, MelScratch& scratch)
      : plan_(&plan), out_(&out), scratch_(&scratch) {}

  void clear() const {
    const D d;
    for (std::size_t m = 0; m < plan_->bands.num_mels + 2; ++m) {
      Store(Zero(d), d, reals<T>(scratch_->mels) + m * kWidth);
    }
  }

  void write(const LaneLayout& layout, std::size_t step, MelStageWatch& watch) const {
    void* rows[kWidth];
    for (std::size_t lane = 0; lane < kWidth; ++lane) {
      rows[lane] = layout.has(lane, step) ? row(layout.frame_of(lane, step))
                                          : static_cast<void*>(scratch_->unused_row.get());
    }
    store(rows);
    watch.stop(MelStage::kLogStore);
  }

 private:
  void* row(std::size_t frame) const {
    const std::size_t row_bytes = out_->row_stride * config::bytes_per_value(out_->dtype);
    return static_cast<char*>(out_->data) + frame * row_bytes;
  }
  void store(void* const* rows) const {
    switch (out_->dtype) {
      case config::MelDtype::kF32:
        return store_as(rows, AsF32());
      case config::MelDtype::kF16:
        return store_as(rows, AsF16());
      case config::MelDtype::kBf16:
        return store_as(rows, AsBf16());
    }
  }
  template <class Convert>
  void store_as(void* const* rows, Convert convert) const {
    WithCompression(*plan_, [&](auto compress) HWY_ATTR {
      // The first vector holds what falls below the first band.
      T* const first = reals<T>(scratch_->mels) + kWidth;
      StoreRows(D(), std::pair(first, plan_->bands.num_mels), rows, std::pair(compress, convert));
    });
  }

  const MelPlan* plan_;
  const MelView* out_;
  MelScratch* scratch_;
};

// What a run needs besides the samples.
template <class Sink>
struct Run {
  const MelPlan* plan;
  const MelView* out;
  MelScratch* scratch;
  Sink sink;
};

template <class D, class Sample>
LaneReader<Sample, MaxLanes(D())> make_reader(const MelPlan& plan, std::span<const Sample> samples,
                                              MelScratch& scratch, std::size_t span_samples) {
  return {plan.grid,
          samples,
          {.edges = reinterpret_cast<Sample*>(scratch.edges.get()),
           .zeros = reinterpret_cast<const Sample*>(scratch.zeros.get()),
           .span_samples = span_samples}};
}

template <class T, class Sample>
const T* window_of(const MelPlan& plan) {
  const MelTables<T>& tables = plan.tables<T>();
  return std::is_same_v<Sample, float> ? tables.window_f32.data() : tables.window_i16.data();
}

// The columns of one step are made between the rows of the step before, whose place they take.
template <class D, class Sample, class Sink>
void run_1024(const Run<Sink>& run, std::span<const Sample> samples) {
  using T = TFromD<D>;
  const MelPlan& plan = *run.plan;
  MelScratch& scratch = *run.scratch;
  const LaneLayout layout(plan.grid.num_frames(samples.size()), MaxLanes(D()));
  BlockRing<D, Sample> ring(layout, make_reader<D>(plan, samples, scratch, kHop1024), plan.grid,
                            reals<T>(scratch.samples));
  const Passes1024<D, Sample, Sink> passes(
      {&plan, window_of<T, Sample>(plan), reals<T>(scratch.spectrum)}, run.sink);
  const RowWriter<D> writer(plan, *run.out, scratch);
  MelStageWatch watch(scratch.times);
  const std::size_t num_steps = layout.frames_per_lane;
  for (std::size_t b = 0; b < 3; ++b) ring.load(b);
  writer.clear();
  for (std::size_t step = 0; step <= num_steps; ++step) {
    const bool has_columns = step < num_steps;
    const bool has_rows = step > 0;
    if (has_columns) ring.load(step + 3);
    watch.stop(MelStage::kLoad);
    for (std::size_t k1 = 0; k1 < 16; ++k1) {
      if (has_rows) passes.row(step - 1, k1);
      if (!has_columns) continue;
      passes.column(ring, step, 2 * k1);
      passes.column(ring, step, 2 * k1 + 1);
    }
    watch.stop(MelStage::kTransform);
    if (has_rows) writer.write(layout, step - 1, watch);
  }
}

// Any other transform: each frame is brought into lanes on its own, in f64.
template <class Sample, class Sink>
void run_general(const Run<Sink>& run, std::span<const Sample> samples) {
  const DoubleTag d;
  const MelPlan& plan = *run.plan;
  MelScratch& scratch = *run.scratch;
  const std::size_t span = round_up<std::size_t>(plan.window_samples, kPieceSamples);
  const LaneLayout layout(plan.grid.num_frames(samples.size()), MaxLanes(d));
  auto reader = make_reader<DoubleTag>(plan, samples, scratch, span);
  const RowWriter<DoubleTag> writer(plan, *run.out, scratch);
  double* const frame = reals<double>(scratch.samples);
  double* const points = reals<double>(scratch.spectrum);
  MelStageWatch watch(scratch.times);
  writer.clear();
  for (std::size_t step = 0; step < layout.frames_per_lane; ++step) {
    for (std::size_t lane = 0; lane < MaxLanes(d); ++lane) {
      if (layout.has(lane, step)) {
        reader.point_at(lane, plan.grid.start_of(layout.frame_of(lane, step)));
      } else {
        reader.point_at_zeros(lane);
      }
    }
    LoadLanes(d, reader.lanes(), std::pair<std::size_t, std::size_t>(0, span), frame);
    watch.stop(MelStage::kLoad);
    if (plan.recipe.remove_dc) remove_dc(d, plan.window_samples, frame);
    if (plan.recipe.preemphasis != 0.0) {
      emphasise(d, plan.recipe.preemphasis, plan.window_samples, frame);
    }
    fill_points(d, plan, window_of<double, Sample>(plan),
                std::pair<const double*, double*>(frame, points));
    const double* const transformed =
        TransformComplex(d, *plan.fft, points, points + 2 * plan.fft->num_points * MaxLanes(d));
    SplitReal(d, *plan.fft, transformed, run.sink,
              std::pair(plan.tables_f64.bins.data(), plan.bands.end_bin));
    watch.stop(MelStage::kTransform);
    writer.write(layout, step, watch);
  }
}

template <class D, template <class> class Sink, class Sample>
void run_with(const MelPlan& plan, std::span<const Sample> samples, const MelView& out,
              MelScratch& scratch) {
  using T = TFromD<D>;
  const Run<Sink<D> > run{
      &plan, &out, &scratch, {{reals<T>(scratch.mels)}, Set(D(), static_cast<T>(plan.epsilon))}};
  if constexpr (sizeof(T) == sizeof(double)) {
    if (!plan.is_1024) return run_general(run, samples);
  }
  run_1024<D>(run, samples);
}

template <class Sample>
void run(const MelPlan& plan, std::span<const Sample> samples, const MelView& out,
         MelScratch& scratch) {
  const bool has_root = plan.recipe.power == 1;
  if (!plan.is_f64) {
    return has_root ? run_with<FloatTag, MagnitudeSink>(plan, samples, out, scratch)
                    : run_with<FloatTag, PowerSink>(plan, samples, out, scratch);
  }
  return has_root ? run_with<DoubleTag, MagnitudeSink>(plan, samples, out, scratch)
                  : run_with<DoubleTag, PowerSink>(plan, samples, out, scratch);
}

}  // namespace

const MelKernels& level_kernels() {
  static constexpr MelKernels kKernels{.num_lanes = MaxLanes(FloatTag()),
                                       .num_lanes_f64 = MaxLanes(DoubleTag()),
                                       .run_i16 = run<std::int16_t>,
                                       .run_f32 = run<float>};
  return kKernels;
}

}  // namespace stoker::audio::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stoker::audio {

const MelKernels& mel_kernels(SimdLevel level) {
  switch (level) {
#if HWY_TARGETS & HWY_AVX3
    case SimdLevel::kAvx512:
      return N_AVX3::level_kernels();
#endif
#if HWY_TARGETS & HWY_AVX2
    case SimdLevel::kAvx2:
      return N_AVX2::level_kernels();
#endif
#if HWY_TARGETS & HWY_NEON
    // ARM's plain instructions include NEON.
    case SimdLevel::kScalar:
    case SimdLevel::kNeon:
      return N_NEON::level_kernels();
#endif
#if (HWY_TARGETS & HWY_SCALAR) && !(HWY_TARGETS & HWY_NEON)
    case SimdLevel::kScalar:
      return N_SCALAR::level_kernels();
#endif
    default:
      invariant_broken("a SIMD level this program was compiled for",
                       std::source_location::current());
  }
}

}  // namespace stoker::audio
#endif  // HWY_ONCE
