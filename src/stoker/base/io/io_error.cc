#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "stoker/base/errors.h"
#include "stoker/base/io/io.h"

namespace stoker {
namespace {

const ErrorCode& code_for(std::string_view operation, int error_number) {
  switch (error_number) {
    case ENOENT:
    case ENOTDIR:
      return kIoMissing;
    case EACCES:
    case EPERM:
      return kIoAccess;
    case EXDEV:
      return operation == "open" ? kIoOutside : kIoFailed;
    case ELOOP:
      return kIoLoop;
    case EISDIR:
    case ENXIO:
    case ENODEV:
    case ESPIPE:
      return kIoKind;
    case ENAMETOOLONG:
    case EILSEQ:
      return kIoName;
    case EEXIST:
    case ENOTEMPTY:
      return kIoExists;
    case ENOSPC:
    case EDQUOT:
      return kIoFull;
    case EROFS:
      return kIoReadOnly;
    case EFBIG:
      return kIoFileLimit;
    case EMFILE:
    case ENFILE:
      return kIoHandles;
    case ENOMEM:
      return kIoMemory;
    default:
      return kIoFailed;
  }
}

std::string open_files_text() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return "too many open files";
  return fmt::format("this process may hold {} files open (ulimit -n) and all are in use",
                     limit.rlim_cur);
}

// The reason in words; the system's own text where it already says enough.
std::string reason_text(std::string_view operation, int error_number) {
  switch (error_number) {
    case ENOENT:
      return "no such file or folder";
    case ENOTDIR:
      return "a part of the path is not a folder";
    case EACCES:
    case EPERM:
      return fmt::format("user id {} is not permitted", geteuid());
    case EXDEV:
      return operation == "open" ? "the path leads out of its folder"
                                 : "source and target are on different file systems";
    case ELOOP:
      return "too many symbolic links, or a link where none is allowed";
    case EILSEQ:
      return "the name holds a NUL byte";
    case ENXIO:
    case ESPIPE:
      return "it is a pipe, socket or device, not a file";
    case ENOSPC:
      return "no space left on the disk";
    case EDQUOT:
      return "the disk quota of this user is used up";
    case EMFILE:
      return open_files_text();
    case ENFILE:
      return "the machine's limit on open files is reached";
    case EWOULDBLOCK:
      return "the resource is busy";
    case EIO:
      return "the storage reported an input/output error";
    case ESTALE:
      return "the file was replaced or removed on the network share";
    default:
      return std::generic_category().message(error_number);
  }
}

}  // namespace

Error io_error(std::string_view operation, const std::string& path, int error_number) {
  return {.code = &code_for(operation, error_number),
          .place = {.file = path, .line = {}, .column = {}, .byte = {}},
          .promised = {},
          .found = fmt::format("cannot {}: {}", operation, reason_text(operation, error_number)),
          .action = {},
          .cure = {}};
}

}  // namespace stoker
