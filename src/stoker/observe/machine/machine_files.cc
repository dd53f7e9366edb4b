#include "stoker/observe/machine/machine_files.h"

#include <algorithm>
#include <charconv>
#include <span>
#include <utility>

#include "stoker/base/io/paths.h"

namespace stoker::observe {
namespace {

constexpr std::size_t kMostBytes = std::size_t{256} << 10U;

bool lists(std::string_view controllers, std::string_view wanted) {
  while (!controllers.empty()) {
    const std::size_t end = std::min(controllers.find(','), controllers.size());
    if (controllers.substr(0, end) == wanted) return true;
    controllers.remove_prefix(std::min(end + 1, controllers.size()));
  }
  return false;
}

// A container may see the group's path of the host while only its own part is mounted, at the top:
// folders that are not there read as nothing.
std::vector<std::string> up_the_tree(const std::string& mount, std::string_view group) {
  std::vector<std::string> folders;
  std::string rest(group);
  while (!rest.empty() && rest != "/") {
    folders.push_back(mount + rest);
    rest.resize(rest.rfind('/') == std::string::npos ? 0 : rest.rfind('/'));
  }
  folders.push_back(mount);
  return folders;
}

}  // namespace

MachineFiles::MachineFiles(Io& io, std::string root)
    : io_(&io), root_(std::move(root)), buffer_(kMostBytes, '\0') {}

std::optional<std::string_view> MachineFiles::text(const std::string& path) {
  const Result<File> file = open_file(*io_, root_ + path, OpenFor::kRead);
  if (!file) return std::nullopt;
  const Result<std::size_t> got = file->read_at(std::as_writable_bytes(std::span(buffer_)), 0);
  if (!got) return std::nullopt;
  return std::string_view(buffer_).substr(0, *got);
}

std::vector<std::string> MachineFiles::names(const std::string& folder) {
  std::vector<std::string> names;
  const Result<File> opened = open_file(*io_, root_ + folder, OpenFor::kFolder);
  if (!opened) return names;
  const Result<std::vector<FolderEntry>> entries = list_folder(*opened);
  if (!entries) return names;
  for (const FolderEntry& entry : *entries) names.push_back(entry.name);
  return names;
}

std::string_view take_line(std::string_view& rest) {
  const std::size_t end = std::min(rest.find('\n'), rest.size());
  const std::string_view line = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return line;
}

std::string_view take_word(std::string_view& rest) {
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  const std::size_t end = std::min(rest.find(' '), rest.size());
  const std::string_view word = rest.substr(0, end);
  rest.remove_prefix(end);
  return word;
}

std::optional<std::uint64_t> leading_number(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() ? std::optional(value) : std::nullopt;
}

std::optional<std::uint64_t> number_after(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    std::string_view line = take_line(text);
    if (!line.starts_with(key)) continue;
    line.remove_prefix(key.size());
    if (line.starts_with(':')) line.remove_prefix(1);
    if (line.starts_with(' ') || line.starts_with('\t')) return leading_number(line);
  }
  return std::nullopt;
}

GroupFolders group_folders(MachineFiles& files, std::string_view controller) {
  const std::string mount = "/sys/fs/cgroup/";
  const std::optional<std::string_view> groups = files.text("/proc/self/cgroup");
  if (!groups) return {};
  GroupFolders found;
  std::string_view rest = *groups;
  while (!rest.empty()) {  // "4:cpu,cpuacct:/group", of version 2 "0::/group"
    const std::string_view line = take_line(rest);
    const std::size_t first = line.find(':');
    const std::size_t second = first == line.npos ? line.npos : line.find(':', first + 1);
    if (second == line.npos) continue;
    const std::string controllers(line.substr(first + 1, second - first - 1));
    const std::string_view group = line.substr(second + 1);
    if (lists(controllers, controller)) {
      found = {.is_v1 = true, .folders = up_the_tree(mount + std::string(controller), group)};
      for (std::string& each : up_the_tree(mount + controllers, group))  // where no link joins them
        if (controllers != controller) found.folders.push_back(std::move(each));
      return found;
    }
    if (controllers.empty()) found.folders = up_the_tree("/sys/fs/cgroup", group);
  }
  return found;
}

}  // namespace stoker::observe
