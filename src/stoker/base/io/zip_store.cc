#include "stoker/base/io/zip_store.h"

#include <zlib.h>

#include <utility>

#include "stoker/base/bytes.h"

namespace stoker {
namespace {

constexpr std::uint32_t kLocalHeader = 0x04034B50;
constexpr std::uint32_t kDirectoryEntry = 0x02014B50;
constexpr std::uint32_t kDirectoryEnd = 0x06054B50;
constexpr std::size_t kLocalHeaderBytes = 30;
constexpr std::size_t kDirectoryEntryBytes = 46;
constexpr std::size_t kDirectoryEndBytes = 22;
constexpr std::uint16_t kVersion = 20;
constexpr std::uint16_t kFirstDay = 0x0021;  // 1980-01-01

template <class T>
void append_le(std::vector<std::byte>& out, T value) {
  out.resize(out.size() + sizeof(T));
  store_le(out.data() + out.size() - sizeof(T), value);
}

void append_bytes(std::vector<std::byte>& out, std::span<const std::byte> bytes) {
  out.insert(out.end(), bytes.begin(), bytes.end());
}

std::uint32_t crc32_of(std::span<const std::byte> bytes) {
  return static_cast<std::uint32_t>(
      crc32_z(crc32_z(0, nullptr, 0), reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

}  // namespace

// What a local header and its entry in the directory say alike.
void ZipStore::append_common_fields(const Member& member) {
  append_le(out_, kVersion);
  append_le(out_, std::uint16_t{0});  // flags
  append_le(out_, std::uint16_t{0});  // stored
  append_le(out_, std::uint16_t{0});  // midnight
  append_le(out_, kFirstDay);
  append_le(out_, member.crc);
  append_le(out_, member.num_bytes);
  append_le(out_, member.num_bytes);
  append_le(out_, static_cast<std::uint16_t>(member.name.size()));
  append_le(out_, std::uint16_t{0});  // extra field
}

bool ZipStore::add(std::string_view name, std::span<const std::byte> content) {
  const std::uint64_t entry_bytes = kDirectoryEntryBytes + name.size();
  const std::uint64_t whole_bytes = out_.size() + kLocalHeaderBytes + name.size() + content.size() +
                                    directory_bytes_ + entry_bytes + kDirectoryEndBytes;
  if (whole_bytes > kMaxBytes) return false;
  members_.push_back({.name = std::string(name),
                      .crc = crc32_of(content),
                      .num_bytes = static_cast<std::uint32_t>(content.size()),
                      .at_bytes = static_cast<std::uint32_t>(out_.size())});
  directory_bytes_ += entry_bytes;
  append_le(out_, kLocalHeader);
  append_common_fields(members_.back());
  append_bytes(out_, view_bytes(name));
  append_bytes(out_, content);
  return true;
}

void ZipStore::append_directory_entry(const Member& member) {
  append_le(out_, kDirectoryEntry);
  append_le(out_, kVersion);  // made by
  append_common_fields(member);
  append_le(out_, std::uint16_t{0});  // comment
  append_le(out_, std::uint16_t{0});  // disk
  append_le(out_, std::uint16_t{0});  // internal attributes
  append_le(out_, std::uint32_t{0});  // external attributes
  append_le(out_, member.at_bytes);
  append_bytes(out_, view_bytes(member.name));
}

std::vector<std::byte> ZipStore::finish() && {
  const auto at_bytes = static_cast<std::uint32_t>(out_.size());
  for (const Member& member : members_) append_directory_entry(member);
  const auto num_members = static_cast<std::uint16_t>(members_.size());
  const auto directory_bytes = static_cast<std::uint32_t>(out_.size() - at_bytes);
  append_le(out_, kDirectoryEnd);
  append_le(out_, std::uint32_t{0});  // both disk numbers
  append_le(out_, num_members);
  append_le(out_, num_members);
  append_le(out_, directory_bytes);
  append_le(out_, at_bytes);
  append_le(out_, std::uint16_t{0});  // comment
  return std::move(out_);
}

}  // namespace stoker
