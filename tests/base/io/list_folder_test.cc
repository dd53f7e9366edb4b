// What a folder holds, and the error of one that cannot be listed.
#include "stoker/base/io/list_folder.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "stoker/base/errors.h"
#include "tests/doubles/fault_io.h"
#include "tests/doubles/scratch_folder.h"

namespace stoker {
namespace {

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

}  // namespace
}  // namespace stoker
