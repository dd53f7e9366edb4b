// What a state was saved with, by name: settings with their values and a mark of every utterance.
// It is kept beside the state so that a refusal can name what changed; no feed needs it to go on.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/config/settings.h"
#include "stoker/feed/feed_state.h"

namespace stoker::feed {

class DataSetSource;

// Behind the name of the file that holds a state, for the file that holds its origin.
inline constexpr std::string_view kOriginSuffix = ".settings";
inline constexpr std::uint64_t kMaxOriginBytes = std::uint64_t{256} << 20U;
// Of larger data sets only the number of utterances is kept.
inline constexpr std::uint64_t kMostMarks = 1'000'000;

struct OriginSetting {
  std::string group;  // "data", "order", "feature", "text", as in the state
  std::string name;   // "data.batch_size"
  std::string value;  // as JSON

  bool operator==(const OriginSetting&) const = default;
};

struct UtteranceMark {
  std::string id;
  std::string digits;  // 8 of the digest of what the state's `data` covers, besides the id

  bool operator==(const UtteranceMark&) const = default;
};

struct StateOrigin {
  FeedIdentity identity;
  std::vector<OriginSetting> settings;
  std::uint64_t num_utterances = 0;
  std::vector<UtteranceMark> utterances;  // in index order; none beyond kMostMarks

  bool operator==(const StateOrigin&) const = default;
};

// Of a feed with these settings over this source; the identity is left to the caller.
StateOrigin describe_origin(const config::Settings& settings, const DataSetSource& source);

// The lines of docs/format/state.md, "The settings beside it".
std::string encode_origin(const StateOrigin& origin);
// Nothing for other bytes than encode_origin() wrote.
std::optional<StateOrigin> decode_origin(std::string_view text);

// What a feed knows when a state is refused: the origin kept beside the state (empty: none), and
// how to make its own.
struct OriginPair {
  std::string_view kept;
  const std::function<StateOrigin()>& describe_now;
};

// check_same(), but names settings and utterances where the kept origin is that of the state.
void check_same(const FeedIdentity& saved, const FeedIdentity& now, const OriginPair& origins);

}  // namespace stoker::feed
