#include "stoker/base/io/io.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>

#include "stoker/base/bytes.h"
#include "stoker/base/errors.h"
#include "stoker/base/io/open_walk.h"
#include "stoker/base/io/paths.h"
#include "tests/doubles/scratch_folder.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;

File open_scratch(const ScratchFolder& scratch) {
  return open_file(system_io(), scratch.path(), OpenFor::kFolder).take_or_raise();
}

TEST(FileTest, WhatIsWrittenIsReadBackAtAnyOffset) {
  const ScratchFolder scratch;
  const File folder = open_scratch(scratch);
  File file = open_beneath(folder, "a.bin", OpenFor::kCreateNew).take_or_raise();
  file.write_at(view_bytes("hello world"), 3).take_or_raise();
  std::array<std::byte, 32> buffer{};
  EXPECT_EQ(file.read_at(buffer, 9).take_or_raise(), 5U);
  EXPECT_EQ(view_text(std::span(buffer).first(5)), "world");
  EXPECT_EQ(file.info().take_or_raise().size_bytes, 14U);
  EXPECT_TRUE(file.sync().ok());
  EXPECT_TRUE(file.close().ok());
  EXPECT_FALSE(file.is_open());
}

TEST(FileTest, CreateNewRefusesWhatIsThere) {
  const ScratchFolder scratch;
  scratch.put("a", "x");
  const Result<File> opened = open_beneath(open_scratch(scratch), "a", OpenFor::kCreateNew);
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().code->name, "E-IO-EXISTS");
}

TEST(ReadWholeTest, RefusesMoreThanTheLimitAndOtherKinds) {
  const ScratchFolder scratch;
  scratch.put("a", std::string(1000, 'x'));
  const File file = open_file(system_io(), scratch / "a", OpenFor::kRead).take_or_raise();
  EXPECT_EQ(read_whole(file, 1000).take_or_raise().size(), 1000U);
  EXPECT_EQ(read_whole(file, 999).error().code->name, "E-IO-TOOBIG");
  EXPECT_EQ(read_whole(open_scratch(scratch), 10).error().code->name, "E-IO-KIND");
}

TEST(ReadWholeTest, ReadsFilesThatHideTheirSize) {
  const File file = open_file(system_io(), "/proc/self/status", OpenFor::kRead).take_or_raise();
  EXPECT_GT(read_whole(file, 1 << 20).take_or_raise().size(), 100U);
}

TEST(PublishTest, ReplacesTheFileAndLeavesNoLitter) {
  const ScratchFolder scratch;
  const File folder = open_scratch(scratch);
  publish_file(folder, "m.json", view_bytes("one")).take_or_raise();
  publish_file(folder, "m.json", view_bytes("two")).take_or_raise();
  std::vector<FolderEntry> entries;
  ASSERT_TRUE(system_io().list(folder.handle(), entries).ok());
  ASSERT_EQ(entries.size(), 1U);
  EXPECT_EQ(entries[0].name, "m.json");
  const File file = open_beneath(folder, "m.json", OpenFor::kRead).take_or_raise();
  EXPECT_EQ(view_text(read_whole(file, 100).take_or_raise()), "two");
}

TEST(TempNameTest, IsRecognisedAndNeverTheSame) {
  EXPECT_TRUE(is_temp_name(temp_name_for("shard-1")));
  EXPECT_NE(temp_name_for("a"), temp_name_for("a"));
  EXPECT_FALSE(is_temp_name("shard.tmp.notes"));
  EXPECT_FALSE(is_temp_name("shard"));
}

TEST(MakeFoldersTest, CreatesParentsAndIsContentWhenThere) {
  const ScratchFolder scratch;
  EXPECT_TRUE(make_folders(system_io(), scratch / "a/b/c").ok());
  EXPECT_TRUE(make_folders(system_io(), scratch / "a/b/c/").ok());
  EXPECT_TRUE(fs::is_directory(scratch / "a/b/c"));
  scratch.put("file", "x");
  EXPECT_FALSE(make_folders(system_io(), scratch / "file").ok());
  EXPECT_FALSE(make_folders(system_io(), scratch / "file/below").ok());
}

