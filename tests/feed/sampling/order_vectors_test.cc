// The vectors of docs/format/order.md, computed through the library.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "stoker/feed/sampling/sampler.h"

namespace stoker::feed {
namespace {

struct Vectors {
  std::string name;
  std::map<std::string, std::string> values;
  std::vector<std::string> lines;  // "shape …" and "batch …" as the page has them
};

std::vector<Vectors> load_page() {
  std::ifstream page(STOKER_SOURCE_DIR "/docs/format/order.md");
  std::vector<Vectors> cases;
  bool inside = false;
  for (std::string line; std::getline(page, line);) {
    if (line == "```vectors") inside = true;
    if (!inside || line.starts_with("```")) continue;
    if (!line.starts_with("case ")) {
      cases.back().lines.push_back(line);
      continue;
    }
    std::istringstream words(line.substr(5));
    Vectors each;
    words >> each.name;
    for (std::string word; words >> word;) {
      each.values[word.substr(0, word.find('='))] = word.substr(word.find('=') + 1);
    }
    cases.push_back(each);
  }
  return cases;
}

std::vector<double> numbers(const std::string& list) {
  std::vector<double> found;
  std::istringstream parts(list);
  for (std::string part; std::getline(parts, part, ',');) found.push_back(std::stod(part));
  return found;
}

std::vector<std::string> lines_of(const Vectors& vectors) {
  const auto value = [&](const char* key) {
    return static_cast<std::uint32_t>(std::stoul(vectors.values.at(key)));
  };
  SamplerSettings settings{.seed = value("seed"),
                           .batch_frames = value("batch_frames"),
                           .batch_size = value("batch_size"),
                           .batch_multiple = value("batch_multiple"),
                           .max_shapes = value("max_shapes"),
                           .shuffle = value("shuffle") == 1,
                           .drop_last = value("drop_last") == 1,
                           .source_weights = numbers(vectors.values.at("weights"))};
  const auto num_sources = static_cast<std::uint32_t>(settings.source_weights.size());
  std::vector<SampledUtterance> rows;
  for (std::uint32_t i = 0; i < value("rows"); ++i) {
    rows.push_back({40 + i * i * 7919 % 601, 5 + i * 104729 % 47, i % num_sources});
  }
  if (value("long") > 0) rows.back().num_frames = value("long");
  const Sampler order(rows, settings);
  EpochPlan plan;
  order.plan_epoch(value("epoch"), plan);
  std::vector<std::string> lines;
  for (const BatchShape& shape : order.shapes()) {
    lines.push_back("shape " + std::to_string(shape.num_rows) + " " +
                    std::to_string(shape.num_frames) + " " + std::to_string(shape.num_tokens));
  }
  for (const PlannedBatch& batch : plan.batches) {
    std::string line = "batch " + std::to_string(batch.shape_index) + " :";
    for (const std::uint32_t row : plan.view_rows(batch)) line += " " + std::to_string(row);
    lines.push_back(line);
  }
  return lines;
}

TEST(OrderVectorsTest, LibraryAgreesWithThePage) {
  const std::vector<Vectors> cases = load_page();
  EXPECT_GE(cases.size(), 15U);
  for (const Vectors& each : cases) EXPECT_EQ(lines_of(each), each.lines) << each.name;
}

}  // namespace
}  // namespace stoker::feed
