#include "stoker/observe/machine/storage_facts.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <span>
#include <vector>

#include "stoker/base/clock.h"
#include "stoker/observe/machine/page_cache_probe.h"
#include "stoker/observe/machine/storage_files.h"

namespace stoker::observe {
namespace {

constexpr std::size_t kSmallFileBytes = std::size_t{64} << 10U;
constexpr double kMb = 1e6;
constexpr double kDropped = 0.1;  // share of pages still in memory at most

// Files of ours that go with this object.
class OwnFiles {
 public:
  OwnFiles(Io& io, const File& folder) : io_(io), folder_(folder) {}
  ~OwnFiles() {
    for (const std::string& name : names_) io_.unlink_at(folder_.handle(), name, false);
  }
  OwnFiles(const OwnFiles&) = delete;
  OwnFiles& operator=(const OwnFiles&) = delete;

  Result<void> write(const std::string& name, std::span<const std::byte> bytes) {
    Result<File> file = open_beneath(folder_, name, OpenFor::kCreateNew);
    if (!file) return file.error();
    names_.push_back(name);
    if (Result<void> wrote = file->write_at(bytes, 0); !wrote) return wrote;
    return file->sync();
  }
  Result<void> read(const std::string& name, std::span<std::byte> into) const {
    const Result<File> file = open_beneath(folder_, name, OpenFor::kRead);
    if (!file) return file.error();
    const Result<std::size_t> got = file->read_at(into, 0);
    if (!got) return got.error();
    return {};
  }
  // Drops the pages of these files and of no other; whether they are gone.
  bool drop(const std::vector<std::string>& names) const {
    std::vector<std::string> paths;
    for (const std::string& name : names) {
      const Result<File> file = open_beneath(folder_, name, OpenFor::kRead);
      if (!file) return false;
      ::posix_fadvise(file->handle(), 0, 0, POSIX_FADV_DONTNEED);
      paths.push_back(folder_.path() + "/" + name);
    }
    const std::optional<double> share = PageCacheProbe(io_, paths).share(0);
    return share && *share <= kDropped;
  }

 private:
  Io& io_;
  const File& folder_;
  std::vector<std::string> names_;
};

struct Reading {
  const OwnFiles& files;
  const std::vector<std::string>& names;
  std::size_t size_bytes;
};

// Files a second, all of them opened and read one after the other.
Result<double> read_rate(const Reading& reading) {
  std::vector<std::byte> bytes(reading.size_bytes);
  const Stopwatch watch;
  for (const std::string& name : reading.names)
    if (Result<void> done = reading.files.read(name, bytes); !done) return done.error();
  return static_cast<double>(reading.names.size()) / std::max(watch.seconds(), 1e-9);
}

struct ReadRates {
  double warm = 0;
  std::optional<double> cold{};
};

// Files a second, cold first where the pages can be dropped.
Result<ReadRates> read_rates(const Reading& reading) {
  ReadRates rates;
  if (reading.files.drop(reading.names)) {
    const Result<double> cold = read_rate(reading);
    if (!cold) return cold.error();
    rates.cold = *cold;
  }
  for (int round = 0; round < 2; ++round) {
    const Result<double> warm = read_rate(reading);
    if (!warm) return warm.error();
    rates.warm = std::max(rates.warm, *warm);
  }
  return rates;
}

Result<void> measure_large(OwnFiles& files, const std::string& prefix, std::uint64_t size_bytes,
                           StorageFacts& facts) {
  const std::vector<std::byte> bytes(size_bytes, std::byte{3});
  const std::vector<std::string> names{prefix + "large"};
  const Stopwatch watch;
  if (Result<void> wrote = files.write(names.front(), bytes); !wrote) return wrote;
  const double mb = static_cast<double>(size_bytes) / kMb;
  facts.write_mb_per_s = mb / std::max(watch.seconds(), 1e-9);
  const Result<ReadRates> rates = read_rates({files, names, bytes.size()});
  if (!rates) return rates.error();
  facts.warm_mb_per_s = mb * rates->warm;
  if (rates->cold) facts.cold_mb_per_s = mb * *rates->cold;
  return {};
}

Result<void> measure_small(OwnFiles& files, const std::string& prefix, std::size_t num_files,
                           StorageFacts& facts) {
  const std::vector<std::byte> bytes(kSmallFileBytes, std::byte{5});
  std::vector<std::string> names;
  for (std::size_t i = 0; i < num_files; ++i) {
    names.push_back(prefix + std::to_string(i));
    if (Result<void> wrote = files.write(names.back(), bytes); !wrote) return wrote;
  }
  const Result<ReadRates> rates = read_rates({files, names, bytes.size()});
  if (!rates) return rates.error();
  facts.warm_files_per_s = rates->warm;
  facts.cold_files_per_s = rates->cold;
  return {};
}

}  // namespace

Result<StorageFacts> measure_storage(Io& io, const std::string& folder, std::uint64_t size_bytes) {
  const Result<File> root = open_file(io, folder, OpenFor::kFolder);
  if (!root) return root.error();
  StorageFacts facts;
  MachineFiles machine(io);
  facts.file_system = StorageFiles(machine, folder).file_system();
  io.free_space(root->handle(), facts.free_bytes);
  const std::string prefix = "storage.tmp." + std::to_string(::getpid()) + ".";
  OwnFiles files(io, *root);
  const std::uint64_t large_bytes = std::max<std::uint64_t>(size_bytes * 3 / 4, kSmallFileBytes);
  if (Result<void> done = measure_large(files, prefix, large_bytes, facts); !done)
    return done.error();
  const std::size_t num_small = std::max<std::size_t>(size_bytes / 4 / kSmallFileBytes, 4);
  if (Result<void> done = measure_small(files, prefix, num_small, facts); !done)
    return done.error();
  return facts;
}

}  // namespace stoker::observe
