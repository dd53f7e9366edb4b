// The CPU kernels of LogMel, compiled once per SIMD level.
#include <array>
#include <span>
#include <utility>

#include "stoker/audio/mel_lane_reader.h"
#include "stoker/audio/mel_plan.h"
#include "stoker/base/checked.h"
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

// The part of a run that both transforms share: band sums in scratch.mels become rows of `out`.
class RowWriter {
 public:
  RowWriter(const MelPlan& plan, const MelView& out, MelScratch& scratch)
      : plan_(&plan), out_(&out), scratch_(&scratch) {}

  void write(const LaneLayout& layout, std::size_t step, MelStageWatch& watch) const {
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
      StoreRows(scratch_->mels.get() + kLanes, plan_->bands.num_mels, rows, compress, convert);
    });
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

void clear_bands(const MelPlan& plan, MelScratch& scratch) {
  const FloatTag d;
  for (std::size_t m = 0; m < plan.bands.num_mels + 2; ++m) {
    Store(Zero(d), d, scratch.mels.get() + m * kLanes);
  }
}

// ---- n_fft 1024, hop 256: four blocks of 256 samples in a ring, one of them new in each step.

// Brings the blocks of all lanes into the ring.
template <class Sample>
class BlockRing {
 public:
  BlockRing(const LaneLayout& layout, LaneReader<Sample, kLanes> reader, const FrameGrid& grid,
            float* ring)
      : reader_(reader), ring_(ring) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      starts_[lane] = grid.start_of(layout.frame_of(lane, 0));
      // Blocks after the last one that a lane's frames reach are not looked at.
      const std::size_t num_frames = layout.frames_in(lane);
      num_blocks_[lane] = num_frames == 0 ? 0 : num_frames + 3;
    }
  }

  void load(std::size_t block_index) {
    const auto offset = static_cast<std::int64_t>(block_index * kHop1024);
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      if (block_index < num_blocks_[lane]) {
        reader_.point_at(lane, starts_[lane] + offset);
      } else {
        reader_.point_at_zeros(lane);
      }
    }
    float* const place = ring_ + block_index % 4 * kBlock1024 * kLanes;
    for (std::size_t i = 0; i < kHop1024 / 32; ++i) {
      LoadLanes(reader_.lanes(), 32 * i, 32, place + i * 33 * kLanes);
    }
  }
  const float* block(std::size_t block_index) const {
    return ring_ + block_index % 4 * kBlock1024 * kLanes;
  }

 private:
  LaneReader<Sample, kLanes> reader_;
  float* ring_;
  std::array<std::int64_t, kLanes> starts_;
  std::array<std::size_t, kLanes> num_blocks_;
};

// The two passes of one transform, in pieces: columns of pass 1, rows of pass 2.
template <class Sample, class Sink>
class Passes1024 {
 public:
  Passes1024(const MelPlan& plan, MelScratch& scratch, Sink sink)
      : plan_(&plan), scratch_(&scratch), sink_(sink) {}

  void column(const BlockRing<Sample>& ring, std::size_t step, std::size_t n2) const {
    const std::size_t at = n2 * kLanes;
    WindowedFft32(FloatTag(), ring.block(step) + at, ring.block(step + 1) + at,
                  ring.block(step + 2) + at, ring.block(step + 3) + at,
                  window_of<Sample>(*plan_) + n2, plan_->twiddles_1024.data() + n2 * 32,
                  spectrum(step) + n2 * kColumn1024 * kLanes);
  }

  void row(std::size_t step, std::size_t k1) const {
    if (plan_->bands.end_bin <= 384) {
      row_to_383(spectrum(step) + k1 * 2 * kLanes, k1);
    } else {
      whole_row(spectrum(step) + k1 * 2 * kLanes, k1);
    }
  }

 private:
  void whole_row(const float* row, std::size_t k1) const {
    const FloatTag d;
    const BinShare* const bins = plan_->bins.data();
    if (k1 == 0) return RowZero(d, row, sink_, bins);
    if (k1 == 16) return RowSixteen(d, row, sink_, bins);
    Fft32Row(d, row, sink_, bins + k1, bins - k1);
  }
  // Speech at 22.05 kHz is looked at up to 8 kHz: a quarter of the bins need not be finished.
  void row_to_383(const float* row, std::size_t k1) const {
    const FloatTag d;
    const BinShare* const bins = plan_->bins.data();
    if (k1 == 0) return RowZeroTo383(d, row, sink_, bins);
    if (k1 == 16) return RowSixteenTo383(d, row, sink_, bins);
    if (384 - k1 < plan_->bands.end_bin) {
      Fft32RowTo383(d, row, sink_, bins + k1, bins - k1);
    } else {
      Fft32RowTo368(d, row, sink_, bins + k1, bins - k1);
    }
  }
  float* spectrum(std::size_t step) const {
    return scratch_->spectrum.get() + step % 2 * kSpectrum1024 * kLanes;
  }

  const MelPlan* plan_;
  MelScratch* scratch_;
  Sink sink_;
};

// The columns of one step are made between the rows of the step before: they wait for the
// second-level cache, the rows for the multipliers.
template <class Sample, class Sink>
void run_1024(const MelPlan& plan, std::span<const Sample> samples, const MelView& out,
              std::pair<MelScratch*, Sink> scratch_and_sink) {
  MelScratch& scratch = *scratch_and_sink.first;
  const LaneLayout layout(plan.grid.num_frames(samples.size()), kLanes);
  BlockRing<Sample> ring(layout, make_reader(plan, samples, scratch, kHop1024), plan.grid,
                         scratch.samples.get());
  const Passes1024<Sample, Sink> passes(plan, scratch, scratch_and_sink.second);
  const RowWriter writer(plan, out, scratch);
  MelStageWatch watch(scratch.times);
  const std::size_t num_steps = layout.frames_per_lane;
  for (std::size_t b = 0; b < 3; ++b) ring.load(b);
  for (std::size_t step = 0; step <= num_steps; ++step) {
    const bool has_columns = step < num_steps;
    const bool has_rows = step > 0;
    if (has_columns) ring.load(step + 3);
    watch.stop(MelStage::kLoad);
    clear_bands(plan, scratch);
    for (std::size_t k1 = 0; k1 < 16; ++k1) {
      if (has_rows) passes.row(step - 1, k1);
      if (!has_columns) continue;
      passes.column(ring, step, 2 * k1);
      passes.column(ring, step, 2 * k1 + 1);
    }
    if (has_rows) passes.row(step - 1, 16);
    watch.stop(MelStage::kTransform);
    if (has_rows) writer.write(layout, step - 1, watch);
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
  const std::size_t span = round_up<std::size_t>(plan.window_samples, kPieceSamples);
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
    clear_bands(plan, scratch);
    SplitReal(d, *plan.fft, transformed, scratch_and_sink.second,
              std::pair(plan.bins.data(), plan.bands.end_bin));
    watch.stop(MelStage::kTransform);
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
    run_with(plan, samples, out,
             std::pair(&scratch, MagnitudeSink<FloatTag>{{scratch.mels.get()}, epsilon}));
  } else {
    run_with(plan, samples, out,
             std::pair(&scratch, PowerSink<FloatTag>{{scratch.mels.get()}, epsilon}));
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
