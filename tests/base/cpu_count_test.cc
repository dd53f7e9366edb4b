#include "stoker/base/cpu_count.h"

#include <gtest/gtest.h>

#include "tests/doubles/scratch_folder.h"

namespace stoker {
namespace {

TEST(CpuCountTest, AllowsAtLeastOneAndNoMoreThanAffinity) {
  const CpuCount count = count_cpus();
  EXPECT_GE(count.allowed, 1U);
  EXPECT_LE(count.allowed, count.by_affinity);
}

TEST(CpuCountTest, OfManyCoresOneIsLeftToTheConsumer) {
  EXPECT_EQ(workers_beside_consumer(1), 1U);
  EXPECT_EQ(workers_beside_consumer(2), 2U);
  EXPECT_EQ(workers_beside_consumer(4), 4U);
  EXPECT_EQ(workers_beside_consumer(5), 4U);
  EXPECT_EQ(workers_beside_consumer(16), 15U);
}

TEST(CpuCountTest, SmallestQuotaOfAnyParentGroupCountsInVersionTwo) {
  const ScratchFolder root;
  root.put("proc/self/cgroup", "0::/outer/inner\n");
  root.put("sys/fs/cgroup/outer/cpu.max", "150000 100000\n");
  root.put("sys/fs/cgroup/outer/inner/cpu.max", "max 100000\n");
  EXPECT_EQ(cgroup_quota_cores(root.path()), 1.5);
}

TEST(CpuCountTest, QuotaOfVersionOneIsRead) {
  const ScratchFolder root;
  root.put("proc/self/cgroup", "5:memory:/x\n4:cpu,cpuacct:/job\n0::/\n");
  root.put("sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "300000\n");
  root.put("sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(cgroup_quota_cores(root.path()), 3.0);
  root.put("sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "-1\n");
  EXPECT_EQ(cgroup_quota_cores(root.path()), std::nullopt);
}

TEST(CpuCountTest, NoGroupsMeansNoQuota) {
  const ScratchFolder root;
  EXPECT_EQ(cgroup_quota_cores(root.path()), std::nullopt);
}

}  // namespace
}  // namespace stoker
