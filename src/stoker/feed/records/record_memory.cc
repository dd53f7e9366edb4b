#include "stoker/feed/records/record_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <new>
#include <set>
#include <string_view>
#include <thread>
#include <utility>

#include "stoker/base/errors.h"
#include "stoker/base/thread/sync.h"
#include "stoker/feed/records/record_places.h"

namespace stoker::feed {
namespace {

constexpr std::string_view kUnfinished = ".new";
constexpr unsigned kOwnFolder = 0700;
constexpr unsigned kOwnFile = 0600;
constexpr std::size_t kMostSwept = 256;

// The files that this process has in the folder of all processes.
class OwnFiles {
 public:
  unsigned take() {
    const Lock lock(mutex_);
    unsigned place = 1;
    while (taken_.contains(place)) ++place;
    taken_.insert(place);
    return place;
  }
  void give_back(unsigned place) {
    const Lock lock(mutex_);
    taken_.erase(place);
  }

 private:
  Mutex mutex_;
  std::set<unsigned> taken_ STOKER_GUARDED_BY(mutex_);
};

OwnFiles& own_files() {
  static OwnFiles files;
  return files;
}

std::string name_in_process(unsigned place) {
  std::string name = std::to_string(::getpid());
  if (place > 1) name += "-" + std::to_string(place);
  return name.append(kRingEnding);
}

Result<File> open_folder(Io& io, const std::string& path) {
  return open_file(io, path, OpenFor::kFolder);
}

// Somebody else could have made a folder or a link of that name before.
Result<void> check_own(const File& folder) {
  constexpr unsigned kOthers = 077;
  const Result<FileInfo> info = folder.info();
  if (!info) return info.error();
  if (info->owner == ::geteuid() && (info->mode & kOthers) == 0) return {};
  return Error{.code = &kIoAccess,
               .place = {.file = folder.path()},
               .promised = "a folder of this user alone",
               .found = "one of another user, or open to others"};
}

Result<File> open_common_folder(Io& io) {
  const std::string path = common_record_folder();
  const std::size_t slash = path.rfind('/');
  const std::string parent_path = path.substr(0, std::max<std::size_t>(slash, 1));
  const std::string name = path.substr(slash + 1);
  const Result<File> parent = open_folder(io, parent_path);
  if (!parent) return parent.error();
  const SysResult made = io.make_folder_at(parent->handle(), name, kOwnFolder);
  if (!made.ok() && made.error_number != EEXIST)
    return io_error("make the folder", path, made.error_number);
  const SysResult opened =
      io.open_at(parent->handle(), name, {.flags = O_RDONLY | O_DIRECTORY, .follow_links = false});
  if (!opened.ok()) return io_error("open the folder", path, opened.error_number);
  File folder(io, static_cast<int>(opened.value), path);
  if (Result<void> own = check_own(folder); !own) return own.error();
  return folder;
}

bool is_ring_name(std::string_view name) {
  return name.ends_with(kRingEnding) ||
         name.ends_with(std::string(kRingEnding).append(kUnfinished));
}

// Whether the file still has that name. Who makes or removes one asks after locking it, and nobody
// removes one without its lock: so a name that is the file's stays the file's.
bool is_named(const File& folder, const std::string& name, const File& file) {
  FileInfo by_name;
  const Result<FileInfo> info = file.info();
  return info && folder.io().info_at(folder.handle(), name, by_name).ok() &&
         info->inode == by_name.inode && info->device == by_name.device;
}

// A file that nobody holds the lock of was left by a process that was killed.
void remove_left(const File& folder, const std::string& name) {
  Io& io = folder.io();
  const Result<File> file = open_beneath(folder, name, OpenFor::kRead);
  if (file && io.try_lock(file->handle()).ok() && is_named(folder, name, *file))
    io.unlink_at(folder.handle(), name, false);
}

void sweep(const File& folder) {
  std::vector<FolderEntry> entries;
  if (!folder.io().list(folder.handle(), entries).ok() || entries.size() > kMostSwept) return;
  for (const FolderEntry& entry : entries)
    if (is_ring_name(entry.name)) remove_left(folder, entry.name);
}

// Another feed's sweep may meet the file before it is locked, and take it for one that was left.
Result<File> make_locked(const File& folder, const std::string& name, const std::string& path) {
  constexpr int kMostTries = 100;
  constexpr std::chrono::milliseconds kBetween{1};
  Io& io = folder.io();
  for (int i = 0; i < kMostTries; ++i, std::this_thread::sleep_for(kBetween)) {
    remove_left(folder, name);
    const SysResult made =
        io.open_at(folder.handle(), name,
                   {.flags = O_RDWR | O_CREAT | O_EXCL, .mode = kOwnFile, .follow_links = false});
    if (!made.ok() && made.error_number == EEXIST) continue;
    if (!made.ok()) return io_error("make the file", path, made.error_number);
    File file(io, static_cast<int>(made.value), path);
    const SysResult locked = io.try_lock(file.handle());
    if (!locked.ok() && locked.error_number != EWOULDBLOCK)
      return io_error("lock the file", path, locked.error_number);
    if (locked.ok() && is_named(folder, name, file)) return file;
  }
  return io_error("lock the file", path, EWOULDBLOCK);
}

// Else the first write to each page would be a fault in the middle of a run; on a disk's file
// system that takes microseconds. A kernel that cannot do it leaves it at that.
void touch_pages(void* at, std::size_t size_bytes) {
#if defined(MADV_POPULATE_WRITE)
  ::madvise(at, size_bytes, MADV_POPULATE_WRITE);
#else
  constexpr int kPopulateWrite = 23;
  ::madvise(at, size_bytes, kPopulateWrite);
#endif
}

}  // namespace

RecordMemory::RecordMemory(RecordMemory&& other) noexcept { *this = std::move(other); }

RecordMemory& RecordMemory::operator=(RecordMemory&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_bytes_, other.size_bytes_);
  std::swap(folder_, other.folder_);
  std::swap(file_, other.file_);
  std::swap(name_, other.name_);
  std::swap(path_, other.path_);
  std::swap(place_, other.place_);
  std::swap(pid_, other.pid_);
  return *this;
}

