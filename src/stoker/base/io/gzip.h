// Compressed text that every tool unpacks: whole members of the gzip format, which may follow each
// other in one file.
#pragma once

#include <string>
#include <string_view>

namespace stoker {

// One member (RFC 1952). Throws std::bad_alloc.
std::string gzip_member(std::string_view text);

}  // namespace stoker
