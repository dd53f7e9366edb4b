// The position of a feed, as one short line: enough to go on exactly, with any number of workers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "stoker/base/error.h"
#include "stoker/base/philox.h"

namespace stoker::feed {

// Of every state below 10^6 batches, whatever seed and path are; with a seed of at most ten digits,
// below 10^11. The longest of all has 205.
inline constexpr std::size_t kMaxStateBytes = 192;

// Draws are keyed by the epoch's low 32 bits, so a feed ends before they repeat; rows of an epoch
// are counted in 32 bits, and every batch holds at least one.
inline constexpr std::uint64_t kEndEpoch = std::uint64_t{1} << 32U;
inline constexpr std::uint64_t kEndBatch = std::uint64_t{1} << 32U;

// What must be the same for a position in the order to mean the same; 16 hexadecimal digits each.
struct FeedIdentity {
  std::string data;
  std::string order;
  std::string feature;
  std::string text;
  std::string path;  // back end of the numeric path, "avx512"; its number format is in `feature`
  std::uint64_t seed = kDefaultSeed;

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

// {"v":"3-9a3f01bc","data":"…","order":"…","feature":"…","text":"…","path":"avx512","seed":42,
// "epoch":0,"batch":7}, without a newline. The digits after "3-" are the CRC-32C of all bytes
// behind them. docs/format/state.md.
std::string state_line(const FeedState& state);

// Byte for byte the form above, with at most a newline behind it; never more than the checksum and
// the limits of the numbers are trusted. Throws ConfigError E-FEED-STATE.
FeedState parse_state(std::string_view line);

// Throws E-FEED-CHANGED naming every group that differs.
void check_same(const FeedIdentity& saved, const FeedIdentity& now);

}  // namespace stoker::feed
