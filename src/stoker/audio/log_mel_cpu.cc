// The CPU kernels of LogMel, compiled once per SIMD level.
#include "stoker/audio/mel_lane_reader.h"
#include "stoker/audio/mel_plan.h"
#include "stoker/base/invariant.h"

// One frame at a time is the fallback; between it and AVX2 nothing is worth a level of its own.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2)
#define HWY_BROKEN_EMU128 1
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stoker/audio/log_mel_cpu.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h, which compiles this file again for each level.
#include <hwy/highway.h>

#include "stoker/audio/fft1024_generated-inl.h"
#include "stoker/audio/fft_general-inl.h"
#include "stoker/audio/mel_bands-inl.h"
#include "stoker/audio/mel_lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace stoker::audio::HWY_NAMESPACE {
namespace {

// The part of a run that both transforms share: bins in scratch.bins become rows of `out`.
class RowWriter {
 public:
  RowWriter(const MelPlan& plan, const MelView& out, MelScratch& scratch)
      : plan_(&plan), out_(&out), scratch_(&scratch) {}

  void write(const LaneLayout& layout, std::size_t step, MelStageWatch& watch) const {
    const FloatTag d;
    SumBands(d, plan_->bands, scratch_->bins.get(), scratch_->mels.get());
    watch.stop(MelStage::kBands);
    CompressBands(d, *plan_, scratch_->mels.get());
    void* rows[kLanes];
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
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
    const float* const mels = scratch_->mels.get();
    switch (out_->dtype) {
      case config::MelDtype::kF32:
        return StoreRows(mels, plan_->bands.num_mels, rows, AsF32());
      case config::MelDtype::kF16:
        return StoreRows(mels, plan_->bands.num_mels, rows, AsF16());
      case config::MelDtype::kBf16:
        return StoreRows(mels, plan_->bands.num_mels, rows, AsBf16());
    }
  }

  const MelPlan* plan_;
  const MelView* out_;
  MelScratch* scratch_;
};

template <class Sample>
LaneReader<Sample, kLanes> make_reader(const MelPlan& plan, std::span<const Sample> samples,
                                       MelScratch& scratch, std::size_t span_samples) {
  return {plan.grid,
          samples,
          {.edges = reinterpret_cast<Sample*>(scratch.edges.get()),
           .zeros = reinterpret_cast<const Sample*>(scratch.zeros.get()),
           .span_samples = span_samples}};
}

template <class Sample>
const float* window_of(const MelPlan& plan) {
  return std::is_same_v<Sample, float> ? plan.window_f32.data() : plan.window_i16.data();
}

// ---- n_fft 1024, hop 256: four blocks of 256 samples in a ring, one of them new in each step.

template <class Sample>
void load_block(const LaneLayout& layout, LaneReader<Sample, kLanes>& reader, const FrameGrid& grid,
                std::pair<std::size_t, float*> index_and_place) {
  const auto [block_index, place] = index_and_place;
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    // Blocks after the last one that a lane's frames reach are not looked at.
    const std::size_t last_user = block_index < 3 ? 0 : block_index - 3;
    if (layout.has(lane, last_user)) {
      const auto offset = static_cast<std::int64_t>(block_index * kHop1024);
      reader.point_at(lane, grid.start_of(layout.frame_of(lane, 0)) + offset);
    } else {
      reader.point_at_zeros(lane);
    }
  }
  for (std::size_t i = 0; i < kHop1024 / 32; ++i) {
    LoadLanes(reader.lanes(), 32 * i, 32, place + i * 33 * kLanes);
  }
}

void window_pass(const MelPlan& plan, const float* window, std::size_t step, MelScratch& scratch) {
  const FloatTag d;
  const float* block[4];
  for (std::size_t b = 0; b < 4; ++b) {
    block[b] = scratch.samples.get() + (step + b) % 4 * kBlock1024 * kLanes;
  }
  for (std::size_t n2 = 0; n2 < 32; ++n2) {
    const std::size_t at = n2 * kLanes;
    WindowedFft32(d, block[0] + at, block[1] + at, block[2] + at, block[3] + at, window + n2,
                  plan.twiddles_1024.data() + n2 * 32,
                  scratch.spectrum.get() + n2 * kColumn1024 * kLanes);
  }
}

template <class Sink>
void row_passes(const MelPlan& plan, Sink sink, MelScratch& scratch) {
  const FloatTag d;
  const std::size_t stride = 2 * kLanes;
  const float* const rows = scratch.spectrum.get();
  float* const bins = scratch.bins.get();
  RowZero(d, rows, sink, bins);
  for (std::size_t k1 = 1; k1 < 16; ++k1) {
    float* const up = bins + k1 * kLanes;
    float* const down = bins - k1 * kLanes;
    if (plan.bands.end_bin <= 384) {
      Fft32RowTo383(d, rows + k1 * stride, sink, up, down);
    } else {
      Fft32Row(d, rows + k1 * stride, sink, up, down);
    }
  }
  RowSixteen(d, rows + 16 * stride, sink, bins);
}

