// The failures of the engine itself; a worker's own failure keeps its own code.
#pragma once

#include <array>

#include "stoker/base/error.h"

namespace stoker::pipeline {

inline constexpr ErrorCode kPipeWorker{"E-PIPE-WORKER", ExitCode::kData,
                                       "A worker met an exception that carries no code of its own.",
                                       "the file named is the one being worked on; try it alone"};
inline constexpr ErrorCode kPipeMemory{
    "E-PIPE-MEMORY", ExitCode::kMemory, "A worker could not get memory.",
    "lower data.prefetch_buffer_size, data.num_workers or data.batch_frames"};
inline constexpr ErrorCode kPipeStall{
    "E-PIPE-STALL", ExitCode::kStorage,
    "A worker made no step within the stall limit; the stage and file it hangs on are named.",
    "look at the storage under that file; data.stall_limit sets the limit, 0 turns it off"};
inline constexpr ErrorCode kPipeLeases{
    "E-PIPE-LEASES", ExitCode::kUsage,
    "The consumer asks for another batch while it still holds every one there is.",
    "destroy batches before calling next(), or raise data.prefetch_buffer_size"};

inline constexpr std::array kErrorCodes{&kPipeWorker, &kPipeMemory, &kPipeStall, &kPipeLeases};

}  // namespace stoker::pipeline
