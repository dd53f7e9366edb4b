#include "tests/doubles/write_list_io.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>

#include "stoker/base/bytes.h"

namespace stoker {
namespace {

SysResult failed(int error_number) { return {-1, error_number}; }

std::vector<std::string> components_of(const std::string& path) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at < path.size();) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    const std::string part = path.substr(at, end - at);
    if (!part.empty() && part != ".") parts.push_back(part);
    at = end + 1;
  }
  return parts;
}

}  // namespace

void WriteListIo::record(TreeStep step) {
  tree_.apply(step);
  steps_.push_back(std::move(step));
}

std::optional<NodeId> WriteListIo::node_of(int handle) const {
  if (handle == AT_FDCWD) return kRootNode;
  const auto found = handles_.find(handle);
  if (found == handles_.end()) return std::nullopt;
  return found->second.node;
}

WriteListIo::Place WriteListIo::locate(int folder, const std::string& path, bool beneath) const {
  if (path.empty()) return {.name = {}, .node = {}, .error_number = ENOENT};
  if (beneath && path.front() == '/') return {.name = {}, .node = {}, .error_number = EXDEV};
  const std::optional<NodeId> start = path.front() == '/' ? kRootNode : node_of(folder);
  if (!start) return {.name = {}, .node = {}, .error_number = EBADF};
  std::vector<NodeId> way{*start};
  Place place{.folder = *start, .name = {}, .node = *start};
  for (const std::string& part : components_of(path)) {
    if (!place.node) return {.name = {}, .node = {}, .error_number = ENOENT};
    if (part == "..") {
      if (way.size() == 1)
        return {.name = {}, .node = {}, .error_number = beneath ? EXDEV : ENOENT};
      way.pop_back();
      place = {.folder = way.back(), .name = {}, .node = way.back()};
      continue;
    }
    const TreeNode* const parent = tree_.find(*place.node);
    if (!parent->is_folder) return {.name = {}, .node = {}, .error_number = ENOTDIR};
    const auto child = parent->children.find(part);
    place.folder = *place.node;
    place.name = part;
    place.node.reset();
    if (child == parent->children.end()) continue;
    place.node = child->second;
    way.push_back(child->second);
  }
  return place;
}

void WriteListIo::put_file(const std::string& path, std::string_view content) {
  const std::lock_guard lock(mutex_);
  NodeId folder = kRootNode;
  std::vector<std::string> parts = components_of(path);
  const std::string name = parts.back();
  parts.pop_back();
  for (const std::string& part : parts) {
    const auto& children = tree_.find(folder)->children;
    const auto found = children.find(part);
    const NodeId child = found == children.end() ? next_node_++ : found->second;
    if (found == children.end())
      record({.kind = TreeStep::Kind::kAddFolder, .node = folder, .name = part, .other = child});
    record({.kind = TreeStep::Kind::kSync, .node = folder});
    folder = child;
  }
  const NodeId file = next_node_++;
  const std::span<const std::byte> bytes = view_bytes(content);
  record({.kind = TreeStep::Kind::kAddFile, .node = folder, .name = name, .other = file});
  record({.kind = TreeStep::Kind::kWrite,
          .node = file,
          .at_bytes = 0,
          .data = {bytes.begin(), bytes.end()}});
  record({.kind = TreeStep::Kind::kSync, .node = file});
  record({.kind = TreeStep::Kind::kSync, .node = folder});
}

SysResult WriteListIo::add_handle(NodeId node, int flags) {
  handles_[next_handle_] = {node, (flags & O_ACCMODE) != O_RDONLY};
  return {next_handle_++, 0};
}

