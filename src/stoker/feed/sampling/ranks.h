// Which rows of every batch belong to this process, when several train together.
#pragma once

#include <cstdint>

#include "stoker/config/settings.h"

namespace stoker::feed {

// The rows of a batch that rank `rank` of `world_size` holds: rank, rank + world_size, …
struct RankRows {
  std::uint32_t rank = 0;
  std::uint32_t world_size = 1;

  std::uint32_t num_rows(std::uint32_t batch_rows) const { return batch_rows / world_size; }
  std::uint32_t place_in_batch(std::uint32_t local_row) const {
    return rank + local_row * world_size;
  }
};

// Throws ConfigError unless rank < world_size and the world size divides batch_multiple.
void check_ranks(const RankRows& ranks, std::uint32_t batch_multiple);

// Rank and world size: as set, else as torchrun, Slurm or Open MPI tell this process.
RankRows ranks_of(const config::LoaderSettings& loader);

}  // namespace stoker::feed
