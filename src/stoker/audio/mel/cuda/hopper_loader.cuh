// The warp of the Hopper kernel that brings samples in and writes padding.
#pragma once

#include <cstring>

#include "stoker/audio/mel/cuda/hopper_block.cuh"
#include "stoker/audio/mel/cuda/tile_cursor.cuh"

namespace stoker::audio::device::hopper {

template <class Shape>
class Loader {
 public:
  __device__ Loader(const DeviceMelTask& task, Shared<Shape>& shared, int lane)
      : task_(task),
        shared_(shared),
        frames_(task, TileKind::kFrames, kTileFrames),
        padding_(task, TileKind::kPadding, kTileFrames),
        lane_(lane) {}

  __device__ void run() {
    const int step = static_cast<int>(gridDim.x);
    int rank = static_cast<int>(blockIdx.x);
    MelTile next{};
    bool has_next = frames_.find(rank, next);
    while (has_next) {
      const MelTile tile = next;
      rank += step;
      has_next = frames_.find(rank, next);
      load(tile);
      for (int i = 0; i < kPaddingPerTile; ++i) write_padding();
    }
    wait_for_slot();
    post({.utterance = 0, .first_frame = 0, .num_frames = -1, .num_rows = 0});
    while (write_padding()) {
    }
  }

 private:
  using Sample = typename Shape::Sample;
  using Value = typename Shape::Value;

  // Positions begin ... end-1 of an utterance; the tile begins at `first`.
  struct Stretch {
    int first;
    int begin;
    int end;
  };

  __device__ void load(const MelTile& tile) {
    const int slot = wait_for_slot();
    Sample* const to = shared_.samples[slot];
    const Sample* const from = static_cast<const Sample*>(task_.samples) + tile.begin;
    const int first = task_.first_start + tile.first_frame * kHopSamples;
    const int needed = pair_samples(tile.num_frames);
    const int begin = max(first, 0);
    const int end = max(begin, min(first + needed, tile.num_samples & ~7));
    if (lane_ == 0 && end > begin) {
      const auto num_bytes = static_cast<std::uint32_t>((end - begin) * sizeof(Sample));
      shared_.samples_full[slot].expect(num_bytes);
      copy_in(to + (begin - first), from + begin, num_bytes, shared_.samples_full[slot]);
    }
    // What the bulk copy leaves out: before the utterance, and from its last group of 8 on.
    fill(to, tile, {.first = first, .begin = first, .end = min(begin, first + needed)});
    fill(to, tile, {.first = first, .begin = end, .end = first + needed});
    publish_to_copies();
    post({.utterance = tile.utterance,
          .first_frame = tile.first_frame,
          .num_frames = tile.num_frames,
          .num_rows = tile.num_rows});
    ++count_;
  }

  // Several loads are under way before the first is needed.
  __device__ void fill(Sample* to, const MelTile& tile, const Stretch& stretch) {
    constexpr int kBatch = 6;
    const Sample* const from = static_cast<const Sample*>(task_.samples) + tile.begin;
    for (int start = stretch.begin + lane_; start < stretch.end; start += 32 * kBatch) {
      Sample values[kBatch];
#pragma unroll
      for (int k = 0; k < kBatch; ++k) {
        const int source = source_of(start + 32 * k, tile.num_samples, task_.reflects != 0);
        values[k] = start + 32 * k < stretch.end && source >= 0 ? from[source] : Sample{};
      }
#pragma unroll
      for (int k = 0; k < kBatch; ++k) {
        if (start + 32 * k < stretch.end) to[start + 32 * k - stretch.first] = values[k];
      }
    }
  }

  // Until the slot of the next tile has been read to the end.
  __device__ int wait_for_slot() {
    const int slot = count_ % Shape::kSampleSlots;
    shared_.samples_empty[slot].wait((count_ / Shape::kSampleSlots & 1) ^ 1);
    return slot;
  }

  // Every lane arrives, for it may have written samples of its own.
  __device__ void post(const TileRecord& record) {
    if (lane_ == 0) shared_.records[count_ % kRecords] = record;
    shared_.samples_full[count_ % Shape::kSampleSlots].arrive();
  }

  // The next tile that has no frame; false when there is none.
  __device__ bool write_padding() {
    MelTile tile;
    if (!padding_.find(padding_rank_, tile)) return false;
    padding_rank_ += static_cast<int>(gridDim.x);
    const int row_bytes = task_.num_mels * static_cast<int>(sizeof(Value));
    unsigned char* const to = row_of<Value>(task_, tile.utterance, tile.first_frame);
    const std::uint32_t word = padding_word(task_);
    with_widest_unit(row_bytes, [&](auto unit) {
      std::memcpy(&unit, &word, sizeof(unit) < 4 ? sizeof(unit) : 4);
      if constexpr (sizeof(unit) >= 8) unit.y = word;
      if constexpr (sizeof(unit) == 16) unit.z = unit.w = word;
      auto* const units = reinterpret_cast<decltype(unit)*>(to);
      const int num_units = tile.num_rows * row_bytes / static_cast<int>(sizeof(unit));
      for (int i = lane_; i < num_units; i += 32) units[i] = unit;
    });
    return true;
  }

  const DeviceMelTask& task_;
  Shared<Shape>& shared_;
  TileCursor frames_;
  TileCursor padding_;
  int lane_;
  int count_ = 0;
  int padding_rank_ = static_cast<int>(blockIdx.x);
};

}  // namespace stoker::audio::device::hopper