SysResult WriteListIo::open_at(int folder, const std::string& path, const OpenHow& how) {
  const std::lock_guard lock(mutex_);
  if (path.find('\0') != std::string::npos) return failed(EILSEQ);
  const Place place = locate(folder, path, how.beneath);
  if (place.error_number != 0) return failed(place.error_number);
  if (!place.node && (how.flags & O_CREAT) == 0) return failed(ENOENT);
  if (!place.node) {
    const NodeId file = next_node_++;
    record({.kind = TreeStep::Kind::kAddFile,
            .node = place.folder,
            .name = place.name,
            .other = file});
    return add_handle(file, how.flags);
  }
  if ((how.flags & O_EXCL) != 0) return failed(EEXIST);
  const bool is_folder = tree_.find(*place.node)->is_folder;
  if ((how.flags & O_DIRECTORY) != 0 && !is_folder) return failed(ENOTDIR);
  if ((how.flags & O_ACCMODE) != O_RDONLY && is_folder) return failed(EISDIR);
  if ((how.flags & O_TRUNC) != 0)
    record({.kind = TreeStep::Kind::kResize, .node = *place.node, .at_bytes = 0});
  return add_handle(*place.node, how.flags);
}

SysResult WriteListIo::close(int handle) {
  const std::lock_guard lock(mutex_);
  if (handles_.erase(handle) == 0) return failed(EBADF);
  std::erase_if(locks_, [&](const auto& held) { return held.second == handle; });
  return {};
}

SysResult WriteListIo::pread(int handle, std::span<std::byte> into, std::uint64_t offset_bytes) {
  const std::lock_guard lock(mutex_);
  const std::optional<NodeId> node = node_of(handle);
  if (!node) return failed(EBADF);
  const TreeNode& file = *tree_.find(*node);
  if (file.is_folder) return failed(EISDIR);
  if (offset_bytes >= file.data.size()) return {};
  const std::size_t size = std::min<std::size_t>(into.size(), file.data.size() - offset_bytes);
  std::copy_n(file.data.begin() + static_cast<std::ptrdiff_t>(offset_bytes), size, into.begin());
  return {static_cast<std::int64_t>(size), 0};
}

SysResult WriteListIo::pwrite(int handle, std::span<const std::byte> from,
                              std::uint64_t offset_bytes) {
  const std::lock_guard lock(mutex_);
  const auto found = handles_.find(handle);
  if (found == handles_.end() || !found->second.writable) return failed(EBADF);
  if (tree_.num_data_bytes() + from.size() > capacity_bytes_) return failed(ENOSPC);
  record({.kind = TreeStep::Kind::kWrite,
          .node = found->second.node,
          .at_bytes = offset_bytes,
          .data = {from.begin(), from.end()}});
  return {static_cast<std::int64_t>(from.size()), 0};
}

SysResult WriteListIo::sync(int handle) {
  const std::lock_guard lock(mutex_);
  const std::optional<NodeId> node = node_of(handle);
  if (!node) return failed(EBADF);
  record({.kind = TreeStep::Kind::kSync, .node = *node});
  return {};
}

SysResult WriteListIo::allocate(int handle, std::uint64_t size_bytes) {
  const std::lock_guard lock(mutex_);
  const std::optional<NodeId> node = node_of(handle);
  if (!node) return failed(EBADF);
  const std::uint64_t now_bytes = tree_.find(*node)->data.size();
  if (size_bytes <= now_bytes) return {};
  if (tree_.num_data_bytes() + size_bytes - now_bytes > capacity_bytes_) return failed(ENOSPC);
  record({.kind = TreeStep::Kind::kResize, .node = *node, .at_bytes = size_bytes});
  return {};
}

SysResult WriteListIo::truncate(int handle, std::uint64_t size_bytes) {
  const std::lock_guard lock(mutex_);
  const std::optional<NodeId> node = node_of(handle);
  if (!node) return failed(EBADF);
  record({.kind = TreeStep::Kind::kResize, .node = *node, .at_bytes = size_bytes});
  return {};
}

FileInfo WriteListIo::info_of(NodeId node) const {
  const TreeNode& found = *tree_.find(node);
  return {.kind = found.is_folder ? FileKind::kFolder : FileKind::kRegular,
          .size_bytes = found.data.size(),
          .inode = node,
          .device = 1,
          .mode = found.is_folder ? 0755U : 0644U};
}

