// Where a feed stands, as one short line: enough to go on exactly, with any number of workers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "stoker/base/error.h"

namespace stoker::feed {

inline constexpr std::size_t kMaxStateBytes = 192;

// What must be the same for a place in the order to mean the same; 16 hexadecimal digits each.
struct FeedIdentity {
  std::string data;
  std::string order;
  std::string feature;
  std::string text;
  std::string path;  // back end of the numeric path, "avx512"; its number format is in `feature`
  std::uint64_t seed = 42;

  bool operator==(const FeedIdentity&) const = default;
};

// Batches the consumer has got; `batch` of them in `epoch`.
struct FeedPosition {
  std::uint64_t epoch = 0;
  std::uint64_t batch = 0;

  bool operator==(const FeedPosition&) const = default;
};

struct FeedState {
  FeedIdentity identity;
  FeedPosition position;
};

// {"v":1,"data":"…","order":"…","feature":"…","text":"…","path":"avx512","seed":42,"epoch":0,
// "batch":7}, without a newline; at most kMaxStateBytes. docs/format/state.md.
std::string state_line(const FeedState& state);

// Strict: exactly the keys above. Throws ConfigError E-FEED-STATE.
FeedState parse_state(std::string_view line);

// Throws E-FEED-CHANGED naming every group that differs.
void check_same(const FeedIdentity& saved, const FeedIdentity& now);

}  // namespace stoker::feed
