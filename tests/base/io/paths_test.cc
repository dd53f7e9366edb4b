// What a folder holds, and paths that are not there or cannot be: an absolute path comes back, and
// the walk to the nearest parent ends.
#include "stoker/base/io/paths.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>

#include "stoker/base/errors.h"
#include "tests/doubles/fault_io.h"
#include "tests/doubles/scratch_folder.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;

TEST(ListFolderTest, NamesComeSortedWithTheirKinds) {
  const ScratchFolder scratch;
  scratch.put("b.wav", "x");
  scratch.put("a/inner", "x");
  const File folder = open_file(system_io(), scratch.path(), OpenFor::kFolder).take_or_raise();
  const std::vector<FolderEntry> entries = list_folder(folder).take_or_raise();
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(entries[0].name, "a");
  EXPECT_EQ(entries[0].kind, FileKind::kFolder);
  EXPECT_EQ(entries[1].name, "b.wav");
  EXPECT_EQ(entries[1].kind, FileKind::kRegular);
}

TEST(ListFolderTest, AFailureNamesTheFolder) {
  const ScratchFolder scratch;
  FaultIo io;
  const File folder = open_file(io, scratch.path(), OpenFor::kFolder).take_or_raise();
  io.plan({.at_call = 1, .calls = {IoCall::kList}, .error_number = EACCES});
  const Result<std::vector<FolderEntry>> entries = list_folder(folder);
  ASSERT_FALSE(entries);
  EXPECT_EQ(entries.error().code, &kIoAccess);
  EXPECT_EQ(entries.error().place.file, scratch.path());
}

TEST(RealPathTest, EveryTextGivesAnAbsolutePathAndAFolderThatExists) {
  const ScratchFolder scratch;
  fs::create_symlink("loop", scratch / "loop");
  fs::create_symlink("nowhere", scratch / "dangling");
  scratch.put("file", "x");
  for (const std::string& path :
       {std::string(),           std::string("."),       std::string(".."),
        std::string("/"),        std::string("//"),      std::string("nx"),
        std::string("nx/"),      std::string("nx/a/b"),  std::string("~"),
        std::string("~/x"),      std::string("a/../b"),  std::string("./nx/./y/"),
        std::string("\xff\xfe"), std::string("a\nb"),    std::string(256, 'n'),
        std::string(5000, 'n'),  std::string(5000, '/'), scratch / "loop/x",
        scratch / "dangling",    scratch / "file/x",     scratch.path() + "/"}) {
    const fs::path real = real_path(path);
    EXPECT_TRUE(real.is_absolute()) << path;
    EXPECT_TRUE(fs::exists(nearest_existing(path))) << path;
  }
}

TEST(RealPathTest, OnePlaceHasOneForm) {
  const ScratchFolder scratch;
  fs::create_directory(scratch / "a");
  fs::create_symlink("a", scratch / "link");
  const fs::path real = real_path(scratch / "a");
  EXPECT_EQ(real_path(scratch / "a/"), real);
  EXPECT_EQ(real_path(scratch / "link"), real);
  EXPECT_EQ(real_path(scratch / "a/nx/.."), real);
  EXPECT_EQ(real_path(scratch / "link/nx/"), real / "nx");
  EXPECT_EQ(nearest_existing(scratch / "link/nx/y"), real);
  EXPECT_EQ(real_path("nx"), real_path(fs::current_path() / "nx"));
}

TEST(RealPathTest, AWorkingFolderThatIsGoneIsNoEndlessWalk) {
  const fs::path before = fs::current_path();
  {
    const ScratchFolder scratch;
    fs::current_path(scratch.path());
  }
  EXPECT_TRUE(real_path("nx").is_absolute());
  EXPECT_TRUE(fs::exists(nearest_existing("nx/a/b")));
  fs::current_path(before);
}

}  // namespace
}  // namespace stoker
