// splits.txt beside the metadata: which id is in which part, as `stoker data split` writes it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "stoker/base/io/io.h"
#include "stoker/base/result.h"
#include "stoker/data/index_options.h"

namespace stoker::data {

inline constexpr const char* kSplitListName = "splits.txt";

// Immutable once loaded.
class SplitList {
 public:
  // Nothing where the folder has no splits.txt; E-META-SPLITS for a line that is not id|train,
  // id|eval or id|unused, and for an id that occurs twice.
  static Result<std::optional<SplitList>> load(const File& folder);

  // kAll for ids that are unused or not listed: they are in neither part.
  Split find(std::string_view id) const;

 private:
  std::unordered_map<std::string, Split> parts_;
};

}  // namespace stoker::data
