#include "stoker/feed/assembly/bad_rows.h"

#include <algorithm>
#include <utility>

#include "stoker/base/number_text.h"
#include "stoker/feed/errors.h"

namespace stoker::feed {

std::uint64_t BadRows::allowed() const {
  const auto share =
      static_cast<std::uint64_t>(limits_.max_bad_fraction * static_cast<double>(limits_.num_rows));
  return std::max(share, limits_.max_bad_rows);
}

void BadRows::record(BadRow bad) {
  if (limits_.fail_at_once) raise(std::move(bad.error));
  const Lock lock(mutex_);
  bad.error.action = "row delivered empty";
  const std::uint32_t row = bad.row;
  const auto [at, is_new] = rows_.try_emplace(row, std::move(bad));
  const std::uint64_t total = limits_.already_bad + rows_.size();
  if (!is_new || total <= allowed()) return;
  Error error = at->second.error;
  raise({.code = &kFeedBadRows,
         .place = error.place,
         .promised =
             "at most " + grouped(allowed()) + " bad utterances of " + grouped(limits_.num_rows),
         .found = grouped(total) + ", the last with " + std::string(error.code->name) + ": " +
                  error.found});
}

std::uint64_t BadRows::size() const {
  const Lock lock(mutex_);
  return rows_.size();
}

std::vector<BadRow> BadRows::rows() const {
  const Lock lock(mutex_);
  std::vector<BadRow> all;
  all.reserve(rows_.size());
  for (const auto& [row, bad] : rows_) all.push_back(bad);
  return all;
}

}  // namespace stoker::feed
