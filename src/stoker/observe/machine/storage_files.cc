#include "stoker/observe/machine/storage_files.h"

#include <fmt/format.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <array>
#include <utility>

#include "stoker/base/io/paths.h"
#include "stoker/observe/machine/cpu_files.h"

namespace stoker::observe {
namespace {

constexpr std::uint64_t kSectorBytes = 512;
// A group of version 1 without a limit says the largest number of whole pages.
constexpr std::uint64_t kNoLimitBytes = std::uint64_t{1} << 62U;

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

StorageKind kind_of(std::string_view file_system) {
  if (is_one_of(file_system, {"tmpfs", "ramfs", "devtmpfs", "hugetlbfs"}))
    return StorageKind::kMemory;
  if (is_one_of(file_system, {"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "virtiofs", "lustre",
                              "ceph", "afs", "gpfs", "beegfs", "fuse.glusterfs", "fuse.sshfs",
                              "fuse.s3fs", "fuse.gcsfuse", "fuse.juicefs"}))
    return StorageKind::kNetwork;
  if (file_system.starts_with("fuse")) return StorageKind::kFuse;
  if (is_one_of(file_system, {"overlay", "aufs"})) return StorageKind::kOverlay;
  return StorageKind::kUnknown;
}

struct Mount {
  std::string_view number, point, file_system, source;
};

// "36 35 98:0 / /mnt rw,noatime master:1 - ext3 /dev/root rw": optional fields end with "-".
Mount mount_of(std::string_view line) {
  Mount mount;
  take_word(line);
  take_word(line);
  mount.number = take_word(line);
  take_word(line);
  mount.point = take_word(line);
  while (!line.empty() && take_word(line) != "-") {
  }
  mount.file_system = take_word(line);
  mount.source = take_word(line);
  return mount;
}

bool is_below(const std::string& path, std::string_view folder) {
  if (folder == "/") return true;
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

std::string name_behind(std::string_view source) {
  return source.starts_with("/dev/") ? std::string(source.substr(5)) : std::string();
}

// "254 0 vda reads merged sectors ms writes merged sectors ms inflight busy queued …"
std::optional<DiskCounters> disk_of(std::string_view line) {
  constexpr std::size_t kNumFields = 11;
  std::array<std::uint64_t, kNumFields> fields{};
  for (std::uint64_t& field : fields) {
    const std::optional<std::uint64_t> value = leading_number(take_word(line));
    if (!value) return std::nullopt;
    field = *value;
  }
  return DiskCounters{.num_reads = fields[0],
                      .read_bytes = fields[2] * kSectorBytes,
                      .reading_ms = fields[3],
                      .busy_ms = fields[9],
                      .queued_ms = fields[10]};
}

std::optional<DiskCounters> disk_counters(MachineFiles& files, std::string_view device) {
  std::string_view rest = files.text("/proc/diskstats").value_or("");
  while (!rest.empty()) {
    std::string_view line = take_line(rest);
    take_word(line);
    take_word(line);
    if (take_word(line) == device) return disk_of(line);
  }
  return std::nullopt;
}

// The device's name by its number: the line of /proc/diskstats that begins with it.
std::string name_of_number(MachineFiles& files, std::string_view major_minor) {
  std::string_view rest = files.text("/proc/diskstats").value_or("");
  while (!rest.empty()) {
    std::string_view line = take_line(rest);
    const std::string_view major = take_word(line), minor = take_word(line);
    if (fmt::format("{}:{}", major, minor) == major_minor) return std::string(take_word(line));
  }
  return {};
}

// A partition has no queue of its own: its disk's says whether it turns. Virtual disks say so of
// whatever is behind them.
StorageKind kind_of_device(MachineFiles& files, const std::string& device) {
  for (std::string name = device; !name.empty(); name.pop_back()) {
    const std::optional<std::string_view> text =
        files.text("/sys/block/" + name + "/queue/rotational");
    if (!text) continue;
    if (text->starts_with('0')) return StorageKind::kSolid;
    const bool is_virtual = name.starts_with("vd") || name.starts_with("xvd");
    return is_virtual ? StorageKind::kUnknown : StorageKind::kRotating;
  }
  return StorageKind::kUnknown;
}

void take_group_memory(MachineFiles& files, MemoryCounters& into) {
  const GroupFolders groups = group_folders(files, "memory");
  const std::string limit = groups.is_v1 ? "/memory.limit_in_bytes" : "/memory.max";
  const std::string used = groups.is_v1 ? "/memory.usage_in_bytes" : "/memory.current";
  const std::string droppable = groups.is_v1 ? "total_inactive_file" : "inactive_file";
  for (const std::string& folder : groups.folders) {
    const auto limit_bytes = leading_number(files.text(folder + limit).value_or(""));
    if (!limit_bytes || *limit_bytes >= kNoLimitBytes) continue;
    if (into.limit_bytes && *into.limit_bytes <= *limit_bytes) continue;
    into.limit_bytes = limit_bytes;
    into.group_bytes = leading_number(files.text(folder + used).value_or(""));
    const auto file_bytes =
        number_after(files.text(folder + "/memory.stat").value_or(""), droppable);
    if (into.group_bytes) *into.group_bytes -= std::min(*into.group_bytes, file_bytes.value_or(0));
  }
}

}  // namespace

std::optional<std::uint64_t> available_bytes(MachineFiles& files) {
  const auto kib = number_after(files.text("/proc/meminfo").value_or(""), "MemAvailable");
  return kib ? std::optional(*kib * 1024) : std::nullopt;
}

MemoryCounters read_memory(MachineFiles& files) {
  MemoryCounters memory;
  if (const auto kib = number_after(files.text("/proc/meminfo").value_or(""), "MemTotal"))
    memory.total_bytes = *kib * 1024;
  take_group_memory(files, memory);
  const std::string_view text = files.text("/proc/vmstat").value_or("");
  memory.swap_in_pages = number_after(text, "pswpin");
  memory.swap_out_pages = number_after(text, "pswpout");
  memory.pressure_s = pressure_s(files, "memory");
  return memory;
}

StorageFiles::StorageFiles(MachineFiles& files, const std::string& data_path) {
  if (!data_path.empty()) find_mount(files, data_path);
}

void StorageFiles::find_mount(MachineFiles& files, const std::string& data_path) {
  const std::string path = real_path(data_path).string();
  std::string number;
  if (const Result<File> file = open_file(files.io(), path, OpenFor::kRead); file) {
    if (const Result<FileInfo> info = file->info(); info)
      number = fmt::format("{}:{}", gnu_dev_major(info->device), gnu_dev_minor(info->device));
  }
  // A subvolume (btrfs) has a number that no mount has: then the longest mount point counts.
  std::string_view rest = files.text("/proc/self/mountinfo").value_or("");
  std::size_t longest = 0;
  std::string source;
  while (!rest.empty()) {
    const Mount mount = mount_of(take_line(rest));
    if (!is_below(path, mount.point) || mount.point.size() < longest) continue;
    longest = mount.point.size();
    file_system_ = mount.file_system;
    source = mount.source;
  }
  device_ = name_of_number(files, number);
  if (device_.empty()) device_ = name_behind(source);
  kind_ = kind_of(file_system_);
  if (kind_ == StorageKind::kUnknown) kind_ = kind_of_device(files, device_);
}

StorageCounters StorageFiles::read(MachineFiles& files) const {
  StorageCounters storage;
  const std::string_view own = files.text("/proc/self/io").value_or("");
  storage.asked_bytes = number_after(own, "rchar");
  storage.read_bytes = number_after(own, "read_bytes");
  if (!device_.empty()) storage.disk = disk_counters(files, device_);
  storage.pressure_s = pressure_s(files, "io");
  return storage;
}

}  // namespace stoker::observe
