// Records in a file: where it is, what is refused, and what stays when the writer is killed.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "stoker/base/bytes.h"
#include "stoker/base/errors.h"
#include "stoker/feed/errors.h"
#include "stoker/feed/records/batch_recorder.h"
#include "stoker/feed/records/record_reader.h"
#include "stoker/feed/records/record_words.h"
#include "tests/doubles/fault_io.h"
#include "tests/doubles/scratch_folder.h"
#include "tests/feed/records/made_records.h"

namespace stoker::feed {
namespace {

namespace fs = std::filesystem;

constexpr RingSize kSize{.num_ahead = 2, .num_kept = 4};

// XDG_RUNTIME_DIR for the time of a test.
class RuntimeFolder {
 public:
  explicit RuntimeFolder(const std::string& path) {
    const char* const before = std::getenv("XDG_RUNTIME_DIR");
    if (before != nullptr) before_ = before;
    ::setenv("XDG_RUNTIME_DIR", path.c_str(), 1);
  }
  ~RuntimeFolder() {
    if (before_) {
      ::setenv("XDG_RUNTIME_DIR", before_->c_str(), 1);
    } else {
      ::unsetenv("XDG_RUNTIME_DIR");
    }
  }

 private:
  std::optional<std::string> before_;
};

std::shared_ptr<RecordRing> ring_in(const std::string& run_folder, Io& io = system_io()) {
  auto ring = std::make_shared<RecordRing>(
      RecordMemory::in_file({.in_file = true, .run_folder = run_folder, .io = &io},
                            kSize.num_bytes())
          .take_or_raise(),
      kSize, system_clock());
  ring->publish().take_or_raise();
  return ring;
}

void overwrite(const std::string& path, std::uint64_t offset_bytes, std::uint32_t value) {
  const File file = open_file(system_io(), path, OpenFor::kReadWrite).take_or_raise();
  file.write_at(std::as_bytes(std::span(&value, 1)), offset_bytes).take_or_raise();
}

const ErrorCode* fault_of(const std::string& path) {
  const Result<RecordReader> reader = RecordReader::open(path);
  return reader ? nullptr : reader.error().code;
}

TEST(RecordFileTest, AnotherReaderSeesARunsRecordsAndTheyStay) {
  const ScratchFolder run;
  {
    const auto ring = ring_in(run.path());
    EXPECT_EQ(ring->path(), run / "records.ring");
    for (std::uint64_t number = 0; number < 6; ++number) put_and_hand_out(*ring, number);
    ring->give_back(5, 42);
    const RecordReader reader = RecordReader::open(ring->path()).take_or_raise();
    std::vector<BatchRecord> found;
    EXPECT_EQ(reader.read_since(0, found)->num_lost, 2U);
    ASSERT_EQ(found.size(), 4U);
    for (std::size_t i = 0; i < 4; ++i) EXPECT_TRUE(is_made(found[i], 2 + i));
    EXPECT_EQ(found[3].released_ns, 42);
    EXPECT_EQ(reader.head().pid, ::getpid());
    EXPECT_EQ(std::string(reader.head().stages[3].data()), "resample");
    EXPECT_EQ(std::string(reader.head().works[4].data()), "other");
    EXPECT_TRUE(reader.is_written());
    EXPECT_FALSE(*reader.has_ended());
    ring->end();
    EXPECT_TRUE(*reader.has_ended());
  }
  const RecordReader later = RecordReader::open(run / "records.ring").take_or_raise();
  EXPECT_FALSE(later.is_written());
  EXPECT_EQ(*later.num_written(), 6U);
  EXPECT_EQ(std::distance(fs::directory_iterator(run.path()), {}), 1);
}

TEST(RecordFileTest, FeedsOfAProcessHaveFilesOfTheirOwnThatGoWithThem) {
  const ScratchFolder folder;
  const RuntimeFolder runtime(folder.path());
  const std::string own = folder / "stoker/" + std::to_string(::getpid());
  {
    const auto first = ring_in("");
    const auto second = ring_in("");
    EXPECT_EQ(first->path(), own + ".ring");
    EXPECT_EQ(second->path(), own + "-2.ring");
    EXPECT_EQ(fs::status(folder / "stoker").permissions(), fs::perms::owner_all);
    EXPECT_EQ(fault_of(second->path()), nullptr);
  }
  EXPECT_TRUE(fs::is_empty(folder / "stoker"));
}

TEST(RecordFileTest, AFolderThatIsALinkOrOpenToOthersIsNotUsed) {
  const ScratchFolder folder;
  const RuntimeFolder runtime(folder.path());
  Fallbacks fallbacks(FallbackPolicy::kAllow);
  const auto make = [&] {
    return BatchRecorder::make({.in_file = true}, 2, system_clock(), fallbacks);
  };
  fs::create_directories(folder / "elsewhere");
  fs::create_directory_symlink(folder / "elsewhere", folder / "stoker");
  EXPECT_EQ(make()->ring()->path(), "");
  EXPECT_TRUE(fs::is_empty(folder / "elsewhere"));
  fs::remove(folder / "stoker");
  fs::create_directory(folder / "stoker");
  fs::permissions(folder / "stoker", fs::perms::all);
  EXPECT_EQ(make()->ring()->path(), "");
  ASSERT_EQ(fallbacks.counts().size(), 2U);
  for (const FallbackCount& each : fallbacks.counts()) EXPECT_EQ(each.from, "records in a file");
  Fallbacks refused(FallbackPolicy::kRefuse);
  EXPECT_THROW(BatchRecorder::make({.in_file = true}, 2, system_clock(), refused), Failure);
  EXPECT_EQ(BatchRecorder::make({.is_on = false}, 2, system_clock(), fallbacks), nullptr);
}

TEST(RecordFileTest, OtherFilesAreRefused) {
  const ScratchFolder run;
  run.put("text", std::string(5000, 'x'));
  run.put("short", "STKRECS\n");
  EXPECT_EQ(fault_of(run / "text"), &kRecordsFormat);
  EXPECT_EQ(fault_of(run / "short"), &kRecordsFormat);
  EXPECT_EQ(fault_of(run / "none"), &kIoMissing);
}

TEST(RecordFileTest, AnotherVersionADamagedHeaderAndACutFileAreNamed) {
  const ScratchFolder run;
  const auto ring = ring_in(run.path());
  const std::string path = ring->path();
  EXPECT_EQ(fault_of(path), nullptr);
  overwrite(path, offsetof(RecordFileHead, version), kRecordVersion + 1);
  EXPECT_EQ(fault_of(path), &kRecordsVersion);
  overwrite(path, offsetof(RecordFileHead, version), kRecordVersion);
  overwrite(path, offsetof(RecordFileHead, num_places), 1'000'000);
  EXPECT_EQ(fault_of(path), &kRecordsFormat);
  overwrite(path, offsetof(RecordFileHead, num_places), kSize.num_places());
  fs::copy_file(path, run / "copy");
  fs::resize_file(run / "copy", kSize.num_bytes() - 1);
  EXPECT_EQ(fault_of(run / "copy"), &kRecordsCut);
}

TEST(RecordFileTest, AFileThatIsCutWhileItIsReadIsAnError) {
  const ScratchFolder run;
  const auto ring = ring_in(run.path());
  for (std::uint64_t number = 0; number < 4; ++number) put_and_hand_out(*ring, number);
  fs::copy_file(ring->path(), run / "copy");
  const RecordReader reader = RecordReader::open(run / "copy").take_or_raise();
  std::vector<BatchRecord> found;
  EXPECT_EQ(reader.read_since(0, found)->next, 4U);
  fs::resize_file(run / "copy", kRecordHeaderBytes);
  const Result<RecordsRead> cut = reader.read_since(0, found);
  ASSERT_FALSE(cut.ok());
  EXPECT_EQ(cut.error().code, &kRecordsCut);
}

// The writer dies in the middle of a record, as a kill leaves it.
TEST(RecordFileTest, AKilledWriterLeavesTheRecordsBeforeIt) {
  const ScratchFolder run;
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const auto ring = ring_in(run.path());
    for (std::uint64_t number = 0; number < 4; ++number) put_and_hand_out(*ring, number);
    auto* const place =
        const_cast<std::byte*>(ring->bytes().data()) + kRecordHeaderBytes + 2 * kRecordPlaceBytes;
    store_word(reinterpret_cast<std::uint64_t*>(place), mark_of(8) | kMarkBusy);
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  const RecordReader reader = RecordReader::open(run / "records.ring").take_or_raise();
  EXPECT_FALSE(reader.is_written());
  EXPECT_FALSE(*reader.has_ended());
  std::vector<BatchRecord> found;
  EXPECT_EQ(reader.read_since(0, found)->num_lost, 1U);
  ASSERT_EQ(found.size(), 3U);
  EXPECT_TRUE(is_made(found[2], 3));
}

TEST(RecordFileTest, FilesOfKilledProcessesAreRemovedByTheNext) {
  const ScratchFolder folder;
  const RuntimeFolder runtime(folder.path());
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const auto ring = ring_in("");
    ::kill(::getpid(), SIGKILL);
  }
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  const std::string left = folder / ("stoker/" + std::to_string(child) + ".ring");
  EXPECT_TRUE(fs::exists(left));
  const auto ring = ring_in("");
  EXPECT_FALSE(fs::exists(left));
  EXPECT_TRUE(fs::exists(ring->path()));
}

// Another feed's sweep meets a file that is made and not locked yet.
TEST(RecordFileTest, AFeedThatBeginsRemovesNoFileOfOneThatBeginsToo) {
  const ScratchFolder folder;
  const RuntimeFolder runtime(folder.path());
  FaultIo slow;
  slow.plan({.kind = Fault::Kind::kDelay,
             .calls = {IoCall::kAllocate, IoCall::kLock},
             .delay = std::chrono::milliseconds(300)});
  std::shared_ptr<RecordRing> ring;
  std::thread first([&] { ring = ring_in("", slow); });
  const std::string own = folder / ("stoker/" + std::to_string(::getpid()) + ".ring");
  while (slow.num_fired() == 0) std::this_thread::yield();
  const auto second = ring_in("");
  first.join();
  EXPECT_EQ(ring->path(), own);
  EXPECT_EQ(fault_of(own), nullptr) << "it has a name";
  EXPECT_EQ(fault_of(second->path()), nullptr);
}

}  // namespace
}  // namespace stoker::feed
