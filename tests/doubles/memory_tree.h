// Files and folders in memory, changed only by a list of operations that can be replayed in part.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace stoker {

using NodeId = std::size_t;
inline constexpr NodeId kRootNode = 0;

// One change or one promise of durability, in the order they were made.
struct TreeStep {
  enum class Kind { kAddFile, kAddFolder, kUnlink, kRename, kWrite, kResize, kSync };

  Kind kind;
  NodeId node = kRootNode;     // folder of a name, or file of the data, or what was synced
  std::string name{};          // in `node`
  NodeId other = kRootNode;    // the node added, or the folder renamed into
  std::string new_name{};      // in `other`
  std::uint64_t at_bytes = 0;  // offset of a write, or the size of a resize
  std::vector<std::byte> data{};

  // Whether it changes names (made durable by syncing a folder) or data (by syncing the file).
  bool changes_names() const { return kind <= Kind::kRename; }
  // Which node a sync must name to make it durable.
  NodeId sync_target() const { return kind == Kind::kRename ? other : node; }
};

struct TreeNode {
  bool is_folder = false;
  std::vector<std::byte> data;
  std::map<std::string, NodeId> children;
};

class MemoryTree {
 public:
  MemoryTree() { nodes_[kRootNode].is_folder = true; }

  // Steps about nodes or names that are not there (their creation was lost) do nothing.
  void apply(const TreeStep& step);
  const TreeNode* find(NodeId id) const;
  std::uint64_t num_data_bytes() const;

 private:
  TreeNode* find_mutable(NodeId id);

  std::map<NodeId, TreeNode> nodes_;
};

// What a machine that started from `before` may find after losing power following
// steps[0 … num_steps): synced data and names
// are there; of the rest any may be lost, torn at 512-byte sectors, replaced by garbage or written
// in another order, while the names of one folder are lost only from some point on.
MemoryTree tree_after_crash(MemoryTree before, const std::vector<TreeStep>& steps,
                            std::size_t num_steps, std::uint64_t seed);

}  // namespace stoker
