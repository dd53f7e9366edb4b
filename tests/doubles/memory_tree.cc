#include "tests/doubles/memory_tree.h"

#include <algorithm>
#include <set>

#include "stoker/base/philox.h"

namespace stoker {
namespace {

constexpr std::size_t kSectorBytes = 512;

void write_into(std::vector<std::byte>& data, std::uint64_t at,
                const std::vector<std::byte>& from) {
  data.resize(std::max<std::size_t>(data.size(), at + from.size()));
  std::copy(from.begin(), from.end(), data.begin() + static_cast<std::ptrdiff_t>(at));
}

}  // namespace

TreeNode* MemoryTree::find_mutable(NodeId id) {
  const auto found = nodes_.find(id);
  return found == nodes_.end() ? nullptr : &found->second;
}

const TreeNode* MemoryTree::find(NodeId id) const {
  const auto found = nodes_.find(id);
  return found == nodes_.end() ? nullptr : &found->second;
}

std::uint64_t MemoryTree::num_data_bytes() const {
  std::uint64_t sum = 0;
  for (const auto& [id, node] : nodes_) sum += node.data.size();
  return sum;
}

void MemoryTree::apply(const TreeStep& step) {
  TreeNode* const node = find_mutable(step.node);
  switch (step.kind) {
    case TreeStep::Kind::kAddFile:
    case TreeStep::Kind::kAddFolder:
      if (node == nullptr) return;
      nodes_[step.other].is_folder = step.kind == TreeStep::Kind::kAddFolder;
      node->children[step.name] = step.other;
      return;
    case TreeStep::Kind::kUnlink:
      if (node != nullptr) node->children.erase(step.name);
      return;
    case TreeStep::Kind::kRename: {
      TreeNode* const target = find_mutable(step.other);
      if (node == nullptr || target == nullptr || !node->children.contains(step.name)) return;
      const NodeId moved = node->children[step.name];
      node->children.erase(step.name);
      target->children[step.new_name] = moved;
      return;
    }
    case TreeStep::Kind::kWrite:
      write_into(nodes_[step.node].data, step.at_bytes, step.data);
      return;
    case TreeStep::Kind::kResize:
      nodes_[step.node].data.resize(step.at_bytes);
      return;
    case TreeStep::Kind::kSync:
      return;
  }
}

namespace {

class Crash {
 public:
  Crash(const std::vector<TreeStep>& steps, std::size_t num_steps, std::uint64_t seed)
      : steps_(steps.begin(), steps.begin() + static_cast<std::ptrdiff_t>(num_steps)),
        draws_({.seed = seed, .stage = "crash", .epoch = 0, .item = num_steps}) {}

  MemoryTree happen(MemoryTree tree) {
    mark_synced();
    cut_names();
    std::vector<TreeStep> loose;
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      if (kept_[i])
        tree.apply(steps_[i]);
      else if (!steps_[i].changes_names())
        loose.push_back(steps_[i]);
    }
    if (draws_.next_below(4) == 0) shuffle(loose);
    for (const TreeStep& step : loose) apply_perhaps(tree, step);
    return tree;
  }

 private:
  void mark_synced() {
    std::set<NodeId> synced_later;
    kept_.assign(steps_.size(), false);
    for (std::size_t i = steps_.size(); i-- > 0;) {
      if (steps_[i].kind == TreeStep::Kind::kSync) synced_later.insert(steps_[i].node);
      kept_[i] = synced_later.contains(steps_[i].sync_target());
    }
  }

  // A journal keeps the order of names within a folder: some number of the un-synced ones survive.
  void cut_names() {
    std::map<NodeId, std::vector<std::size_t>> loose;
    for (std::size_t i = 0; i < steps_.size(); ++i)
      if (steps_[i].changes_names() && !kept_[i]) loose[steps_[i].sync_target()].push_back(i);
    for (const auto& [folder, indices] : loose) {
      const std::uint64_t survive = draws_.next_below(indices.size() + 1);
      for (std::size_t n = 0; n < survive; ++n) kept_[indices[n]] = true;
    }
  }

  void shuffle(std::vector<TreeStep>& steps) {
    for (std::size_t n = steps.size(); n > 1; --n)
      std::swap(steps[n - 1], steps[draws_.next_below(n)]);
  }

  void apply_perhaps(MemoryTree& tree, const TreeStep& step) {
    switch (draws_.next_below(4)) {
      case 0:
        return;
      case 1:
        tree.apply(step);
        return;
      case 2:
        apply_torn(tree, step);
        return;
      default:
        apply_garbage(tree, step);
    }
  }

  void apply_torn(MemoryTree& tree, const TreeStep& step) {
    if (step.kind != TreeStep::Kind::kWrite) return;
    for (std::size_t at = 0; at < step.data.size();) {
      // Sectors are counted from the start of the file, not of the write.
      const std::size_t in_sector = (step.at_bytes + at) % kSectorBytes;
      const std::size_t size = std::min(kSectorBytes - in_sector, step.data.size() - at);
      const auto begin = step.data.begin() + static_cast<std::ptrdiff_t>(at);
      TreeStep part{.kind = TreeStep::Kind::kWrite, .node = step.node};
      part.at_bytes = step.at_bytes + at;
      part.data.assign(begin, begin + static_cast<std::ptrdiff_t>(size));
      if (draws_.next_below(2) == 0) tree.apply(part);
      at += size;
    }
  }

  // The size arrived, the content is what the blocks held before.
  void apply_garbage(MemoryTree& tree, const TreeStep& step) {
    if (step.kind != TreeStep::Kind::kWrite) return tree.apply(step);
    TreeStep changed = step;
    const bool zeros = draws_.next_below(2) == 0;
    for (std::byte& byte : changed.data)
      byte = zeros ? std::byte{0} : static_cast<std::byte>(draws_.next_u32());
    tree.apply(changed);
  }

  std::vector<TreeStep> steps_;
  std::vector<bool> kept_;
  KeyedDraws draws_;
};

}  // namespace

MemoryTree tree_after_crash(MemoryTree before, const std::vector<TreeStep>& steps,
                            std::size_t num_steps, std::uint64_t seed) {
  return Crash(steps, std::min(num_steps, steps.size()), seed).happen(std::move(before));
}

}  // namespace stoker