template <class Sample, class Sink>
void run_1024(const MelPlan& plan, std::span<const Sample> samples, const MelView& out,
              std::pair<MelScratch*, Sink> scratch_and_sink) {
  MelScratch& scratch = *scratch_and_sink.first;
  const LaneLayout layout(plan.grid.num_frames(samples.size()), kLanes);
  auto reader = make_reader(plan, samples, scratch, kHop1024);
  const RowWriter writer(plan, out, scratch);
  const auto place = [&](std::size_t block_index) {
    return std::pair(block_index, scratch.samples.get() + block_index % 4 * kBlock1024 * kLanes);
  };
  MelStageWatch watch(scratch.times);
  for (std::size_t b = 0; b < 3; ++b) load_block(layout, reader, plan.grid, place(b));
  for (std::size_t step = 0; step < layout.frames_per_lane; ++step) {
    load_block(layout, reader, plan.grid, place(step + 3));
    watch.stop(MelStage::kLoad);
    window_pass(plan, window_of<Sample>(plan), step, scratch);
    watch.stop(MelStage::kTransform);
    row_passes(plan, scratch_and_sink.second, scratch);
    watch.stop(MelStage::kSpectrum);
    writer.write(layout, step, watch);
  }
}

// ---- any other transform: each frame is brought into lanes on its own.

void remove_dc(std::size_t count, float* frame) {
  const FloatTag d;
  auto sum = Zero(d);
  for (std::size_t i = 0; i < count; ++i) sum = Add(sum, Load(d, frame + i * kLanes));
  const auto mean = Mul(sum, Set(d, 1.0F / static_cast<float>(count)));
  for (std::size_t i = 0; i < count; ++i) {
    Store(Sub(Load(d, frame + i * kLanes), mean), d, frame + i * kLanes);
  }
}

// From the end, so that each sample still finds its unchanged predecessor; the first is its own.
void emphasise(float factor, std::size_t count, float* frame) {
  const FloatTag d;
  for (std::size_t i = count; i-- > 0;) {
    const auto before = Load(d, frame + (i == 0 ? 0 : i - 1) * kLanes);
    Store(NegMulAdd(before, Set(d, factor), Load(d, frame + i * kLanes)), d, frame + i * kLanes);
  }
}

// Windowed samples as complex points: pairs of them for an even n_fft, else with zero imaginary
// parts.
void fill_points(const MelPlan& plan, const float* window, const float* frame, float* points) {
  const FloatTag d;
  const std::size_t spread = plan.fft->n_fft % 2 == 0 ? 1 : 2;
  const std::size_t total = 2 * plan.fft->num_points;
  for (std::size_t i = 0; i < total; ++i) Store(Zero(d), d, points + i * kLanes);
  for (std::size_t i = 0; i < plan.window_samples; ++i) {
    Store(Mul(Load(d, frame + i * kLanes), Set(d, window[i])), d, points + i * spread * kLanes);
  }
}

template <class Sample, class Sink>
void run_general(const MelPlan& plan, std::span<const Sample> samples, const MelView& out,
                 std::pair<MelScratch*, Sink> scratch_and_sink) {
  const FloatTag d;
  MelScratch& scratch = *scratch_and_sink.first;
  const std::size_t span = (plan.window_samples + 7) / 8 * 8;
  const LaneLayout layout(plan.grid.num_frames(samples.size()), kLanes);
  auto reader = make_reader(plan, samples, scratch, span);
  const RowWriter writer(plan, out, scratch);
  float* const frame = scratch.samples.get();
  float* const points = scratch.spectrum.get();
  float* const other = points + 2 * plan.fft->num_points * kLanes;
  MelStageWatch watch(scratch.times);
  for (std::size_t step = 0; step < layout.frames_per_lane; ++step) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      if (layout.has(lane, step)) {
        reader.point_at(lane, plan.grid.start_of(layout.frame_of(lane, step)));
      } else {
        reader.point_at_zeros(lane);
      }
    }
    LoadLanes(reader.lanes(), 0, span, frame);
    watch.stop(MelStage::kLoad);
    if (plan.recipe.remove_dc) remove_dc(plan.window_samples, frame);
    if (plan.recipe.preemphasis != 0.0) {
      emphasise(static_cast<float>(plan.recipe.preemphasis), plan.window_samples, frame);
    }
    fill_points(plan, window_of<Sample>(plan), frame, points);
    const float* const transformed = TransformComplex(d, *plan.fft, points, other);
    watch.stop(MelStage::kTransform);
    SplitReal(d, *plan.fft, transformed, scratch_and_sink.second,
              {scratch.bins.get(), plan.bands.end_bin});
    watch.stop(MelStage::kSpectrum);
    writer.write(layout, step, watch);
  }
}

template <class Sample, class Sink>
void run_with(const MelPlan& plan, std::span<const Sample> samples, const MelView& out,
              std::pair<MelScratch*, Sink> scratch_and_sink) {
  if (plan.is_1024) {
    run_1024(plan, samples, out, scratch_and_sink);
  } else {
    run_general(plan, samples, out, scratch_and_sink);
  }
}

template <class Sample>
void run(const MelPlan& plan, std::span<const Sample> samples, const MelView& out,
         MelScratch& scratch) {
  const auto epsilon = Set(FloatTag(), plan.epsilon);
  if (plan.recipe.power == 1) {
    run_with(plan, samples, out, std::pair(&scratch, MagnitudeSink<FloatTag>{epsilon}));
  } else {
    run_with(plan, samples, out, std::pair(&scratch, PowerSink<FloatTag>{epsilon}));
  }
}

}  // namespace

const MelKernels& level_kernels() {
  static constexpr MelKernels kKernels{.num_lanes = kLanes,
                                       .doubled_magnitude = kUsesEstimate,
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
    case SimdLevel::kNeon:
      return N_NEON::level_kernels();
#endif
#if HWY_TARGETS & HWY_SCALAR
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
