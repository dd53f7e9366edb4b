// n_fft 1024 with hop 256: four blocks of 256 samples in a ring, one of them new in each step, and
// the two passes of the transform in pieces.
#if defined(STOKER_AUDIO_MEL_STEPS_1024_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STOKER_AUDIO_MEL_STEPS_1024_INL_H_
#undef STOKER_AUDIO_MEL_STEPS_1024_INL_H_
#else
#define STOKER_AUDIO_MEL_STEPS_1024_INL_H_
#endif

#include <hwy/highway.h>

#include <array>
#include <utility>

#include "stoker/audio/mel/fft1024_generated-inl.h"
#include "stoker/audio/mel/mel_lane_reader.h"
#include "stoker/audio/mel/mel_lanes-inl.h"
#include "stoker/audio/mel/mel_plan.h"

HWY_BEFORE_NAMESPACE();
namespace stoker::audio::HWY_NAMESPACE {
using namespace hwy::HWY_NAMESPACE;

// Brings the blocks of all lanes into the ring.
template <class D, class Sample>
class BlockRing {
 public:
  using T = TFromD<D>;
  static constexpr size_t kWidth = MaxLanes(D());
  using Reader = LaneReader<Sample, kWidth>;

  BlockRing(const LaneLayout& layout, const Reader& reader, const FrameGrid& grid, T* ring)
      : reader_(reader), ring_(ring) {
    for (size_t lane = 0; lane < kWidth; ++lane) {
      starts_[lane] = grid.start_of(layout.frame_of(lane, 0));
      // Blocks after the last one that a lane's frames reach are not looked at.
      const size_t num_frames = layout.frames_in(lane);
      num_blocks_[lane] = num_frames == 0 ? 0 : num_frames + 3;
    }
  }

  void load(size_t block_index) {
    const auto offset = static_cast<int64_t>(block_index * kHop1024);
    for (size_t lane = 0; lane < kWidth; ++lane) {
      if (block_index < num_blocks_[lane]) {
        reader_.point_at(lane, starts_[lane] + offset);
      } else {
        reader_.point_at_zeros(lane);
      }
    }
    T* const place = ring_ + block_index % 4 * kBlock1024 * kWidth;
    for (size_t i = 0; i < kHop1024 / 32; ++i) {
      LoadLanes(D(), reader_.lanes(), std::pair(32 * i, 32 * i + 32), place + i * 33 * kWidth);
    }
  }
  const T* block(size_t block_index) const { return ring_ + block_index % 4 * kBlock1024 * kWidth; }

 private:
  Reader reader_;
  T* ring_;
  std::array<int64_t, kWidth> starts_;
  std::array<size_t, kWidth> num_blocks_;
};

// Columns of pass 1, rows of pass 2. The columns of a step take the place of the rows of the step
// before it, cell by cell: row k1 is read from where columns 2*k1 and 2*k1+1 are written right
// after, while those lines are in the first-level cache. So each step finds its cells turned over:
// what was a column's way through them is a row's.
template <class D, class Sample, class Sink>
class Passes1024 {
 public:
  using T = TFromD<D>;
  static constexpr size_t kWidth = MaxLanes(D());

  // `window` fits the kind of sample.
  struct Tables {
    const MelPlan* plan;
    const T* window;
    T* spectrum;
  };
  Passes1024(const Tables& tables, Sink sink) : tables_(tables), sink_(sink) {}

  void column(const BlockRing<D, Sample>& ring, size_t step, size_t n2) const {
    const size_t at = n2 * kWidth;
    WindowedFft32(D(), ring.block(step) + at, ring.block(step + 1) + at, ring.block(step + 2) + at,
                  ring.block(step + 3) + at, tables_.window + n2 * 32,
                  tables_.plan->template tables<T>().twiddles_1024.data() + n2 * 32,
                  cells(step, n2 / 2) + n2 % 2 * 2 * kWidth, stride(step + 1));
  }

  // Row 16 comes with row 0.
  void row(size_t step, size_t k1) const {
    if (tables_.plan->bands.end_bin <= 384) {
      row_to_383(step, k1);
    } else {
      whole_row(step, k1);
    }
  }

 private:
  void whole_row(size_t step, size_t k1) const {
    const T* const row = cells(step + 1, k1);
    const BinShare<T>* const bins = tables_.plan->template tables<T>().bins.data() + k1 * 32;
    if (k1 == 0) {
      RowZero(D(), row, stride(step), sink_, bins);
      return RowSixteen(D(), row, stride(step), sink_, bins + 16 * 32);
    }
    Fft32Row(D(), row, stride(step), sink_, bins);
  }
  // Speech at 22.05 kHz is looked at up to 8 kHz: a quarter of the bins need not be finished.
  void row_to_383(size_t step, size_t k1) const {
    const T* const row = cells(step + 1, k1);
    const BinShare<T>* const bins = tables_.plan->template tables<T>().bins.data() + k1 * 32;
    if (k1 == 0) {
      RowZeroTo383(D(), row, stride(step), sink_, bins);
      return RowSixteenTo383(D(), row, stride(step), sink_, bins + 16 * 32);
    }
    if (384 - k1 < tables_.plan->bands.end_bin) {
      Fft32RowTo383(D(), row, stride(step), sink_, bins);
    } else {
      Fft32RowTo368(D(), row, stride(step), sink_, bins);
    }
  }
  // From pair of columns to pair of columns in an even step, from row to row in an odd one.
  static size_t stride(size_t step) { return (step % 2 == 0 ? kFar1024 : kNear1024) * kWidth; }
  T* cells(size_t step, size_t index) const { return tables_.spectrum + index * stride(step); }

  Tables tables_;
  Sink sink_;
};

}  // namespace stoker::audio::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
