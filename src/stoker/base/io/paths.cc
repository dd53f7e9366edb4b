#include "stoker/base/io/paths.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <cerrno>
#include <cstdint>
#include <random>
#include <system_error>

namespace stoker {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMark = ".tmp.";
constexpr std::size_t kNumDigits = 16;
constexpr std::size_t kLongestName = 255;  // NAME_MAX of every file system in use

}  // namespace

Result<std::vector<FolderEntry>> list_folder(const File& folder) {
  std::vector<FolderEntry> entries;
  const SysResult listed = folder.io().list(folder.handle(), entries);
  if (!listed.ok()) return io_error("list", folder.path(), listed.error_number);
  return entries;
}

Result<std::optional<FileInfo>> info_if_present(Io& io, int folder, const std::string& path) {
  FileInfo info;
  const SysResult found = io.info_at(folder, path, info);
  if (found.ok()) return std::optional(info);
  if (found.error_number == ENOENT || found.error_number == ENOTDIR)
    return std::optional<FileInfo>();
  return io_error("look at", path, found.error_number);
}

bool is_folder(Io& io, const fs::path& path) {
  const auto info = info_if_present(io, AT_FDCWD, path.string()).take_or_raise();
  return info && info->kind == FileKind::kFolder;
}

fs::path real_path(const fs::path& path) {
  std::error_code fault;
  fs::path absolute = fs::absolute(path, fault);
  // The working folder may be gone.
  if (fault || !absolute.is_absolute()) absolute = fs::path("/") / path;
  fs::path resolved = fs::weakly_canonical(absolute, fault);
  if (fault || resolved.empty()) resolved = absolute.lexically_normal();
  if (!resolved.has_relative_path()) return "/";
  // "/a/b/" and "/a/b" are the same path.
  return resolved.has_filename() ? resolved : resolved.parent_path();
}

fs::path nearest_existing(const fs::path& path) {
  fs::path folder = real_path(path);
  std::error_code ignored;
  while (folder.has_relative_path() && !fs::exists(folder, ignored)) folder = folder.parent_path();
  return folder;
}

std::string temp_name_for(std::string_view name) {
  std::random_device source;
  const std::uint64_t draw = (static_cast<std::uint64_t>(source()) << 32) | source();
  // A name that may be as long as names get has no room behind it.
  const std::string_view start = name.substr(0, kLongestName - kMark.size() - kNumDigits);
  return fmt::format("{}{}{:016x}", start, kMark, draw);
}

bool is_temp_name(std::string_view name) noexcept {
  if (name.size() < kMark.size() + kNumDigits) return false;
  const std::string_view digits = name.substr(name.size() - kNumDigits);
  const std::string_view mark = name.substr(name.size() - kNumDigits - kMark.size(), kMark.size());
  return mark == kMark && digits.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace stoker
