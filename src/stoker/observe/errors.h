// What can go wrong with looking at a run: the live view, its files, its endpoint, the report.
#pragma once

#include <array>

#include "stoker/base/error.h"

namespace stoker::observe {

inline constexpr ErrorCode kLiveGpu{"E-LIVE-GPU", ExitCode::kGpu,
                                    "No card of this machine has the number that was asked for.",
                                    "nvidia-smi -L lists the cards; leave --gpu out for all"};
inline constexpr ErrorCode kLiveCsv{
    "E-LIVE-CSV", ExitCode::kStorage,
    "The file holds something else than samples of `stoker monitor`; nothing was added to it.",
    "choose another name, or move the file away"};
inline constexpr ErrorCode kHttpAddress{
    "E-HTTP-ADDRESS", ExitCode::kUsage,
    "The address of the endpoint is not one of this machine, or not HOST:PORT.",
    "write it as 127.0.0.1:9109, [::1]:9109 or localhost:0, where port 0 takes a free one"};
inline constexpr ErrorCode kHttpRemote{
    "E-HTTP-REMOTE", ExitCode::kUsage,
    "The address can be reached from other machines, and nobody said that it may be.",
    "use 127.0.0.1 and an ssh tunnel (ssh -L 9109:127.0.0.1:9109 HOST), or allow it with "
    "--http-remote (of a training: --metrics-remote)"};
inline constexpr ErrorCode kHttpPort{
    "E-HTTP-PORT", ExitCode::kUsage,
    "The port of the endpoint is in use, or this user may not take it.",
    "choose another port, or 0 for a free one that is printed"};
inline constexpr ErrorCode kHttpLibrary{
    "E-HTTP-LIBRARY", ExitCode::kUsage,
    "This stoker was built without libmicrohttpd, so it has no endpoint.",
    "install libmicrohttpd-dev and build again, or leave the option out"};
inline constexpr ErrorCode kHttpServer{"E-HTTP-SERVER", ExitCode::kMemory,
                                       "The endpoint could not be started.",
                                       "raise the limits of threads and open files (ulimit -u, "
                                       "ulimit -n)"};

inline constexpr ErrorCode kReportEmpty{
    "E-REPORT-EMPTY", ExitCode::kUsage, "The folder holds nothing that a report could be made of.",
    "name the folder of a training: the one that was given with --checkpoint-dir"};

inline constexpr std::array kErrorCodes{&kLiveGpu,  &kLiveCsv,     &kHttpAddress, &kHttpRemote,
                                        &kHttpPort, &kHttpLibrary, &kHttpServer,  &kReportEmpty};

}  // namespace stoker::observe
