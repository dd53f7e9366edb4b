// The error codes of base: what can go wrong with files and threads, and with settings read before
// any configuration.
#pragma once

#include <array>

#include "stoker/base/error.h"

namespace stoker {

inline constexpr ErrorCode kIoMissing{"E-IO-MISSING", ExitCode::kStorage,
                                      "A file or folder is not there.",
                                      "check the path; names are case-sensitive"};
inline constexpr ErrorCode kIoAccess{
    "E-IO-ACCESS", ExitCode::kStorage,
    "The operating system does not let this user do it; the user id is named.",
    "give that user the permission, or choose another folder"};
inline constexpr ErrorCode kIoOutside{
    "E-IO-OUTSIDE", ExitCode::kStorage,
    "A path or a link leads out of the folder it must stay in; nothing was opened.",
    "use a path inside the folder"};
inline constexpr ErrorCode kIoLoop{"E-IO-LOOP", ExitCode::kStorage,
                                   "Symbolic links form a loop, or a link is not allowed here.",
                                   "replace the link by what it should point to"};
inline constexpr ErrorCode kIoKind{
    "E-IO-KIND", ExitCode::kStorage,
    "The path names another kind of thing: a folder, pipe, socket "
    "or device where a file is needed, or the reverse.",
    "give a path of the expected kind; `ls -ld` shows what is there"};
inline constexpr ErrorCode kIoName{"E-IO-NAME", ExitCode::kStorage,
                                   "A file name is too long or holds a character that no file name "
                                   "may hold.",
                                   "rename it"};
inline constexpr ErrorCode kIoExists{"E-IO-EXISTS", ExitCode::kStorage,
                                     "Something is already there that would be overwritten.",
                                     "remove it, or choose another name"};
inline constexpr ErrorCode kIoFull{"E-IO-FULL", ExitCode::kStorage,
                                   "The disk or the user's quota is full.",
                                   "free some space and run the same command again; what is "
                                   "already committed is kept"};
inline constexpr ErrorCode kIoReadOnly{"E-IO-READONLY", ExitCode::kStorage,
                                       "The file system is mounted read-only.",
                                       "choose a folder that can be written"};
inline constexpr ErrorCode kIoFileLimit{"E-IO-FILELIMIT", ExitCode::kStorage,
                                        "A file would pass the largest size that the file system "
                                        "or ulimit -f allows.",
                                        "raise ulimit -f, or use another file system"};
inline constexpr ErrorCode kIoTooBig{"E-IO-TOOBIG", ExitCode::kStorage,
                                     "A file is larger than its kind may be; it was not read.",
                                     "check the path: this is another file than the one meant"};
inline constexpr ErrorCode kIoHandles{"E-IO-HANDLES", ExitCode::kMemory,
                                      "No more files can be opened: the limit of the process or of "
                                      "the machine is reached.",
                                      "raise the limit (ulimit -n) or use fewer workers"};
inline constexpr ErrorCode kIoMemory{"E-IO-MEMORY", ExitCode::kMemory,
                                     "The kernel has no memory left for the operation.",
                                     "free memory or raise the limit of the process or container"};
inline constexpr ErrorCode kIoFailed{"E-IO-FAILED", ExitCode::kStorage,
                                     "The storage reported an error; the reason is named.",
                                     "look at the kernel log (dmesg) and the health of the disk or "
                                     "network share"};
inline constexpr ErrorCode kThreadStart{
    "E-THREAD-START", ExitCode::kMemory,
    "The system starts no more threads: a limit of the user, the container or the address space.",
    "lower data.num_workers, or raise the limit (ulimit -u, ulimit -v, pids.max of the container)"};
inline constexpr ErrorCode kSimdLevel{"E-SIMD-LEVEL", ExitCode::kUsage,
                                      "STOKER_SIMD names an instruction set that does not exist or "
                                      "that this processor lacks.",
                                      "unset STOKER_SIMD, or set it to one of the listed values"};

inline constexpr std::array kErrorCodes{&kIoMissing,  &kIoAccess,    &kIoOutside,   &kIoLoop,
                                        &kIoKind,     &kIoName,      &kIoExists,    &kIoFull,
                                        &kIoReadOnly, &kIoFileLimit, &kIoTooBig,    &kIoHandles,
                                        &kIoMemory,   &kIoFailed,    &kThreadStart, &kSimdLevel};

}  // namespace stoker
