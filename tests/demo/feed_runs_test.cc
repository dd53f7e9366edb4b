#include "stoker/demo/feed_runs.h"

#include <gmock/gmock.h>

namespace stoker::demo {
namespace {

using testing::HasSubstr;

DemoLoader loader_of(const std::string& name, double ms) {
  return {.name = name, .intervals_s = {1e-3 * ms, 2e-3 * ms}};
}

TEST(FeedRunsTest, PageShowsFilesBesideNaiveAndCached) {
  DemoRace race{.step_ms = 3, .build_s = 1, .loaders = {}};
  for (const char* name : {"naive", "native from files", "native from cache"})
    race.loaders.push_back(loader_of(name, 3));
  HtmlReport report("t", "");
  add_race(report, race);
  const std::string page = report.finish();
  for (const DemoLoader& loader : race.loaders) {
    EXPECT_THAT(page, HasSubstr("<td>" + loader.name + "</td>"));
    EXPECT_THAT(page, HasSubstr("<title>" + loader.name + "</title>"));
  }
  EXPECT_THAT(page, HasSubstr(R"(viewBox="0 0 340 360")"));
}

}  // namespace
}  // namespace stoker::demo
