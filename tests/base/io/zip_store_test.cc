#include "stoker/base/io/zip_store.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "stoker/base/bytes.h"
#include "tests/doubles/scratch_folder.h"

namespace stoker {
namespace {

void save(const std::string& path, std::span<const std::byte> bytes) {
  std::ofstream(path, std::ios::binary) << view_text(bytes);
}

std::vector<std::byte> some_bytes(std::size_t num_bytes) {
  std::vector<std::byte> bytes(num_bytes);
  for (std::size_t i = 0; i < num_bytes; ++i) bytes[i] = static_cast<std::byte>(i * 37 + i / 256);
  return bytes;
}

TEST(ZipStoreTest, PythonReadsEveryMember) {
  const ScratchFolder scratch;
  ZipStore zip;
  for (const auto& [name, num_bytes] :
       {std::pair{"first.npy", 5000U}, std::pair{"empty.npy", 0U}, std::pair{"third.npy", 1U}}) {
    const std::vector<std::byte> content = some_bytes(num_bytes);
    save(scratch / name, content);
    EXPECT_TRUE(zip.add(name, content));
  }
  save(scratch / "whole.zip", std::move(zip).finish());
  const std::string command =
      "python3 " + std::string(STOKER_TEST_SOURCES) + "/io/check_zip.py " + scratch.path();
  EXPECT_EQ(std::system(command.c_str()), 0);
}

TEST(ZipStoreTest, SameMembersGiveTheSameBytes) {
  const auto make = [] {
    ZipStore zip;
    EXPECT_TRUE(zip.add("a", some_bytes(100)));
    return std::move(zip).finish();
  };
  EXPECT_EQ(make(), make());
}

// The bytes are never read: the size alone is refused.
TEST(ZipStoreTest, RefusesMoreThanItsOffsetsCanSay) {
  ZipStore zip;
  const std::byte one{};
  EXPECT_FALSE(zip.add("large", {&one, ZipStore::kMaxBytes}));
  EXPECT_TRUE(zip.add("small", {&one, 1}));
}

}  // namespace
}  // namespace stoker
