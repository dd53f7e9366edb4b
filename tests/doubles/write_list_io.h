// A file system in memory that keeps the list of everything written, so that a test can ask what a
// power cut after any step may leave behind.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/io/io.h"
#include "tests/doubles/memory_tree.h"

namespace stoker {

// Thread-safe. Handles start at 1000, so that one given to the real kernel by mistake is refused.
// Paths start at "/" whether absolute or relative to the working folder. There are no links.
class WriteListIo final : public Io {
 public:
  WriteListIo() = default;

  // Sets up a file and its folders as if written and synced long ago.
  void put_file(const std::string& path, std::string_view content);
  std::optional<std::string> content_of(const std::string& path) const;

  // Past this many bytes of data, writes fail with ENOSPC.
  void set_capacity_bytes(std::uint64_t capacity) { capacity_bytes_ = capacity; }

  // Steps made so far, set-up included; any number up to it can be crashed after.
  std::size_t num_steps() const;
  // The disk as the next start may find it; handles and locks are gone.
  std::unique_ptr<WriteListIo> after_crash(std::size_t num_steps, std::uint64_t seed) const;

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
  struct Handle {
    NodeId node;
    bool writable;
  };
  // A path up to its last name, and what has that name now.
  struct Place {
    NodeId folder = kRootNode;
    std::string name;  // empty: the folder itself
    std::optional<NodeId> node;
    int error_number = 0;
  };

  Place locate(int folder, const std::string& path, bool beneath) const;
  std::optional<NodeId> node_of(int handle) const;
  void record(TreeStep step);
  SysResult add_handle(NodeId node, int flags);
  FileInfo info_of(NodeId node) const;

  mutable std::mutex mutex_;  // guards all below
  MemoryTree before_;         // found at the start
  MemoryTree tree_;           // before_ and all of steps_
  std::vector<TreeStep> steps_;
  NodeId next_node_ = 1;
  std::map<int, Handle> handles_;
  int next_handle_ = 1000;
  std::map<NodeId, int> locks_;
  std::map<const std::byte*, std::vector<std::byte>> maps_;
  std::uint64_t capacity_bytes_ = std::uint64_t{1} << 40;
};

}  // namespace stoker
