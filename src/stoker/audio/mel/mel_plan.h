// What LogMel prepares once per recipe and level, and what one worker writes into; internal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "stoker/audio/mel/fft_factors.h"
#include "stoker/audio/mel/log_mel.h"
#include "stoker/audio/mel/mel_filterbank.h"
#include "stoker/audio/mel/mel_frame_grid.h"
#include "stoker/audio/mel/mel_stage_times.h"
#include "stoker/base/aligned_bytes.h"
#include "stoker/base/simd_level.h"
#include "stoker/config/mel_recipe.h"

namespace stoker::audio {

struct MelPlan;
struct MelScratch;

// The kernels of one SIMD level. They write num_frames rows of floor-and-log values.
struct MelKernels {
  std::size_t num_lanes;  // f32
  std::size_t num_lanes_f64;
  void (*run_i16)(const MelPlan&, std::span<const std::int16_t>, const MelView&, MelScratch&);
  void (*run_f32)(const MelPlan&, std::span<const float>, const MelView&, MelScratch&);
};

const MelKernels& mel_kernels(SimdLevel level);

// What one bin of the transform gives to the bands.
template <class Real>
struct BinShare {
  Real falling;
  Real rising;
  // Where in MelScratch::mels the band is in which it falls; the next one follows.
  std::size_t place_bytes;
};

// What depends on the precision of a plan. The generated code for 1024 reads its tables from the
// first value to the last, so that they take little of the first-level cache.
template <class Real>
struct MelTables {
  std::vector<Real> window_i16;  // for samples as int16 * 65536; 1024: [n2][n1]
  std::vector<Real> window_f32;
  std::vector<Real> twiddles_1024;   // [n2][16] pairs: exp(-2*pi*i*n2*k1/1024)
  std::vector<BinShare<Real>> bins;  // n_fft/2 + 1 of them; 1024: [k1][k2]
};

struct MelPlan {
  MelPlan(const config::MelRecipe& recipe, SimdLevel level, MelArithmetic arithmetic);

  template <class Real>
  const MelTables<Real>& tables() const {
    if constexpr (sizeof(Real) == sizeof(float)) {
      return tables_f32;
    } else {
      return tables_f64;
    }
  }
  std::size_t num_lanes() const { return is_f64 ? kernels->num_lanes_f64 : kernels->num_lanes; }

  config::MelRecipe recipe;
  SimdLevel level;
  const MelKernels* kernels;
  FrameGrid grid;
  bool is_1024;         // n_fft 1024 with hop 256 and nothing before the window: generated code
  bool is_f64;          // computed in f64 up to the last rounding
  bool finishes_whole;  // a step after the log needs the whole utterance in f32 first
  std::size_t window_samples;  // of the tables: n_fft or win_samples
  MelTables<float> tables_f32;
  MelTables<double> tables_f64;             // one of the two is empty
  std::optional<FftFactorsOf<double>> fft;  // of the general path
  MelBands bands;
  double epsilon;  // under the root
  double floor;
  double log_factor;  // times ln
};

// Memory of one worker; parts are aligned to 128 bytes. A plan in f64 keeps doubles in samples,
// spectrum and mels.
struct MelScratch {
  using Floats = AlignedArray<float>;
  static Floats floats(std::size_t count);

  MelScratch(const MelPlan& plan, std::size_t max_samples);

  Floats samples;     // 1024: ring of four blocks; general: one frame
  Floats spectrum;    // 1024: between the passes; general: two buffers in turn
  Floats mels;        // the first vector belongs to no band
  Floats edges;       // samples of lanes whose frame reaches beyond the utterance
  Floats zeros;       // what lanes without a frame read
  Floats unused_row;  // where lanes without a frame write
  Floats whole;       // finishes_whole: the utterance before the last step
  std::size_t whole_rows = 0;
  MelStageTimes* times = nullptr;
};

// Lanes are read in whole pieces of this many samples.
inline constexpr std::size_t kPieceSamples = 8;

inline constexpr std::size_t kHop1024 = 256;
// A block of the ring: 256 vectors, one more after each 32 so that columns spread over the cache.
inline constexpr std::size_t kBlock1024 = 8 * 33;
// Between the passes: 16 x 16 cells of two complex vectors each. Cells are kNear1024 apart one way
// and kFar1024, which spreads them over the cache, the other way.
inline constexpr std::size_t kNear1024 = 4;
inline constexpr std::size_t kFar1024 = 16 * kNear1024 + 2;
inline constexpr std::size_t kSpectrum1024 = 16 * kFar1024;

}  // namespace stoker::audio
