// Opening beneath a folder on kernels without openat2: one component at a time, so that nothing can
// lead out.
#pragma once

#include <string>

#include "stoker/base/io/io.h"

namespace stoker {

// As openat2 with RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS: EXDEV for absolute paths, for links to
// absolute paths and for ".." above `folder`; ELOOP past 40 links or where links are not followed.
SysResult open_by_walking(int folder, const std::string& path, const Io::OpenHow& how);

}  // namespace stoker