SysResult WriteListIo::info(int handle, FileInfo& out) {
  const std::lock_guard lock(mutex_);
  const std::optional<NodeId> node = node_of(handle);
  if (!node) return failed(EBADF);
  out = info_of(*node);
  return {};
}

SysResult WriteListIo::info_at(int folder, const std::string& path, FileInfo& out) {
  const std::lock_guard lock(mutex_);
  const Place place = locate(folder, path, false);
  if (place.error_number != 0) return failed(place.error_number);
  if (!place.node) return failed(ENOENT);
  out = info_of(*place.node);
  return {};
}

SysResult WriteListIo::rename_at(int folder, const std::string& from, const std::string& to) {
  const std::lock_guard lock(mutex_);
  const Place source = locate(folder, from, false);
  const Place target = locate(folder, to, false);
  for (const Place& place : {source, target})
    if (place.error_number != 0) return failed(place.error_number);
  if (!source.node) return failed(ENOENT);
  record({.kind = TreeStep::Kind::kRename,
          .node = source.folder,
          .name = source.name,
          .other = target.folder,
          .new_name = target.name});
  return {};
}

SysResult WriteListIo::unlink_at(int folder, const std::string& path, bool is_folder) {
  const std::lock_guard lock(mutex_);
  const Place place = locate(folder, path, false);
  if (place.error_number != 0) return failed(place.error_number);
  if (!place.node) return failed(ENOENT);
  const TreeNode& node = *tree_.find(*place.node);
  if (node.is_folder != is_folder) return failed(is_folder ? ENOTDIR : EISDIR);
  if (is_folder && !node.children.empty()) return failed(ENOTEMPTY);
  record({.kind = TreeStep::Kind::kUnlink, .node = place.folder, .name = place.name});
  return {};
}

SysResult WriteListIo::make_folder_at(int folder, const std::string& path, unsigned) {
  const std::lock_guard lock(mutex_);
  const Place place = locate(folder, path, false);
  if (place.error_number != 0) return failed(place.error_number);
  if (place.node) return failed(EEXIST);
  record({.kind = TreeStep::Kind::kAddFolder,
          .node = place.folder,
          .name = place.name,
          .other = next_node_++});
  return {};
}

SysResult WriteListIo::list(int folder, std::vector<FolderEntry>& out) {
  const std::lock_guard lock(mutex_);
  const std::optional<NodeId> node = node_of(folder);
  if (!node) return failed(EBADF);
  if (!tree_.find(*node)->is_folder) return failed(ENOTDIR);
  out.clear();
  for (const auto& [name, child] : tree_.find(*node)->children)
    out.push_back({name, info_of(child).kind});
  return {};
}

SysResult WriteListIo::try_lock(int handle) {
  const std::lock_guard lock(mutex_);
  const std::optional<NodeId> node = node_of(handle);
  if (!node) return failed(EBADF);
  const auto [held, is_new] = locks_.emplace(*node, handle);
  return is_new || held->second == handle ? SysResult{} : failed(EWOULDBLOCK);
}

SysResult WriteListIo::free_space(int, std::uint64_t& bytes) {
  const std::lock_guard lock(mutex_);
  bytes = capacity_bytes_ - std::min(capacity_bytes_, tree_.num_data_bytes());
  return {};
}

SysResult WriteListIo::map(int handle, std::uint64_t size_bytes, const std::byte*& out) {
  const std::lock_guard lock(mutex_);
  const std::optional<NodeId> node = node_of(handle);
  if (!node) return failed(EBADF);
  if (size_bytes == 0) return failed(EINVAL);
  std::vector<std::byte> view = tree_.find(*node)->data;
  view.resize(size_bytes);
  out = view.data();
  maps_.emplace(out, std::move(view));
  return {};
}

SysResult WriteListIo::unmap(const std::byte* at, std::uint64_t) {
  const std::lock_guard lock(mutex_);
  return maps_.erase(at) == 0 ? failed(EINVAL) : SysResult{};
}

}  // namespace stoker
