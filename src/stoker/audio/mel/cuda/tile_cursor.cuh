// Shares tiles evenly among blocks without a word between them: every warp finds the tile of a
// given rank by itself.
#pragma once

#include "stoker/audio/mel/cuda/tile.cuh"

namespace stoker::audio::device {

enum class TileKind { kFrames, kPadding };

// Numbers the tiles of one kind: those of utterance 0, of utterance 1, and so on. A warp calls it
// together. Ranks only grow from call to call, so that each length is read once: 32 at a time, one
// a lane.
class TileCursor {
 public:
  __device__ TileCursor(const DeviceMelTask& task, TileKind kind, int tile_frames)
      : task_(task), kind_(kind), tile_frames_(tile_frames) {}

  // Returns false when there are not so many.
  __device__ bool find(int rank, MelTile& tile) {
    while (rank >= base_ + num_tiles_) {
      base_ += num_tiles_;
      num_tiles_ = 0;
      if (first_ + 32 >= task_.num_utterances) return false;
      first_ += 32;
      read_window();
    }
    const int local = rank - base_;
    const int owner = 31 - __clz(static_cast<int>(__ballot_sync(kAllLanes, before_ <= local)));
    const int index = local - __shfl_sync(kAllLanes, before_, owner);
    tile.num_samples = __shfl_sync(kAllLanes, num_samples_, owner);
    tile.utterance = first_ + owner;
    tile.begin = task_.begins[tile.utterance];
    const int num_frames = frames_of(task_, tile.num_samples);
    const int skipped = kind_ == TileKind::kPadding ? num_tiles_of(num_frames) : 0;
    tile.first_frame = (skipped + index) * tile_frames_;
    tile.num_rows = min(tile_frames_, task_.padded_frames - tile.first_frame);
    tile.num_frames = max(0, min(tile.num_rows, num_frames - tile.first_frame));
    return true;
  }

 private:
  static constexpr unsigned kAllLanes = 0xFFFFFFFFU;

  __device__ int num_tiles_of(int num_frames) const {
    return (num_frames + tile_frames_ - 1) / tile_frames_;
  }

  __device__ void read_window() {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int utterance = first_ + lane;
    int count = 0;
    if (utterance < task_.num_utterances) {
      num_samples_ = task_.lengths[utterance];
      count = num_tiles_of(frames_of(task_, num_samples_));
      if (kind_ == TileKind::kPadding) count = num_tiles_of(task_.padded_frames) - count;
    }
    int sum = count;
    for (int step = 1; step < 32; step *= 2) {
      const int other = __shfl_up_sync(kAllLanes, sum, step);
      if (lane >= step) sum += other;
    }
    before_ = sum - count;
    num_tiles_ = __shfl_sync(kAllLanes, sum, 31);
  }

  const DeviceMelTask& task_;
  TileKind kind_;
  int tile_frames_;
  int first_ = -32;      // utterance of lane 0
  int base_ = 0;         // rank of the window's first tile
  int num_tiles_ = 0;    // in the window
  int before_ = 0;       // tiles of the window before this lane's utterance
  int num_samples_ = 0;  // of this lane's utterance
};

}  // namespace stoker::audio::device
