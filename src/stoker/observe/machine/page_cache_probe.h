// Whether the data is in memory already: storage that is never asked cannot be slow.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stoker/base/io/io.h"

namespace stoker::observe {

// The share of the pages in memory, over a keyed draw of files (their `reading`-th) that takes no
// longer than 2 ms. Nothing without files, or where the kernel does not tell this user.
class PageCacheProbe {
 public:
  PageCacheProbe(Io& io, std::vector<std::string> files);
  std::optional<double> share(std::uint64_t reading) const;

 private:
  Io* io_;
  std::vector<std::string> files_;
};

}  // namespace stoker::observe
