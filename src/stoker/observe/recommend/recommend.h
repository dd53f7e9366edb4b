// Measures the machine, the data and a few short runs of the feed, and says which settings fit:
// what `stoker config recommend` does.
#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "stoker/base/io/io.h"
#include "stoker/config/settings.h"
#include "stoker/observe/recommend/advice.h"

namespace stoker::observe {

struct RecommendOptions {
  config::Settings settings{};  // data.path empty: a data set is made; device `auto` is resolved
  std::string gpu{};            // a card by name; empty: the one that is here
  double budget_s = 60;
  Io* io = &system_io();
  std::stop_token stop{};
  std::function<void(std::string_view)> say = [](std::string_view) {};
  decltype(feed::OpenOptions::wrap) wrap{};  // put between the loader and the feed of the runs
};

struct Recommendation {
  Findings findings;
  Advice advice;
};

// Writes nothing that stays. Throws E-CONFIG-VALUE for a card that is not known, and what indexing
// the data throws.
Recommendation recommend(const RecommendOptions& options);

}  // namespace stoker::observe
