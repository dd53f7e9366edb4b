// Results reach files whole, links their targets, and never replace a device, a pipe or a folder.
#include "stoker/base/io/output_file.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

#include <thread>

#include "stoker/base/bytes.h"
#include "stoker/base/io/paths.h"
#include "tests/doubles/fault_io.h"
#include "tests/doubles/scratch_folder.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;

Result<void> publish(const std::string& path, std::string_view text) {
  return publish_output(system_io(), path, view_bytes(text));
}

std::string refusal(const std::string& path) {
  const Result<void> done = publish(path, "text");
  if (done.ok()) return "written";
  EXPECT_EQ(done.error().place.file, path);
  const Result<void> checked = check_output(system_io(), path);
  EXPECT_FALSE(checked.ok()) << path;
  return std::string(done.error().code->name);
}

mode_t kind_of(const std::string& path) {
  struct stat found {};
  EXPECT_EQ(lstat(path.c_str(), &found), 0) << path;
  return found.st_mode & S_IFMT;
}

std::size_t num_entries(const ScratchFolder& scratch) {
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator(scratch.path()), fs::directory_iterator()));
}

TEST(OutputFileTest, MakesAFileWithItsParentsAndReplacesIt) {
  const ScratchFolder scratch;
  const std::string path = scratch / "a/b/out.txt";
  ASSERT_TRUE(check_output(system_io(), path).ok());
  EXPECT_FALSE(fs::exists(scratch / "a"));  // looking changes nothing
  ASSERT_TRUE(publish(path, "one").ok());
  ASSERT_TRUE(publish(path, "two").ok());
  EXPECT_EQ(content_of(path), "two");
  EXPECT_EQ(num_entries(scratch), 1U);
}

TEST(OutputFileTest, ANameAsLongAsNamesGetIsWritten) {
  const ScratchFolder scratch;
  const std::string name(255, 'n');
  ASSERT_TRUE(publish(scratch / name, "text").ok());
  EXPECT_EQ(content_of(scratch / name), "text");
  EXPECT_EQ(refusal(scratch / (name + "n")), "E-IO-NAME");
}

TEST(OutputFileTest, ALinkStaysAndItsTargetIsWritten) {
  const ScratchFolder scratch;
  scratch.put("data/old", "old");
  fs::create_symlink("data/old", scratch / "relative");
  fs::create_symlink(scratch / "relative", scratch / "absolute");
  ASSERT_TRUE(publish(scratch / "absolute", "new").ok());
  EXPECT_EQ(kind_of(scratch / "absolute"), S_IFLNK);
  EXPECT_EQ(kind_of(scratch / "relative"), S_IFLNK);
  EXPECT_EQ(content_of(scratch / "data/old"), "new");
}

TEST(OutputFileTest, ALinkToNothingMakesItsTarget) {
  const ScratchFolder scratch;
  fs::create_symlink("later/file", scratch / "link");
  ASSERT_TRUE(publish(scratch / "link", "text").ok());
  EXPECT_EQ(kind_of(scratch / "link"), S_IFLNK);
  EXPECT_EQ(content_of(scratch / "later/file"), "text");
}

