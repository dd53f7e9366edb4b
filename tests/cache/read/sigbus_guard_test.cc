#include "stoker/cache/read/sigbus_guard.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <new>

#include "tests/doubles/sanitizers.h"
#include "tests/doubles/scratch_folder.h"

namespace stoker::cache {
namespace {

// A mapping whose file was cut to nothing: touching it is SIGBUS.
class CutMapping {
 public:
  CutMapping() {
    const int handle = ::open((scratch_ / "cut").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    EXPECT_EQ(::ftruncate(handle, kBytes), 0);
    at_ = ::mmap(nullptr, kBytes, PROT_READ, MAP_SHARED, handle, 0);
    EXPECT_NE(at_, MAP_FAILED);
    EXPECT_EQ(::ftruncate(handle, 0), 0);
    ::close(handle);
  }
  ~CutMapping() { ::munmap(at_, kBytes); }
  CutMapping(const CutMapping&) = delete;
  CutMapping& operator=(const CutMapping&) = delete;

  std::span<const std::byte> bytes() const { return {static_cast<const std::byte*>(at_), kBytes}; }

 private:
  static constexpr std::size_t kBytes = 4096;
  ScratchFolder scratch_;
  void* at_ = nullptr;
};

std::byte touch(std::span<const std::byte> bytes) {
  return *static_cast<const volatile std::byte*>(bytes.data());
}

TEST(SigbusGuardTest, AFaultInsideTheMemoryBecomesAReturnValue) {
  const CutMapping cut;
  // TSan takes the jump out of the first handler for one that still runs, and blocks the next
  // signal.
  const int num_rounds = kUnderThreadSanitizer ? 1 : 3;
  for (int round = 0; round < num_rounds; ++round) {
    auto read = [&] { touch(cut.bytes()); };
    EXPECT_FALSE(guarded(cut.bytes(), read));
  }
}

TEST(SigbusGuardTest, AnExceptionEndsTheGuardThatItLeaves) {
  const CutMapping cut;
  const std::array<std::byte, 16> other{};
  const auto throw_inside = [&] {
    auto run_out_of_memory = [] { throw std::bad_alloc(); };
    guarded(other, run_out_of_memory);
  };
  auto read = [&] {
    try {
      throw_inside();
    } catch (const std::bad_alloc&) {
      touch(cut.bytes());
    }
  };
  EXPECT_FALSE(guarded(cut.bytes(), read));
}

}  // namespace
}  // namespace stoker::cache
