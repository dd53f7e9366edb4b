// How results reach a path that the user named: whole or not at all where that is a file, and never
// by replacing a device, a pipe or a link by a file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "stoker/base/io/io.h"

namespace stoker {

// Writes `content` to `path`:
// - a regular file, or nothing there yet: a temporary file beside it, fsync, rename; parent folders
//   are made. Readers see the old content or the new, also after a crash;
// - a symbolic link: what it points to, so the link stays; a link to nothing makes its target;
// - a device or a pipe: the bytes are written to it. A pipe without a reader is an error (waiting
//   for one might never end); a reader that is slow is waited for;
// - a folder, a socket, or a name that ends in '/': E-IO-KIND.
Result<void> publish_output(Io& io, const std::string& path, std::span<const std::byte> content);

// What publish_output would refuse for the kind of thing that is there; for telling it before hours
// of work. Changes nothing and opens neither device nor pipe.
Result<void> check_output(Io& io, const std::string& path);

// A result that grows while the work goes on, for what must be readable after a kill. One thread.
class GrowingOutput {
 public:
  // A file is emptied, or made with its parent folders; a link, a device or a pipe is treated as
  // publish_output does.
  static Result<GrowingOutput> open(Io& io, const std::string& path);

  // In a file `ending` follows what was appended, until the next call writes over it: whoever
  // opens the file finds it whole. A device or a pipe gets it with finish(). What fails leaves a
  // file as it was before.
  Result<void> append(std::span<const std::byte> content, std::span<const std::byte> ending = {});
  Result<void> finish(std::span<const std::byte> ending = {});

  std::uint64_t size_bytes() const { return size_bytes_; }  // without an ending

 private:
  GrowingOutput(File file, bool is_file) : file_(std::move(file)), is_file_(is_file) {}

  File file_;
  bool is_file_;
  std::uint64_t size_bytes_ = 0;
  std::vector<std::byte> ending_;  // that the file has now
};

}  // namespace stoker
