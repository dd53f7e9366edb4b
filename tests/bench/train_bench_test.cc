// The table of training benchmarks: rows, speed-up, comparison with a kept run, page.
#include "stoker/bench/train_bench.h"

#include <gmock/gmock.h>

#include "stoker/bench/errors.h"
#include "stoker/bench/train_page.h"
#include "tests/feed/small_data_set.h"

namespace stoker::bench {
namespace {

using testing::HasSubstr;

Json figures(double frames_per_s) {
  return Json{{"frames_per_s", frames_per_s},
              {"block_frames_per_s", std::vector<double>{frames_per_s, frames_per_s}},
              {"samples_per_s", 3.5},
              {"batch_ms", {{"mean", 5.25}, {"std", 1.5}, {"min", 4}, {"max", 9}}},
              {"interval_cv", 0.25},
              {"gpu_util_mean", nullptr},
              {"per_step", {{"interval_ms", std::vector<double>{4, 5, 6}}}}};
}

Json row_of(const char* loader, double frames_per_s) {
  Json row{{"loader", loader}, {"path", "cached"}, {"model", "stoker"}, {"changed", Json::array()}};
  row.update(figures(frames_per_s));
  return row;
}

FeedBenchCase cell_of(feed::SmallDataSet& set, FeedLoader loader) {
  const FeedPath path = loader == FeedLoader::kNaive ? FeedPath::kFiles : FeedPath::kCached;
  return {loader, path, {}, with_path(set.settings(), loader, path)};
}

TEST(TrainBenchTest, RowsAreMeasuredInOrderAndComparedWithTheNaiveOne) {
  feed::SmallDataSet set(24);
  TrainBenchOptions options{
      .cells = {cell_of(set, FeedLoader::kNaive), cell_of(set, FeedLoader::kNative)}};
  options.measure = [](const FeedBenchCase& cell) {
    EXPECT_EQ(cell.settings.loader.use_native_loading, cell.loader == FeedLoader::kNative);
    return figures(cell.loader == FeedLoader::kNaive ? 100 : 750);
  };
  const std::vector<Json> rows = bench_train(system_io(), options);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(row_name(rows[0]), "naive files");
  EXPECT_EQ(row_name(rows[1]), "native cached");
  EXPECT_EQ(figure_at(rows[0], "speed_up"), 1.0);
  EXPECT_EQ(figure_at(rows[1], "speed_up"), 7.5);
}

TEST(TrainBenchTest, WithoutAModelTheFeedAloneIsMeasured) {
  feed::SmallDataSet set(24);
  const TrainBenchOptions options{
      .cells = {cell_of(set, FeedLoader::kNative)}, .model = TrainModel::kNone, .seconds = 0.1};
  const std::vector<Json> rows = bench_train(system_io(), options);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_GT(figure_at(rows[0], "frames_per_s").value_or(0), 0);
  EXPECT_EQ(figure_at(rows[0], "compute_ms"), std::nullopt);
  EXPECT_EQ(figure_at(rows[0], "speed_up"), std::nullopt) << "there is no naive row";
  EXPECT_THAT(train_table(rows).rows.at(0), testing::Contains("-"));
}

TEST(TrainBenchTest, ModelsHaveNames) {
  EXPECT_THROW(train_model_from("big"), ConfigError);
  EXPECT_EQ(train_model_from("gemm"), TrainModel::kGemm);
}

TEST(TrainBenchTest, PageHasTheTableAndAHistogramOfEachRow) {
  const std::string page = train_page({row_of("naive", 100), row_of("native", 750)}, "2 s a row");
  EXPECT_THAT(page, HasSubstr("native cached: time between steps"));
  EXPECT_THAT(page, HasSubstr("naive cached: time between steps"));
  EXPECT_THAT(page, HasSubstr("GPU use over time"));
  EXPECT_THAT(page, HasSubstr("5.25 \u00b1 1.50"));
}

}  // namespace
}  // namespace stoker::bench