RecordMemory::~RecordMemory() {
  if (data_ != nullptr) ::munmap(data_, size_bytes_);
  if (place_ == 0) return;
  if (pid_ == ::getpid()) folder_.io().unlink_at(folder_.handle(), name_, false);
  own_files().give_back(place_);
}

RecordMemory RecordMemory::in_process(std::size_t size_bytes) {
  void* const at = ::mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) throw std::bad_alloc();
  touch_pages(at, size_bytes);
  RecordMemory memory;
  memory.data_ = static_cast<std::byte*>(at);
  memory.size_bytes_ = size_bytes;
  return memory;
}

Result<RecordMemory> RecordMemory::in_file(const RecordOptions& options, std::size_t size_bytes) {
  Io& io = *options.io;
  const bool is_of_run = !options.run_folder.empty();
  Result<File> folder = is_of_run ? open_folder(io, options.run_folder) : open_common_folder(io);
  if (!folder) return folder.error();
  RecordMemory memory;
  memory.pid_ = ::getpid();
  memory.folder_ = std::move(folder).value();
  if (!is_of_run) {
    sweep(memory.folder_);
    memory.place_ = own_files().take();
  }
  const std::string name =
      is_of_run ? std::string(kRunRecordsName) : name_in_process(memory.place_);
  memory.name_ = std::string(name).append(kUnfinished);
  memory.path_ = memory.folder_.path() + "/" + name;
  Result<File> file = make_locked(memory.folder_, memory.name_, memory.path_);
  if (!file) return file.error();
  memory.file_ = std::move(file).value();
  // A file with holes would end the process where the storage is full.
  if (Result<void> room = memory.file_.allocate(size_bytes); !room) return room.error();
  void* const at =
      ::mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory.file_.handle(), 0);
  if (at == MAP_FAILED) return io_error("map the file", memory.path_, errno);
  touch_pages(at, size_bytes);
  memory.data_ = static_cast<std::byte*>(at);
  memory.size_bytes_ = size_bytes;
  return memory;
}

Result<void> RecordMemory::publish() {
  if (path_.empty()) return {};
  const std::string name = name_.substr(0, name_.size() - kUnfinished.size());
  const SysResult named = folder_.io().rename_at(folder_.handle(), name_, name);
  if (!named.ok()) return io_error("name the file", path_, named.error_number);
  name_ = name;
  return {};
}

}  // namespace stoker::feed