TEST(OutputFileTest, RefusesWhatIsNoFile) {
  const ScratchFolder scratch;
  fs::create_directory(scratch / "folder");
  fs::create_symlink("folder", scratch / "link");
  fs::create_symlink("loop", scratch / "loop");
  const int handle = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  const std::string socket_path = scratch / "socket";
  socket_path.copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(bind(handle, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(refusal(scratch / "folder"), "E-IO-KIND");
  EXPECT_EQ(refusal(scratch / "folder/"), "E-IO-KIND");
  EXPECT_EQ(refusal(scratch / "new/"), "E-IO-KIND");
  EXPECT_EQ(refusal(scratch / "link"), "E-IO-KIND");
  EXPECT_EQ(refusal(scratch / "folder/."), "E-IO-KIND");
  EXPECT_EQ(refusal(scratch / "folder/.."), "E-IO-KIND");
  EXPECT_EQ(refusal(scratch / "loop"), "E-IO-LOOP");
  EXPECT_EQ(refusal(socket_path), "E-IO-KIND");
  EXPECT_EQ(refusal(""), "E-IO-KIND");
  EXPECT_EQ(kind_of(scratch / "folder"), S_IFDIR);
  EXPECT_EQ(kind_of(socket_path), S_IFSOCK);
  EXPECT_EQ(num_entries(scratch), 4U);
  close(handle);
}

TEST(OutputFileTest, APipeIsWrittenToAndStaysAPipe) {
  const ScratchFolder scratch;
  const std::string pipe = scratch / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  // More than a pipe holds, so that the writer has to wait for the reader.
  const std::string text(1 << 20, 'x');
  std::string got;
  std::thread reader([&] { got = content_of(pipe); });
  // The reader may not have opened it yet: then nobody reads, and that is an error.
  Result<void> done = publish(pipe, text);
  while (!done.ok() && done.error().found.find("no process reads") != std::string::npos) {
    std::this_thread::yield();
    done = publish(pipe, text);
  }
  reader.join();
  EXPECT_TRUE(done.ok());
  EXPECT_EQ(got, text);
  EXPECT_EQ(kind_of(pipe), S_IFIFO);
}

TEST(OutputFileTest, APipeWithoutAReaderIsRefusedAtOnce) {
  const ScratchFolder scratch;
  const std::string pipe = scratch / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_TRUE(check_output(system_io(), pipe).ok());  // a reader may come until then
  const Result<void> done = publish(pipe, "text");
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.error().code->name, "E-IO-KIND");
  EXPECT_EQ(kind_of(pipe), S_IFIFO);
}

TEST(OutputFileTest, AReaderThatLeavesIsAnErrorAndNoSignal) {
  const ScratchFolder scratch;
  const std::string pipe = scratch / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const int reader = open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  std::thread leaves([reader] {
    char byte = 0;
    while (read(reader, &byte, 1) != 1) std::this_thread::yield();
    close(reader);
  });
  const Result<void> done = publish(pipe, std::string(1 << 20, 'x'));
  leaves.join();
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.error().code->name, "E-IO-FAILED");
}

TEST(OutputFileTest, ADeviceIsWrittenToAndStaysADevice) {
  const ScratchFolder scratch;
  const std::string null = scratch / "null";
  if (mknod(null.c_str(), S_IFCHR | 0666, makedev(1, 3)) != 0)
    GTEST_SKIP() << "making a device node needs root";
  const std::string link = scratch / "link";
  fs::create_symlink("null", link);
  const Result<void> done = publish(null, "text");
  // Some containers let a node be made but not be opened.
  if (done.ok()) {
    EXPECT_TRUE(publish(link, "text").ok());
  } else {
    EXPECT_EQ(done.error().code->name, "E-IO-ACCESS");
  }
  EXPECT_EQ(kind_of(null), S_IFCHR);
  EXPECT_EQ(kind_of(link), S_IFLNK);
}

TEST(OutputFileTest, AFailureAtAnyCallLeavesTheOldContentAndNoLitter) {
  for (const IoCall call : kWritingCalls) {
    const ScratchFolder scratch;
    scratch.put("out", "old");
    FaultIo io;
    io.plan({.calls = {call}});
    const Result<void> done = publish_output(io, scratch / "out", view_bytes("new"));
    const std::string content = content_of(scratch / "out");
    EXPECT_TRUE(content == "new" || content == "old");
    if (call == IoCall::kWrite || call == IoCall::kRename) {
      EXPECT_FALSE(done.ok());
      EXPECT_EQ(content, "old");
    }
    EXPECT_EQ(num_entries(scratch), 1U);
  }
}

TEST(TempNameTest, IsNeverLongerThanANameMayBe) {
  for (const std::size_t size : {1U, 233U, 234U, 235U, 255U}) {
    const std::string temp = temp_name_for(std::string(size, 'n'));
    EXPECT_LE(temp.size(), 255U);
    EXPECT_TRUE(is_temp_name(temp));
  }
}

}  // namespace
}  // namespace stoker
