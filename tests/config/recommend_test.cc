#include "stoker/config/recommend.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "stoker/base/error.h"

namespace stoker::config {
namespace {

std::string value_of(const std::vector<Recommendation>& all, std::string_view path) {
  const auto at = std::find_if(all.begin(), all.end(),
                               [&](const Recommendation& one) { return one.path == path; });
  return at == all.end() ? "none" : at->value;
}

struct WorkerCase {
  const char* gpu;
  unsigned cores;
  const char* workers;
};

TEST(RecommendTest, WorkersNeverOutnumberTheCores) {
  for (const WorkerCase& row :
       {WorkerCase{"rtx4090", 64, "24"}, WorkerCase{"rtx4090", 8, "7"},
        WorkerCase{"rtx4090", 2, "2"}, WorkerCase{"h200", 2, "2"}, WorkerCase{"rtx3060", 32, "8"}})
    EXPECT_EQ(
        value_of(recommend({.gpu = gpu_by_name(row.gpu), .cores = row.cores}), "data.num_workers"),
        row.workers)
        << row.gpu << " with " << row.cores << " cores";
}

TEST(RecommendTest, WithoutAGpuTheCpuIsChosen) {
  const std::vector<Recommendation> all = recommend({.gpu = {}, .cores = 2});
  EXPECT_EQ(value_of(all, "device"), "cpu");
  EXPECT_EQ(value_of(all, "data.num_workers"), "2");
}

}  // namespace
}  // namespace stoker::config
