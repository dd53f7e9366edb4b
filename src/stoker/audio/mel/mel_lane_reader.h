// Gives every SIMD lane a pointer to its next samples, reflected or zero where the utterance ends.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "stoker/audio/mel/mel_frame_grid.h"

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
  std::size_t frames_in(std::size_t lane) const {
    const std::size_t first = std::min(frame_of(lane, 0), num_frames);
    return std::min(frames_per_lane, num_frames - first);
  }

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
    const auto span = static_cast<std::int64_t>(memory_.span_samples);
    const std::int64_t first_inside = std::clamp<std::int64_t>(-position, 0, span);
    const std::int64_t end_inside =
        std::clamp<std::int64_t>(readable_ - position, first_inside, span);
    fill_outside(edge, position, {0, first_inside});
    if (first_inside < end_inside) {
      std::copy_n(samples_.data() + position + first_inside, end_inside - first_inside,
                  edge + first_inside);
    }
    fill_outside(edge, position, {end_inside, span});
    return edge;
  }

  // Places range.first ... range.second-1 of `edge`, all of them on one side of the utterance.
  void fill_outside(Sample* edge, std::int64_t position,
                    std::pair<std::int64_t, std::int64_t> range) const {
    const auto [first, end] = range;
    if (first == end) return;
    if (position + first >= readable_ && position + end <= grid_->fit_samples) {
      std::fill(edge + first, edge + end, Sample{});
      return;
    }
    const std::int64_t last_source = grid_->source_of(position + first, readable_);
    const std::int64_t first_source = grid_->source_of(position + end - 1, readable_);
    // Mostly the stretch is one piece of the utterance backwards.
    if (first_source >= 0 && last_source - first_source == end - first - 1) {
      std::reverse_copy(samples_.data() + first_source, samples_.data() + last_source + 1,
                        edge + first);
      return;
    }
    for (std::int64_t i = first; i < end; ++i) {
      const std::int64_t source = grid_->source_of(position + i, readable_);
      edge[i] = source < 0 ? Sample{} : samples_[static_cast<std::size_t>(source)];
    }
  }

  const FrameGrid* grid_;
  std::span<const Sample> samples_;
  Memory memory_;
  std::int64_t readable_ = 0;
  std::array<const Sample*, kLanes> lanes_{};
};

}  // namespace stoker::audio
