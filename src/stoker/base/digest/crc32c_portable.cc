#include "stoker/base/digest/crc32c_fast.h"

namespace stoker {

void append_fast_crc32c_paths(std::vector<Crc32cPath>&) {}

}  // namespace stoker