TEST(ListTest, IsSortedAndNamesKinds) {
  const ScratchFolder scratch;
  scratch.put("b", "x");
  scratch.put("c/d", "x");
  fs::create_symlink("b", scratch / "a");
  ASSERT_EQ(mkfifo((scratch / "e").c_str(), 0600), 0);
  std::vector<FolderEntry> entries;
  ASSERT_TRUE(system_io().list(open_scratch(scratch).handle(), entries).ok());
  ASSERT_EQ(entries.size(), 4U);
  EXPECT_EQ(entries[0].kind, FileKind::kLink);
  EXPECT_EQ(entries[1].kind, FileKind::kRegular);
  EXPECT_EQ(entries[2].kind, FileKind::kFolder);
  EXPECT_EQ(entries[3].kind, FileKind::kPipe);
}

TEST(LockTest, IsHeldOnceAndDiesWithItsHolder) {
  const ScratchFolder scratch;
  File first = open_file(system_io(), scratch / "lock", OpenFor::kReadWrite).take_or_raise();
  const File second = open_file(system_io(), scratch / "lock", OpenFor::kReadWrite).take_or_raise();
  ASSERT_TRUE(system_io().try_lock(first.handle()).ok());
  const SysResult refused = system_io().try_lock(second.handle());
  EXPECT_EQ(refused.error_number, EWOULDBLOCK);
  first.close().take_or_raise();
  EXPECT_TRUE(system_io().try_lock(second.handle()).ok());
}

TEST(MapTest, ShowsTheFile) {
  const ScratchFolder scratch;
  scratch.put("a", "mapped");
  const File file = open_file(system_io(), scratch / "a", OpenFor::kRead).take_or_raise();
  const std::byte* at = nullptr;
  ASSERT_TRUE(system_io().map(file.handle(), 6, at).ok());
  EXPECT_EQ(view_text({at, 6}), "mapped");
  EXPECT_TRUE(system_io().unmap(at, 6).ok());
  std::uint64_t free_bytes = 0;
  EXPECT_TRUE(system_io().free_space(file.handle(), free_bytes).ok());
  EXPECT_GT(free_bytes, 0U);
}

struct ErrnoCase {
  const char* operation;
  int error_number;
  const char* code;
  ExitCode exit;
  const char* words;
};

TEST(IoErrorTest, NamesCodeExitAndReason) {
  const std::string uid = "user id " + std::to_string(geteuid());
  const ErrnoCase cases[] = {
      {"write", ENOSPC, "E-IO-FULL", ExitCode::kStorage, "no space left"},
      {"write", EDQUOT, "E-IO-FULL", ExitCode::kStorage, "quota"},
      {"open", EMFILE, "E-IO-HANDLES", ExitCode::kMemory, "ulimit -n"},
      {"open", ENFILE, "E-IO-HANDLES", ExitCode::kMemory, "machine"},
      {"open", EACCES, "E-IO-ACCESS", ExitCode::kStorage, uid.c_str()},
      {"open", ENOENT, "E-IO-MISSING", ExitCode::kStorage, "no such file"},
      {"open", EXDEV, "E-IO-OUTSIDE", ExitCode::kStorage, "out of its folder"},
      {"rename", EXDEV, "E-IO-FAILED", ExitCode::kStorage, "different file systems"},
      {"write", EROFS, "E-IO-READONLY", ExitCode::kStorage, "ead-only"},
      {"write", EFBIG, "E-IO-FILELIMIT", ExitCode::kStorage, "too large"},
      {"read", EIO, "E-IO-FAILED", ExitCode::kStorage, "input/output"},
      {"map", ENOMEM, "E-IO-MEMORY", ExitCode::kMemory, "memory"},
  };
  for (const ErrnoCase& row : cases) {
    const Error error = io_error(row.operation, "some/file", row.error_number);
    EXPECT_EQ(error.code->name, row.code);
    EXPECT_EQ(error.code->exit, row.exit) << row.code;
    EXPECT_NE(error.found.find(row.words), std::string::npos) << error.found;
    EXPECT_NE(error_line(error).find("some/file"), std::string::npos);
  }
}

