// Failures that only the command line itself can have.
#pragma once

#include <array>

#include "stoker/base/error.h"

namespace stoker::cli {

inline constexpr ErrorCode kUsage{"E-USAGE", ExitCode::kUsage,
                                  "The command line does not say something stoker can do.",
                                  "stoker --help lists the commands and global options"};
inline constexpr ErrorCode kStopped{"E-STOPPED", ExitCode::kCheckFailed,
                                    "SIGINT or SIGTERM ended the command; the exit code is 128 "
                                    "plus the signal.",
                                    "run the same command again"};
inline constexpr ErrorCode kOutput{
    "E-OUTPUT", ExitCode::kStorage, "The result could not be written to standard output.",
    "free space on that disk, or let the program behind the pipe read to its end"};
inline constexpr ErrorCode kMemory{"E-MEMORY", ExitCode::kMemory,
                                   "An allocation was refused by the system.",
                                   "lower data.buffer_memory, or raise the process's limit"};
inline constexpr ErrorCode kBug{"E-BUG", ExitCode::kCheckFailed,
                                "A failure that no part of stoker expected; the exit code is 134.",
                                "please report this line with the command that led to it"};

inline constexpr ErrorCode kSaveSize{"E-SAVE-SIZE", ExitCode::kMemory,
                                     "A batch is too large for one .npz file of `stream --save`.",
                                     "lower data.batch_frames or data.batch_size"};

inline constexpr std::array kErrorCodes{&kUsage, &kStopped, &kOutput, &kMemory, &kBug, &kSaveSize};

}  // namespace stoker::cli
