// What `stoker data` says about an index: lines for people and keys for programs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stoker/base/json.h"
#include "stoker/data/index.h"
#include "stoker/data/summary.h"
#include "stoker/feed/sampling/expected_padding.h"

namespace stoker::cli {

// Beside data::account_json.
void put_summary(Json& report, const data::Summary& summary);

// The account, then the first rejects and warnings as error lines.
std::vector<std::string> check_lines(const data::Index& index);
// The account, then durations with a histogram, rates, speakers and characters.
std::vector<std::string> info_lines(const data::Index& index, const data::Summary& summary);

// What a feed of the current settings would waste, and the utterances that cost it.
void put_padding(Json& report, const data::Index& index, const feed::ExpectedPadding& padding);
std::vector<std::string> padding_lines(const data::Index& index,
                                       const feed::ExpectedPadding& padding);

struct SplitLines {
  std::string text;  // "id|split" with split train, eval or unused
  std::uint64_t num_train = 0;
  std::uint64_t num_eval = 0;
  std::uint64_t num_unused = 0;
};
SplitLines split_lines(const data::Index& index, const data::SplitOptions& options);

}  // namespace stoker::cli
