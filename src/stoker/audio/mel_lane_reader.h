// Gives every SIMD lane a pointer to its next samples, reflected or zero where the utterance ends.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "stoker/audio/mel_frame_grid.h"

namespace stoker::audio {

// Lane l computes frames l*frames_per_lane ... : neighbours in time share a lane, so a sample that
// serves four frames is brought into vector order once.
struct LaneLayout {
  LaneLayout(std::size_t frames, std::size_t num_lanes)
      : num_frames(frames), frames_per_lane((frames + num_lanes - 1) / num_lanes) {}

  std::size_t frame_of(std::size_t lane, std::size_t step) const {
    return lane * frames_per_lane + step;
  }
  bool has(std::size_t lane, std::size_t step) const { return frame_of(lane, step) < num_frames; }

  std::size_t num_frames;
  std::size_t frames_per_lane;
};

template <class Sample, std::size_t kLanes>
class LaneReader {
 public:
  // `edges` holds span_samples for each lane, `zeros` span_samples.
  struct Memory {
    Sample* edges;
    const Sample* zeros;
    std::size_t span_samples;
  };

  LaneReader(const FrameGrid& grid, std::span<const Sample> samples, Memory memory)
      : grid_(&grid), samples_(samples), memory_(memory) {
    const auto given = static_cast<std::int64_t>(samples.size());
    readable_ = grid.fit_samples > 0 ? std::min(given, grid.fit_samples) : given;
  }

  void point_at(std::size_t lane, std::int64_t position) {
    const auto span = static_cast<std::int64_t>(memory_.span_samples);
    const bool inside = position >= 0 && position + span <= readable_;
    lanes_[lane] = inside ? samples_.data() + position : fill_edge(lane, position);
  }
  void point_at_zeros(std::size_t lane) { lanes_[lane] = memory_.zeros; }

  const Sample* const* lanes() const { return lanes_.data(); }

 private:
  const Sample* fill_edge(std::size_t lane, std::int64_t position) {
    Sample* const edge = memory_.edges + lane * memory_.span_samples;
    for (std::size_t i = 0; i < memory_.span_samples; ++i) {
      const std::int64_t source =
          grid_->source_of(position + static_cast<std::int64_t>(i), readable_);
      edge[i] = source < 0 ? Sample{} : samples_[static_cast<std::size_t>(source)];
    }
    return edge;
  }

  const FrameGrid* grid_;
  std::span<const Sample> samples_;
  Memory memory_;
  std::int64_t readable_ = 0;
  std::array<const Sample*, kLanes> lanes_{};
};

}  // namespace stoker::audio
