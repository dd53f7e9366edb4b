#include "stoker/observe/machine/page_cache_probe.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "stoker/base/clock.h"
#include "stoker/base/philox.h"

namespace stoker::observe {
namespace {

constexpr double kMostS = 0.002;
constexpr unsigned kMostFiles = 16;
constexpr std::uint64_t kPartBytes = std::uint64_t{1} << 20U;

struct Pages {
  std::uint64_t num_asked = 0;
  std::uint64_t num_in_memory = 0;
};

// Since Linux 5.2 whoever may not write a file is told that all of it is in memory.
bool is_told_the_truth(const FileInfo& info) {
  constexpr std::uint32_t kAnybodyWrites = 0002;
  const uid_t user = geteuid();
  return user == 0 || info.owner == user || (info.mode & kAnybodyWrites) != 0;
}

void count_pages(const std::byte* at, std::uint64_t size_bytes, Pages& pages) {
  const auto page_bytes = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  std::array<unsigned char, kPartBytes / 4096> in_memory{};
  const std::uint64_t num_pages =
      std::min<std::uint64_t>((size_bytes + page_bytes - 1) / page_bytes, in_memory.size());
  // mincore() changes nothing behind the pointer.
  void* const begin = const_cast<std::byte*>(at);
  if (mincore(begin, static_cast<std::size_t>(num_pages * page_bytes), in_memory.data()) != 0)
    return;
  pages.num_asked += num_pages;
  pages.num_in_memory += static_cast<std::uint64_t>(
      std::count_if(in_memory.begin(), in_memory.begin() + static_cast<std::ptrdiff_t>(num_pages),
                    [](unsigned char flags) { return (flags & 1U) != 0; }));
}

// Of a long file one part, drawn.
void count_file(Io& io, const std::string& path, KeyedDraws& draws, Pages& pages) {
  const Result<File> file = open_file(io, path, OpenFor::kRead);
  if (!file) return;
  const Result<FileInfo> info = file->info();
  if (!info || info->kind != FileKind::kRegular || info->size_bytes == 0) return;
  if (!is_told_the_truth(*info)) return;
  const std::byte* at = nullptr;
  if (!io.map(file->handle(), info->size_bytes, at).ok()) return;
  const std::uint64_t part = draws.next_below((info->size_bytes - 1) / kPartBytes + 1);
  const std::uint64_t begin = part * kPartBytes;
  count_pages(at + begin, std::min(kPartBytes, info->size_bytes - begin), pages);
  io.unmap(at, info->size_bytes);
}

}  // namespace

PageCacheProbe::PageCacheProbe(Io& io, std::vector<std::string> files)
    : io_(&io), files_(std::move(files)) {}

std::optional<double> PageCacheProbe::share(std::uint64_t reading) const {
  if (files_.empty()) return std::nullopt;
  KeyedDraws draws({.stage = "page-cache", .item = reading});
  const Stopwatch watch;
  Pages pages;
  for (unsigned i = 0; i < kMostFiles && watch.seconds() < kMostS; ++i)
    count_file(*io_, files_[draws.next_below(files_.size())], draws, pages);
  if (pages.num_asked == 0) return std::nullopt;
  return static_cast<double>(pages.num_in_memory) / static_cast<double>(pages.num_asked);
}

}  // namespace stoker::observe
