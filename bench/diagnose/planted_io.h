// Storage with a planted latency or rate, in front of the real one.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "bench/diagnose/plan.h"
#include "stoker/base/io/io.h"

namespace stoker::bench {

// Thread-safe. Only regular files that are opened for reading are slowed.
class PlantedIo final : public Io {
 public:
  explicit PlantedIo(StoragePlan plan) : plan_(std::move(plan)) {}

  SysResult open_at(int folder, const std::string& path, const OpenHow& how) override;
  SysResult close(int handle) override;
  SysResult pread(int handle, std::span<std::byte> into, std::uint64_t offset_bytes) override;

  SysResult pwrite(int handle, std::span<const std::byte> from, std::uint64_t at) override {
    return inner_.pwrite(handle, from, at);
  }
  SysResult sync(int handle) override { return inner_.sync(handle); }
  SysResult allocate(int handle, std::uint64_t size) override {
    return inner_.allocate(handle, size);
  }
  SysResult truncate(int handle, std::uint64_t size) override {
    return inner_.truncate(handle, size);
  }
  SysResult info(int handle, FileInfo& out) override { return inner_.info(handle, out); }
  SysResult info_at(int folder, const std::string& path, FileInfo& out) override {
    return inner_.info_at(folder, path, out);
  }
  SysResult rename_at(int folder, const std::string& from, const std::string& to) override {
    return inner_.rename_at(folder, from, to);
  }
  SysResult unlink_at(int folder, const std::string& path, bool is_folder) override {
    return inner_.unlink_at(folder, path, is_folder);
  }
  SysResult make_folder_at(int folder, const std::string& path, unsigned mode) override {
    return inner_.make_folder_at(folder, path, mode);
  }
  SysResult list(int folder, std::vector<FolderEntry>& out) override {
    return inner_.list(folder, out);
  }
  SysResult try_lock(int handle) override { return inner_.try_lock(handle); }
  SysResult free_space(int handle, std::uint64_t& bytes) override {
    return inner_.free_space(handle, bytes);
  }
  SysResult map(int handle, std::uint64_t size, const std::byte*& out) override {
    return inner_.map(handle, size, out);
  }
  SysResult unmap(const std::byte* at, std::uint64_t size) override {
    return inner_.unmap(at, size);
  }

  // Opening a data set reads its files, too: nothing is slowed before this.
  void begin() { has_begun_ = true; }

 private:
  bool is_slow(const std::string& path);
  void pass(double latency_ms, std::size_t num_bytes);

  Io& inner_ = system_io();
  const StoragePlan plan_;
  std::atomic<bool> has_begun_ = false;
  std::mutex mutex_;  // guards all below
  std::map<int, bool> slow_handles_;
  std::uint64_t num_opens_ = 0;
  std::chrono::steady_clock::time_point free_at_{};  // when the device has read what was asked
};

}  // namespace stoker::bench
