#include "tests/cache/format/shard_fixture.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "stoker/base/bytes.h"

namespace stoker::cache {

TempFolder::TempFolder() {
  // In memory where there is such a place: the loops sync thousands of times.
  const std::filesystem::path memory = "/dev/shm";
  const bool has_memory = std::filesystem::is_directory(memory);
  const std::filesystem::path parent = has_memory ? memory : std::filesystem::temp_directory_path();
  std::string name = (parent / "stoker-cache-XXXXXX").string();
  path_ = mkdtemp(name.data());
}

TempFolder::~TempFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::vector<std::byte> bytes_of_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  const auto bytes = view_bytes(text);
  return {bytes.begin(), bytes.end()};
}

void write_bytes(const std::string& path, std::span<const std::byte> bytes) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(reinterpret_cast<const char*>(bytes.data()),
            static_cast<std::streamsize>(bytes.size()));
}

MadeRecord small_record(const std::string& id, std::uint32_t num_frames, std::uint32_t num_mels) {
  MadeRecord record;
  record.id = id;
  record.source = digest_of(id + "'s file");
  record.source_bytes = 44;
  std::span<std::byte> payload =
      record.reset({ElementType::kF16, 2, {num_frames, num_mels, 0, 0, 0, 0}});
  for (std::size_t i = 0; i < payload.size(); ++i)
    payload[i] = static_cast<std::byte>((i * 7 + id.back()) & 0x3BU);
  return record;
}

Digest128 write_small_shard(const std::string& path, std::uint32_t number,
                            std::size_t num_records) {
  std::vector<MadeRecord> records;
  for (std::size_t i = 0; i < num_records; ++i)
    records.push_back(small_record(fmt::format("r{:02}", i), static_cast<std::uint32_t>(i + 1), 5));
  std::vector<MadeRecord*> pointers;
  for (MadeRecord& record : records) pointers.push_back(&record);
  ShardHeader header;
  header.number = number;
  header.num_records = static_cast<std::uint32_t>(num_records);
  header.settings = digest_of(std::string_view("settings"));
  File file = open_file(system_io(), path, OpenFor::kCreateNew).take_or_raise();
  return write_shard(file, header, pointers).take_or_raise();
}

}  // namespace stoker::cache
