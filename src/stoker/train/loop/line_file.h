// Files of a run that grow by one JSON object a line; after a resume each step is there once.
#pragma once

#include <cstdint>
#include <string>

#include "stoker/base/io/io.h"
#include "stoker/base/json.h"

namespace stoker::train {

// Every line has a member "step". One thread.
class LineFile {
 public:
  // Keeps the lines up to `last_step`, in order; later ones, and one that a kill cut, are removed.
  // Nothing of it is kept with `last_step` 0. A file that is not there is made at the first line.
  static LineFile open(Io& io, const std::string& path, std::uint64_t last_step);

  // Throws what the file system says.
  void append(const Json& line);

  const std::string& path() const { return path_; }

 private:
  LineFile(Io& io, std::string path) : io_(&io), path_(std::move(path)) {}

  Io* io_;
  std::string path_;
  File file_;
  std::uint64_t size_bytes_ = 0;
};

}  // namespace stoker::train
