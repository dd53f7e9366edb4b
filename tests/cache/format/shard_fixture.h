// Small shards made by hand, for tests that look at their bytes.
#pragma once

#include <string>
#include <vector>

#include "stoker/base/io/io.h"
#include "stoker/cache/format/shard_writer.h"

namespace stoker::cache {

// A folder under the test's temp folder, removed with all it holds.
class TempFolder {
 public:
  TempFolder();
  ~TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  const std::string& path() const noexcept { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

std::vector<std::byte> bytes_of_file(const std::string& path);
void write_bytes(const std::string& path, std::span<const std::byte> bytes);

MadeRecord small_record(const std::string& id, std::uint32_t num_frames, std::uint32_t num_mels);

// Records "r00", "r01" … of growing length as shard `number` at `path`; gives the index digest.
Digest128 write_small_shard(const std::string& path, std::uint32_t number, std::size_t num_records);

}  // namespace stoker::cache
