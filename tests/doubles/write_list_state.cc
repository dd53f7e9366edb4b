#include <fcntl.h>

#include "stoker/base/bytes.h"
#include "tests/doubles/write_list_io.h"

namespace stoker {

std::optional<std::string> WriteListIo::content_of(const std::string& path) const {
  const std::lock_guard lock(mutex_);
  const Place place = locate(AT_FDCWD, path, false);
  if (!place.node || tree_.find(*place.node)->is_folder) return std::nullopt;
  return std::string(view_text(tree_.find(*place.node)->data));
}

std::size_t WriteListIo::num_steps() const {
  const std::lock_guard lock(mutex_);
  return steps_.size();
}

std::unique_ptr<WriteListIo> WriteListIo::after_crash(std::size_t num_steps,
                                                      std::uint64_t seed) const {
  const std::lock_guard lock(mutex_);
  auto found = std::make_unique<WriteListIo>();
  found->before_ = tree_after_crash(before_, steps_, num_steps, seed);
  found->tree_ = found->before_;
  found->next_node_ = next_node_;
  found->capacity_bytes_ = capacity_bytes_;
  return found;
}

}  // namespace stoker
