// The few settings that most programs give in code; everything else keeps its default or comes from
// a file through open_feed().
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "stoker/cuda/device.h"

namespace stoker::feed {

// Each is the setting of the same name (docs/reference/settings.md); one that is not given keeps
// the setting's default.
struct FeedOptions {
  std::string data;                       // folder or metadata file
  std::optional<std::string> cache = {};  // folder
  std::optional<std::string> preset = {};
  std::optional<std::uint32_t> batch_frames = {};  // over all ranks
  std::optional<std::uint32_t> batch_size = {};    // utterances instead of frames
  std::optional<std::uint64_t> seed = {};
  std::optional<unsigned> num_workers = {};
  std::optional<unsigned> prefetch_buffer_size = {};   // batches
  std::optional<std::string> preprocessing_mode = {};  // auto, precompute, runtime
  std::optional<std::string> batch_dtype = {};         // auto (the cache's), f32, f16, bf16
  std::optional<std::uint32_t> rank = {};              // also from torchrun, Slurm or Open MPI
  std::optional<std::uint32_t> world_size = {};        // the same
  std::optional<Device> device = {};  // where mel() and tokens() of a batch point; nothing: the CPU
};

}  // namespace stoker::feed
