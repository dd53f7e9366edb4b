// An Io that fails, shortens, delays or kills at the Nth call, counted over all threads.
#pragma once

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "stoker/base/io/io.h"

namespace stoker {

enum class IoCall {
  kOpen,
  kClose,
  kRead,
  kWrite,
  kSync,
  kAllocate,
  kTruncate,
  kInfo,
  kInfoAt,
  kRename,
  kUnlink,
  kMakeFolder,
  kList,
  kLock,
  kFreeSpace,
  kMap,
  kUnmap,
};

// Every call that can change what is stored.
inline const std::set<IoCall> kWritingCalls{IoCall::kWrite,   IoCall::kSync,   IoCall::kAllocate,
                                            IoCall::kRename,  IoCall::kUnlink, IoCall::kMakeFolder,
                                            IoCall::kTruncate};

struct Fault {
  enum class Kind {
    kError,  // fails with error_number; a failed close still closes
    kShort,  // a read or write moves half of its bytes, at least one
    kFlip,   // a write stores one bit other than given, and reports success
    kDelay,  // sleeps, then goes on
    kKill,   // SIGKILL to this process, before the call
  };
  enum class Repeat { kOnce, kFromThenOn, kEveryNth };

  Kind kind = Kind::kError;
  std::uint64_t at_call = 1;  // the first matching call is 1
  std::set<IoCall> calls{};   // empty = every call
  Repeat repeat = Repeat::kOnce;
  int error_number = EIO;
  std::chrono::milliseconds delay{0};
};

// Thread-safe. Plan faults before the threads that meet them start.
class FaultIo final : public Io {
 public:
  explicit FaultIo(Io& inner = system_io()) : inner_(&inner) {}

  // Counts for this fault start anew at 1.
  void plan(Fault fault);
  void clear_faults();
  // What free_space() answers from now on.
  void set_free_space(std::uint64_t bytes) { free_bytes_ = bytes; }

  std::uint64_t num_fired() const { return num_fired_; }
  std::uint64_t num_calls() const { return num_calls_; }
  std::uint64_t num_calls(IoCall call) const;
  // Path as it was opened -> bytes that pread returned from it.
  std::map<std::string, std::uint64_t> bytes_read_by_path() const;
  std::uint64_t num_open_handles() const;

  SysResult open_at(int folder, const std::string& path, const OpenHow& how) override;
  SysResult close(int handle) override;
  SysResult pread(int handle, std::span<std::byte> into, std::uint64_t offset_bytes) override;
  SysResult pwrite(int handle, std::span<const std::byte> from,
                   std::uint64_t offset_bytes) override;
  SysResult sync(int handle) override;
  SysResult allocate(int handle, std::uint64_t size_bytes) override;
  SysResult truncate(int handle, std::uint64_t size_bytes) override;
  SysResult info(int handle, FileInfo& out) override;
  SysResult info_at(int folder, const std::string& path, FileInfo& out) override;
  SysResult rename_at(int folder, const std::string& from, const std::string& to) override;
  SysResult unlink_at(int folder, const std::string& path, bool is_folder) override;
  SysResult make_folder_at(int folder, const std::string& path, unsigned mode) override;
  SysResult list(int folder, std::vector<FolderEntry>& out) override;
  SysResult try_lock(int handle) override;
  SysResult free_space(int handle, std::uint64_t& bytes) override;
  SysResult map(int handle, std::uint64_t size_bytes, const std::byte*& out) override;
  SysResult unmap(const std::byte* at, std::uint64_t size_bytes) override;

 private:
  struct Planned {
    Fault fault;
    std::uint64_t num_matching = 0;
  };
  struct Verdict {
    std::optional<SysResult> failure;
    bool shorten = false;
    bool flip = false;
  };

  bool fires(Planned& planned, IoCall call);
  Verdict judge(IoCall call);
  template <class Call>
  SysResult guarded(IoCall which, Call call);

  Io* inner_;
  std::optional<std::uint64_t> free_bytes_;
  std::atomic<std::uint64_t> num_calls_ = 0;
  std::atomic<std::uint64_t> num_fired_ = 0;
  mutable std::mutex mutex_;  // guards all below
  std::vector<Planned> planned_;
  std::map<IoCall, std::uint64_t> calls_;
  std::map<int, std::string> paths_;
  std::map<std::string, std::uint64_t> bytes_read_;
};

}  // namespace stoker