// Both ways of opening beneath a folder must answer alike.
struct BeneathCase {
  const char* path;
  int error_number;  // 0 = opens
};

class OpenBeneathTest : public testing::TestWithParam<BeneathCase> {
 protected:
  void SetUp() override {
    scratch_.put("outside", "secret");
    scratch_.put("root/in", "inside");
    scratch_.put("root/sub/deep", "inside");
    const auto link = [&](const char* target, const char* name) {
      fs::create_symlink(target, scratch_ / name);
    };
    link("sub/deep", "root/link_in");
    link("../outside", "root/link_out");
    link("/etc/passwd", "root/link_absolute");
    link("loop_b", "root/loop_a");
    link("loop_a", "root/loop_b");
    link("../in", "root/sub/link_up");
    link("sub", "root/link_folder");
    link("../..", "root/sub/climb");
    link("/proc/self/root", "root/magic");
    folder_ = open_file(system_io(), scratch_ / "root", OpenFor::kFolder).take_or_raise();
  }
  ScratchFolder scratch_;
  File folder_;
};

TEST_P(OpenBeneathTest, KernelAndWalkAgree) {
  const Io::OpenHow how{.flags = O_RDONLY, .beneath = true};
  for (const SysResult opened : {system_io().open_at(folder_.handle(), GetParam().path, how),
                                 open_by_walking(folder_.handle(), GetParam().path, how)}) {
    EXPECT_EQ(opened.error_number, GetParam().error_number) << GetParam().path;
    if (!opened.ok()) continue;
    EXPECT_TRUE(system_io().close(static_cast<int>(opened.value)).ok()) << GetParam().path;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Paths, OpenBeneathTest,
    testing::Values(BeneathCase{"in", 0}, BeneathCase{"sub/deep", 0}, BeneathCase{"sub/../in", 0},
                    BeneathCase{"link_in", 0}, BeneathCase{"sub/link_up", 0},
                    BeneathCase{"link_folder/deep", 0}, BeneathCase{"link_folder/../in", 0},
                    BeneathCase{".", 0}, BeneathCase{"sub/..", 0}, BeneathCase{"sub/", 0},
                    BeneathCase{"../outside", EXDEV}, BeneathCase{"sub/../../outside", EXDEV},
                    BeneathCase{"/etc/passwd", EXDEV}, BeneathCase{"link_out", EXDEV},
                    BeneathCase{"link_absolute", EXDEV}, BeneathCase{"sub/climb/outside", EXDEV},
                    BeneathCase{"magic/etc/passwd", EXDEV}, BeneathCase{"loop_a", ELOOP},
                    BeneathCase{"absent", ENOENT}, BeneathCase{"absent/x", ENOENT},
                    BeneathCase{"in/x", ENOTDIR}, BeneathCase{"", ENOENT}));

TEST_F(OpenBeneathTest, LinksAreRefusedWhereTheyAreNotFollowed) {
  const Io::OpenHow how{.flags = O_RDONLY, .beneath = true, .follow_links = false};
  EXPECT_EQ(system_io().open_at(folder_.handle(), "link_in", how).error_number, ELOOP);
  EXPECT_EQ(open_by_walking(folder_.handle(), "link_in", how).error_number, ELOOP);
}

TEST_F(OpenBeneathTest, NulInANameIsNamed) {
  const Result<File> opened = open_beneath(folder_, std::string("in\0x", 4), OpenFor::kRead);
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().code->name, "E-IO-NAME");
}

TEST_F(OpenBeneathTest, PipeWithoutWriterDoesNotBlock) {
  ASSERT_EQ(mkfifo((scratch_ / "root/pipe").c_str(), 0600), 0);
  const File pipe = open_beneath(folder_, "pipe", OpenFor::kRead).take_or_raise();
  EXPECT_EQ(pipe.info().take_or_raise().kind, FileKind::kPipe);
}

}  // namespace
}  // namespace stoker
