// Zip archives whose members are stored as they are: what NumPy reads as .npz.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stoker {

// Holds the archive in memory until it is finished. The same members give the same bytes: every
// time in it is 1980-01-01.
class ZipStore {
 public:
  static constexpr std::uint64_t kMaxBytes = 0xFFFF'FFFF;  // of the archive, without zip64

  // False, and nothing added, when the archive would grow past kMaxBytes. Names are ASCII.
  [[nodiscard]] bool add(std::string_view name, std::span<const std::byte> content);
  // The whole archive. Nothing can be added afterwards.
  std::vector<std::byte> finish() &&;

 private:
  struct Member {
    std::string name;
    std::uint32_t crc = 0;
    std::uint32_t num_bytes = 0;
    std::uint32_t at_bytes = 0;
  };
  void append_common_fields(const Member& member);
  void append_directory_entry(const Member& member);

  std::vector<std::byte> out_;
  std::vector<Member> members_;
  std::uint64_t directory_bytes_ = 0;
};

}  // namespace stoker
