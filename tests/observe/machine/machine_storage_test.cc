// Memory, storage and GPU of a machine whose files and driver a test plants.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <stdexcept>

#include "tests/observe/machine/planted_machine.h"

namespace stoker::observe {
namespace {

TEST(MachineMemoryTest, SwappingAndTheLeastThatWasAvailable) {
  PlantedMachine machine;
  const MachineWindow window = machine.over([&] {
    machine.put("proc/vmstat", "nr_free_pages 3\npswpin 400\npswpout 100\n");
    machine.put("proc/meminfo", "MemTotal: 1000 kB\nMemAvailable: 50 kB\n");
    machine.put_pressure("memory", 200'000);
  });
  EXPECT_EQ(window.memory.swap_in_pages_per_s, 200);
  EXPECT_EQ(window.memory.swap_out_pages_per_s, 50);
  EXPECT_EQ(window.memory.available_bytes, 50U * 1024);
  EXPECT_EQ(window.memory.available_share, 0.05);
  EXPECT_DOUBLE_EQ(window.memory.pressure.value(), 0.1);
  EXPECT_EQ(window.memory.limit_bytes, std::nullopt);
}

TEST(MachineMemoryTest, LimitOfTheGroupCountsWithoutWhatCanBeDropped) {
  PlantedMachine machine;
  machine.put("sys/fs/cgroup/job/memory.max", "1000\n");
  machine.put("sys/fs/cgroup/job/memory.current", "900\n");
  machine.put("sys/fs/cgroup/job/memory.stat", "anon 300\ninactive_file 500\n");
  const MachineWindow window = machine.over([] {});
  EXPECT_EQ(window.memory.limit_bytes, 1000U);
  EXPECT_EQ(window.memory.group_bytes, 400U);
  EXPECT_DOUBLE_EQ(window.memory.available_share.value(), 0.6);
}

TEST(MachineMemoryTest, LargestNumberOfVersion1IsNoLimit) {
  PlantedMachine machine;
  machine.put("proc/self/cgroup", "4:memory:/a\n");
  machine.put("sys/fs/cgroup/memory/a/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(machine.over([] {}).memory.limit_bytes, std::nullopt);
}

TEST(MachineStorageTest, DeviceBelowTheDataIsFoundByItsMount) {
  PlantedMachine machine;
  machine.put("data/a.wav", "sound");
  machine.sources.data_path = machine.root / "data";
  machine.put("proc/self/mountinfo",
              "22 1 0:5 / / rw - overlay overlay rw\n"
              "36 22 0:99 / " +
                  machine.root.path() + " rw shared:1 - btrfs /dev/sdb1 rw\n");
  machine.put("sys/block/sdb/queue/rotational", "1\n");
  machine.put("proc/diskstats",
              "8 16 sdb 0 0 0 0 0 0 0 0 0 0 0\n8 17 sdb1 5 0 0 0 0 0 0 0 0 0 0\n");
  const MachineWindow window = machine.over([&] {
    machine.put("proc/diskstats", "8 17 sdb1 105 0 2000 1500 0 0 0 0 3 1000 8000 0 0\n");
    machine.put("proc/self/io", "rchar: 4000\nwchar: 1\nread_bytes: 2000\n");
  });
  EXPECT_EQ(window.storage.file_system, "btrfs");
  EXPECT_EQ(window.storage.device, "sdb1");
  EXPECT_EQ(window.storage.kind, StorageKind::kRotating);
  EXPECT_EQ(window.storage.device_read_ms, 15);
  EXPECT_EQ(window.storage.device_busy_share, 0.5);
  EXPECT_EQ(window.storage.device_queue, 4);
  EXPECT_EQ(window.storage.device_read_bytes_per_s, 512'000);
  EXPECT_EQ(window.storage.own_read_bytes_per_s, 1000);
  EXPECT_EQ(window.storage.own_asked_bytes_per_s, 2000);
  EXPECT_EQ(window.json().at("storage").at("kind").text(), "rotating");
}

struct KindCase {
  const char* file_system;
  StorageKind kind;
};
class StorageKindTest : public testing::TestWithParam<KindCase> {};

TEST_P(StorageKindTest, IsToldByTheFileSystem) {
  PlantedMachine machine;
  machine.sources.data_path = machine.root.path();
  machine.put("proc/self/mountinfo",
              std::string("22 1 0:5 / / rw - ") + GetParam().file_system + " server:/x rw\n");
  const MachineWindow window = machine.over([] {});
  EXPECT_EQ(window.storage.kind, GetParam().kind);
  EXPECT_EQ(window.storage.device, "");
  EXPECT_EQ(window.storage.device_busy_share, std::nullopt);
}

INSTANTIATE_TEST_SUITE_P(All, StorageKindTest,
                         testing::Values(KindCase{"nfs4", StorageKind::kNetwork},
                                         KindCase{"cifs", StorageKind::kNetwork},
                                         KindCase{"tmpfs", StorageKind::kMemory},
                                         KindCase{"fuse.rclone", StorageKind::kFuse},
                                         KindCase{"overlay", StorageKind::kOverlay},
                                         KindCase{"ext4", StorageKind::kUnknown}));

TEST(MachineStorageTest, PagesInMemoryAreCountedAndDroppedOnesAreNot) {
  PlantedMachine machine;
  machine.put("data/a.wav", std::string(1U << 20U, 'a'));
  const std::string path = machine.root / "data/a.wav";
  machine.sources.data_files = {path, machine.root / "data/gone.wav"};
  EXPECT_EQ(machine.over([] {}).storage.page_cache_share, 1);

  const int handle = open(path.c_str(), O_RDONLY);
  ASSERT_GE(handle, 0);
  fsync(handle);
  posix_fadvise(handle, 0, 0, POSIX_FADV_DONTNEED);
  close(handle);
  PlantedMachine after;
  after.sources.data_files = {path};
  const std::optional<double> share = after.over([] {}).storage.page_cache_share;
  ASSERT_TRUE(share);
  if (*share == 1) GTEST_SKIP() << "the file system of " << path << " drops nothing";
  EXPECT_LT(*share, 0.1);
}

TEST(MachineGpuTest, PlantedCardThatIsHeldDown) {
  PlantedMachine machine;
  unsigned number = 0;
  machine.sources.gauge = {
      .sample =
          [&number] {
            ++number;
            return cuda::GpuSample{.utilization_percent = 40 * number,
                                   .memory_used_bytes = 100 * number,
                                   .clock_mhz = 1000,
                                   .throttle_reasons = number == 2 ? 0x40U : 0x1U};
          },
      .link =
          [] {
            return cuda::GpuLink{
                .max_clock_mhz = 2000, .pcie_rx_mb_per_s = 900, .num_other_processes = 1};
          },
      .uuid = "GPU-11"};
  machine.start();
  const auto from = machine.clock.now();
  machine.clock.advance(std::chrono::seconds(1));
  const MachineWindow window = machine.sampler->window(from, machine.sampler->mark());
  ASSERT_TRUE(window.gpu);
  EXPECT_EQ(window.gpu->uuid, "GPU-11");
  EXPECT_EQ(window.gpu->utilization_percent, 60);
  EXPECT_EQ(window.gpu->memory_used_bytes, 200U);
  EXPECT_EQ(window.gpu->clock_mhz, 1000);
  EXPECT_EQ(window.gpu->max_clock_mhz, 2000);
  EXPECT_EQ(window.gpu->pcie_rx_mb_per_s, 900);
  EXPECT_EQ(window.gpu->throttled_share, 0.5);  // an idle GPU is not held down
  EXPECT_EQ(window.gpu->num_other_processes, 1U);
  EXPECT_EQ(window.json().at("gpu").at("throttle").text(), "idle, heat (hardware)");
}

TEST(MachineGpuTest, DriverThatFailsLeavesTheRest) {
  PlantedMachine machine;
  machine.sources.gauge = {.sample = []() -> cuda::GpuSample { throw std::runtime_error("lost"); },
                           .uuid = "GPU-11"};
  const MachineWindow window = machine.over([] {});
  ASSERT_TRUE(window.gpu);
  EXPECT_EQ(window.gpu->utilization_percent, std::nullopt);
  EXPECT_EQ(window.cpu.busy_cores, 0);
}

TEST(MachineGpuTest, WithoutOneTheWindowSaysWhy) {
  PlantedMachine machine;
  machine.sources.gauge = {.why_none = "no driver here"};
  const MachineWindow window = machine.over([] {});
  EXPECT_FALSE(window.gpu);
  EXPECT_EQ(window.json().at("gpu").dump(), "null");
  EXPECT_EQ(window.json().at("why_no_gpu").text(), "no driver here");
}

}  // namespace
}  // namespace stoker::observe
