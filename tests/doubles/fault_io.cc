#include "tests/doubles/fault_io.h"

#include <csignal>
#include <thread>

namespace stoker {
namespace {

template <class Span>
Span shortened(Span span, bool shorten) {
  return shorten && span.size() > 1 ? span.first(span.size() / 2) : span;
}

}  // namespace

void FaultIo::plan(Fault fault) {
  const std::lock_guard lock(mutex_);
  planned_.push_back({std::move(fault)});
}

void FaultIo::clear_faults() {
  const std::lock_guard lock(mutex_);
  planned_.clear();
}

std::uint64_t FaultIo::num_calls(IoCall call) const {
  const std::lock_guard lock(mutex_);
  const auto found = calls_.find(call);
  return found == calls_.end() ? 0 : found->second;
}

std::map<std::string, std::uint64_t> FaultIo::bytes_read_by_path() const {
  const std::lock_guard lock(mutex_);
  return bytes_read_;
}

std::uint64_t FaultIo::num_open_handles() const {
  const std::lock_guard lock(mutex_);
  return paths_.size();
}

bool FaultIo::fires(Planned& planned, IoCall call) {
  const Fault& fault = planned.fault;
  if (!fault.calls.empty() && !fault.calls.contains(call)) return false;
  const std::uint64_t now = ++planned.num_matching;
  switch (fault.repeat) {
    case Fault::Repeat::kOnce:
      return now == fault.at_call;
    case Fault::Repeat::kFromThenOn:
      return now >= fault.at_call;
    case Fault::Repeat::kEveryNth:
      return now % fault.at_call == 0;
  }
  return false;
}

FaultIo::Verdict FaultIo::judge(IoCall call) {
  ++num_calls_;
  Verdict verdict;
  std::chrono::milliseconds delay{0};
  {
    const std::lock_guard lock(mutex_);
    ++calls_[call];
    for (Planned& planned : planned_) {
      if (!fires(planned, call)) continue;
      ++num_fired_;
      const Fault& fault = planned.fault;
      if (fault.kind == Fault::Kind::kKill) std::raise(SIGKILL);
      if (fault.kind == Fault::Kind::kError) verdict.failure = SysResult{-1, fault.error_number};
      if (fault.kind == Fault::Kind::kShort) verdict.shorten = true;
      if (fault.kind == Fault::Kind::kFlip) verdict.flip = true;
      if (fault.kind == Fault::Kind::kDelay) delay += fault.delay;
    }
  }
  if (delay.count() > 0) std::this_thread::sleep_for(delay);
  return verdict;
}

template <class Call>
SysResult FaultIo::guarded(IoCall which, Call call) {
  const Verdict verdict = judge(which);
  return verdict.failure ? *verdict.failure : call();
}

SysResult FaultIo::open_at(int folder, const std::string& path, const OpenHow& how) {
  return guarded(IoCall::kOpen, [&] {
    const SysResult opened = inner_->open_at(folder, path, how);
    if (!opened.ok()) return opened;
    const std::lock_guard lock(mutex_);
    const auto parent = paths_.find(folder);
    paths_[static_cast<int>(opened.value)] =
        parent == paths_.end() ? path : parent->second + "/" + path;
    return opened;
  });
}

SysResult FaultIo::close(int handle) {
  const Verdict verdict = judge(IoCall::kClose);
  {
    const std::lock_guard lock(mutex_);
    paths_.erase(handle);
  }
  const SysResult closed = inner_->close(handle);
  return verdict.failure ? *verdict.failure : closed;
}

SysResult FaultIo::pread(int handle, std::span<std::byte> into, std::uint64_t offset_bytes) {
  const Verdict verdict = judge(IoCall::kRead);
  if (verdict.failure) return *verdict.failure;
  const SysResult got = inner_->pread(handle, shortened(into, verdict.shorten), offset_bytes);
  if (got.ok()) {
    const std::lock_guard lock(mutex_);
    bytes_read_[paths_[handle]] += static_cast<std::uint64_t>(got.value);
  }
  return got;
}

SysResult FaultIo::pwrite(int handle, std::span<const std::byte> from, std::uint64_t offset_bytes) {
  const Verdict verdict = judge(IoCall::kWrite);
  if (verdict.failure) return *verdict.failure;
  if (!verdict.flip) return inner_->pwrite(handle, shortened(from, verdict.shorten), offset_bytes);
  std::vector<std::byte> other(from.begin(), from.end());
  other[other.size() / 2] ^= std::byte{1};
  return inner_->pwrite(handle, other, offset_bytes);
}

SysResult FaultIo::sync(int handle) {
  return guarded(IoCall::kSync, [&] { return inner_->sync(handle); });
}

SysResult FaultIo::allocate(int handle, std::uint64_t size_bytes) {
  return guarded(IoCall::kAllocate, [&] { return inner_->allocate(handle, size_bytes); });
}

SysResult FaultIo::truncate(int handle, std::uint64_t size_bytes) {
  return guarded(IoCall::kTruncate, [&] { return inner_->truncate(handle, size_bytes); });
}

SysResult FaultIo::info(int handle, FileInfo& out) {
  return guarded(IoCall::kInfo, [&] { return inner_->info(handle, out); });
}

SysResult FaultIo::info_at(int folder, const std::string& path, FileInfo& out) {
  return guarded(IoCall::kInfoAt, [&] { return inner_->info_at(folder, path, out); });
}

SysResult FaultIo::rename_at(int folder, const std::string& from, const std::string& to) {
  return guarded(IoCall::kRename, [&] { return inner_->rename_at(folder, from, to); });
}

SysResult FaultIo::unlink_at(int folder, const std::string& path, bool is_folder) {
  return guarded(IoCall::kUnlink, [&] { return inner_->unlink_at(folder, path, is_folder); });
}

SysResult FaultIo::make_folder_at(int folder, const std::string& path, unsigned mode) {
  return guarded(IoCall::kMakeFolder, [&] { return inner_->make_folder_at(folder, path, mode); });
}

SysResult FaultIo::list(int folder, std::vector<FolderEntry>& out) {
  return guarded(IoCall::kList, [&] { return inner_->list(folder, out); });
}

SysResult FaultIo::try_lock(int handle) {
  return guarded(IoCall::kLock, [&] { return inner_->try_lock(handle); });
}

SysResult FaultIo::free_space(int handle, std::uint64_t& bytes) {
  return guarded(IoCall::kFreeSpace, [&] {
    const SysResult asked = inner_->free_space(handle, bytes);
    bytes = free_bytes_.value_or(bytes);
    return asked;
  });
}

SysResult FaultIo::map(int handle, std::uint64_t size_bytes, const std::byte*& out) {
  return guarded(IoCall::kMap, [&] { return inner_->map(handle, size_bytes, out); });
}

SysResult FaultIo::unmap(const std::byte* at, std::uint64_t size_bytes) {
  return guarded(IoCall::kUnmap, [&] { return inner_->unmap(at, size_bytes); });
}

}  // namespace stoker
