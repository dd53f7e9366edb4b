#include "tests/doubles/write_list_io.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <set>

#include "stoker/base/bytes.h"
#include "stoker/base/io/io.h"
#include "tests/doubles/fault_io.h"

namespace stoker {
namespace {

constexpr std::uint64_t kNumSeeds = 200;

std::set<std::string> contents_after_crashes(const WriteListIo& io, const std::string& path) {
  std::set<std::string> seen;
  for (std::size_t step = 0; step <= io.num_steps(); ++step)
    for (std::uint64_t seed = 0; seed < kNumSeeds; ++seed)
      seen.insert(io.after_crash(step, seed)->content_of(path).value_or("(absent)"));
  return seen;
}

TEST(WriteListIoTest, BehavesLikeAFileSystem) {
  WriteListIo io;
  make_folders(io, "/data/cache").take_or_raise();
  const File folder = open_file(io, "/data/cache", OpenFor::kFolder).take_or_raise();
  publish_file(folder, "m", view_bytes("hello")).take_or_raise();
  const File file = open_beneath(folder, "m", OpenFor::kRead).take_or_raise();
  EXPECT_EQ(view_text(read_whole(file, 100).take_or_raise()), "hello");
  EXPECT_EQ(io.content_of("/data/cache/m"), "hello");
  std::vector<FolderEntry> entries;
  ASSERT_TRUE(io.list(folder.handle(), entries).ok());
  EXPECT_EQ(entries.size(), 1U);
  EXPECT_EQ(open_beneath(folder, "../x", OpenFor::kRead).error().code->name, "E-IO-OUTSIDE");
  EXPECT_EQ(io.unlink_at(AT_FDCWD, "/data", true).error_number, ENOTEMPTY);
}

TEST(WriteListIoTest, LockIsHeldOnce) {
  WriteListIo io;
  io.put_file("/lock", "");
  File first = open_file(io, "/lock", OpenFor::kReadWrite).take_or_raise();
  const File second = open_file(io, "/lock", OpenFor::kReadWrite).take_or_raise();
  EXPECT_TRUE(io.try_lock(first.handle()).ok());
  EXPECT_EQ(io.try_lock(second.handle()).error_number, EWOULDBLOCK);
  first.close().take_or_raise();
  EXPECT_TRUE(io.try_lock(second.handle()).ok());
}

TEST(WriteListIoTest, CapacityEndsWithENOSPC) {
  WriteListIo io;
  io.set_capacity_bytes(4);
  const File file = open_file(io, "/a", OpenFor::kCreateNew).take_or_raise();
  EXPECT_TRUE(file.write_at(view_bytes("1234"), 0).ok());
  EXPECT_EQ(file.write_at(view_bytes("5"), 4).error().code->name, "E-IO-FULL");
}

// The reference for every commit protocol: old or new, never neither, never a mixture.
TEST(WriteListIoTest, PublishedFileIsOldOrNewAfterEveryCrash) {
  WriteListIo io;
  io.put_file("/d/m", "old content");
  const std::size_t set_up_steps = io.num_steps();
  const File folder = open_file(io, "/d", OpenFor::kFolder).take_or_raise();
  publish_file(folder, "m", view_bytes(std::string(3000, 'n'))).take_or_raise();
  for (std::size_t step = set_up_steps; step <= io.num_steps(); ++step) {
    for (std::uint64_t seed = 0; seed < kNumSeeds; ++seed) {
      const std::string content = io.after_crash(step, seed)->content_of("/d/m").value_or("");
      ASSERT_TRUE(content == "old content" || content == std::string(3000, 'n'))
          << "step " << step << ", seed " << seed;
      ASSERT_TRUE(step < io.num_steps() || content.front() == 'n') << "a finished publish is lost";
    }
  }
}

// The double must bite: each missing sync shows.
TEST(WriteListIoTest, MissingFileSyncLosesOrTearsContent) {
  WriteListIo io;
  const File folder = open_file(io, "/", OpenFor::kFolder).take_or_raise();
  const File file = open_beneath(folder, "t", OpenFor::kCreateNew).take_or_raise();
  file.write_at(view_bytes(std::string(2000, 'x')), 0).take_or_raise();
  ASSERT_TRUE(io.rename_at(folder.handle(), "t", "m").ok());
  folder.sync().take_or_raise();
  const std::set<std::string> seen = contents_after_crashes(io, "/m");
  EXPECT_TRUE(seen.contains(""));                       // lost
  EXPECT_TRUE(seen.contains(std::string(2000, '\0')));  // size without content
  EXPECT_TRUE(seen.contains(std::string(2000, 'x')));
  EXPECT_GT(seen.size(), 10U);  // torn
}

TEST(WriteListIoTest, MissingFolderSyncMayLoseTheName) {
  WriteListIo io;
  const File folder = open_file(io, "/", OpenFor::kFolder).take_or_raise();
  const File file = open_beneath(folder, "m", OpenFor::kCreateNew).take_or_raise();
  file.write_at(view_bytes("x"), 0).take_or_raise();
  file.sync().take_or_raise();
  std::set<std::string> seen;
  for (std::uint64_t seed = 0; seed < kNumSeeds; ++seed)
    seen.insert(io.after_crash(io.num_steps(), seed)->content_of("/m").value_or("(absent)"));
  EXPECT_EQ(seen, (std::set<std::string>{"(absent)", "x"}));
}

TEST(WriteListIoTest, CrashesAreReplayableAndChain) {
  WriteListIo io;
  const File file = open_file(io, "/a", OpenFor::kCreateNew).take_or_raise();
  file.write_at(view_bytes(std::string(4000, 'x')), 0).take_or_raise();
  for (std::uint64_t seed = 0; seed < 20; ++seed)
    EXPECT_EQ(io.after_crash(2, seed)->content_of("/a"), io.after_crash(2, seed)->content_of("/a"));
  const std::unique_ptr<WriteListIo> second = io.after_crash(2, 1);
  const std::optional<std::string> found = second->content_of("/a");
  second->put_file("/b", "b");
  const std::unique_ptr<WriteListIo> third = second->after_crash(second->num_steps(), 5);
  EXPECT_EQ(third->content_of("/a"), found);
  EXPECT_EQ(third->content_of("/b"), "b");
}

TEST(WriteListIoTest, FaultsCanBeLaidOverIt) {
  WriteListIo disk;
  disk.put_file("/d/m", "old");
  FaultIo io(disk);
  io.plan({.calls = {IoCall::kRename}, .error_number = EXDEV});
  const File folder = open_file(io, "/d", OpenFor::kFolder).take_or_raise();
  EXPECT_FALSE(publish_file(folder, "m", view_bytes("new")).ok());
  EXPECT_EQ(disk.content_of("/d/m"), "old");
}

}  // namespace
}  // namespace stoker
