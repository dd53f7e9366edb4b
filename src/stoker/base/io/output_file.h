// How results reach a path that the user named: whole or not at all where that is a file, and never
// by replacing a device, a pipe or a link by a file.
#pragma once

#include <cstddef>
#include <span>
#include <string>

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

}  // namespace stoker
