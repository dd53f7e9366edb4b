// Grids by the names that people type, and `stoker bench feed` with grids and a kept report.
#include "stoker/cli/bench_grid.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "stoker/base/error.h"
#include "stoker/bench/errors.h"
#include "tests/cli/program_run.h"

namespace stoker::cli {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(BenchGridTest, ASettingHasItsPathAndTheNamesOfItsOption) {
  for (const char* name : {"data.num_workers", "num-workers", "num_workers", "--num-workers"})
    EXPECT_EQ(grid_path(name), "data.num_workers") << name;
  EXPECT_EQ(grid_path("cache-tier"), "cache.tier");
  EXPECT_EQ(grid_path("seed"), "seed");
  EXPECT_EQ(grid_path("data"), "data.path");
}

TEST(BenchGridTest, SeveralGridsAreTheirProduct) {
  EXPECT_THAT(combinations({"num-workers=1,2", "data.batch_size=8"}),
              ElementsAre(ElementsAre("data.num_workers=1", "data.batch_size=8"),
                          ElementsAre("data.num_workers=2", "data.batch_size=8")));
  EXPECT_THAT(combinations({}), ElementsAre(ElementsAre()));
}

struct Refused {
  std::vector<std::string> grids;
  const char* cure;
};

TEST(BenchGridTest, WhatIsNoSettingIsRefusedWithTheNearest) {
  for (const Refused& row :
       {Refused{{"num-wrokers=1"}, "did you mean num-workers?"},
        Refused{{"path=cached,files"}, "--path a,b"}, Refused{{"=1"}, "--grid num-workers=1,2,4"},
        Refused{{"num-workers"}, "--grid num-workers=1,2,4"},
        Refused{{"num-workers=1", "data.num_workers=2"}, "into one"}}) {
    try {
      combinations(row.grids);
      FAIL() << row.grids.front();
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.error().code, &bench::kBenchChoice);
      EXPECT_THAT(failure.error().cure, HasSubstr(row.cure));
    }
  }
}

class BenchFeedGridTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = fresh_folder();
    const ProgramRun made =
        run_program("data make --out " + folder_ + "/voice --clips 8 --lengths uniform:1-2");
    ASSERT_EQ(made.exit_code, 0) << made.err;
  }
  static ProgramRun run(const std::string& more) {
    return run_program("bench feed --device cpu --batch-size 4 --seconds 0.2 --repeat 2 " + more +
                       " " + folder_ + "/voice");
  }
  static void keep(double rate) {
    json row{{"loader", "native"}, {"path", "cached"}, {"median_clips_per_s", rate}};
    row["changed"] = json::array();
    write_text(folder_ + "/kept.json", json{{"rows", {row}}}.dump());
  }
  inline static std::string folder_;
};

TEST_F(BenchFeedGridTest, RowsAreRankedWithTheirSettings) {
  const ProgramRun found = run("--json --grid num-workers=0,1 --grid prefetch-buffer-size=2,4");
  ASSERT_EQ(found.exit_code, 0) << found.err;
  const json report = json::parse(found.out);
  ASSERT_EQ(report["rows"].size(), 4U);
  const json& ranking = report["ranking"];
  ASSERT_EQ(ranking.size(), 4U);
  EXPECT_EQ(ranking[0]["share_of_best"], 1.0);
  for (std::size_t i = 1; i < 4; ++i) EXPECT_LE(ranking[i]["rate"], ranking[i - 1]["rate"]);
  const std::size_t best = ranking[0]["index"];
  EXPECT_EQ(report["rows"][best]["median_clips_per_s"], ranking[0]["rate"]);
  EXPECT_THAT(ranking[0]["row"].get<std::string>(), HasSubstr("data.num_workers="));
}

TEST_F(BenchFeedGridTest, SlowerThanTheKeptRunIsExitCodeOne) {
  keep(1);
  const ProgramRun faster = run("--against " + folder_ + "/kept.json");
  EXPECT_EQ(faster.exit_code, 0) << faster.err;
  EXPECT_THAT(faster.out, HasSubstr("% clips/s ("));
  keep(1e12);
  const ProgramRun slower = run("--json --at-least 0.5 --against " + folder_ + "/kept.json");
  EXPECT_EQ(slower.exit_code, 1) << slower.err;
  EXPECT_EQ(json::parse(slower.out)["against"][0]["is_below"], true);
}

TEST_F(BenchFeedGridTest, KeptReportIsReadBeforeAnythingIsBuilt) {
  write_text(folder_ + "/broken.json", "{\"rows\": []}");
  const ProgramRun broken = run("--cache " + folder_ + "/c --against " + folder_ + "/broken.json");
  EXPECT_EQ(broken.exit_code, 2);
  EXPECT_THAT(broken.err, HasSubstr("broken.json"));
  EXPECT_THAT(broken.err, Not(HasSubstr("built")));
}

TEST_F(BenchFeedGridTest, AMistypedAutoIsNamed) {
  const ProgramRun found = run("--batch-frames atuo");
  EXPECT_EQ(found.exit_code, 2);
  EXPECT_THAT(found.err, HasSubstr("auto or a whole number"));
  EXPECT_THAT(found.err, HasSubstr("did you mean auto?"));
}

}  // namespace
}  // namespace stoker::cli
