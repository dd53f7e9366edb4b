// The few settings that most programs give in code; everything else keeps its default or comes from
// a file through open_feed().
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "stoker/cuda/device.h"

namespace stoker::feed {

struct FeedOptions {
  std::string data;        // folder or metadata file
  std::string cache = {};  // empty: beside the data
  std::string preset = "hifigan";
  std::uint32_t batch_frames = 40'000;  // over all ranks
  std::uint32_t batch_size = 0;         // rows instead of frames
  std::uint64_t seed = 42;
  std::optional<unsigned> num_workers = {};           // nothing: the cores allowed
  std::optional<unsigned> prefetch_buffer_size = {};  // batches; nothing: from the memory
  std::string preprocessing_mode = "auto";            // auto, precompute, runtime
  std::string batch_dtype = "auto";                   // auto (the cache's), f32, f16, bf16
  // Nothing: as torchrun, Slurm or Open MPI tell this process, else 0 of 1.
  std::optional<std::uint32_t> rank = {};
  std::optional<std::uint32_t> world_size = {};
  Device device = Device::cpu();  // where mel() and tokens() of a batch point
};

}  // namespace stoker::feed
