// Looks for the settings of a feed that bring the most, by short runs within a budget: a walk along
// tier, workers and depth, then the best ones again in turn, those left out that are surely behind.
// It knows no feed: runs are a function.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string_view>
#include <vector>

#include "stoker/base/clock.h"

namespace stoker::observe {

// Where a feed takes its utterances from. In the order of preference among equals.
enum class FeedTier : std::uint8_t {
  kFiles,   // sound files, features on the fly
  kCached,  // mels from the cache
  kPcm,     // 16-bit samples from the cache, mel on the fly
  kMemory,  // mels from the cache, locked in memory
  kGpu,     // all of it in GPU memory
};
std::string_view name_of(FeedTier tier);

struct FeedChoice {
  FeedTier tier = FeedTier::kFiles;
  unsigned num_workers = 1;
  unsigned depth = 4;  // batches ready

  bool operator==(const FeedChoice&) const = default;
};

// Clips a second of one run; nothing where the choice cannot be run at all.
using RunChoice = std::function<std::optional<double>(const FeedChoice& choice, double seconds)>;

struct SearchOptions {
  std::vector<FeedTier> tiers{};
  unsigned most_workers = 1;
  unsigned most_depth = 32;
  double budget_s = 60;  // one run may reach beyond it
  std::stop_token stop{};
  const Clock* clock = &system_clock();
};

struct TriedChoice {
  FeedChoice choice{};
  std::vector<double> rates{};  // of every run
  std::vector<double>
      in_turn{};  // of the rounds in which the best took turns, the first ones first

  double median() const;
  double mean() const;
  // Half of the range in which the rate is in 95 of 100 cases; 0 of one run.
  double plus_minus() const;
};

struct SearchResult {
  std::optional<TriedChoice> best{};  // nothing where no choice could be run
  std::vector<TriedChoice> tried{};   // in the order of their first run
  double seconds = 0;
};

// Among choices that are equal within their noise the cheapest wins: the preferred tier, the fewest
// workers, the least depth that keeps a batch in work and one ready for each worker.
SearchResult search_choices(const SearchOptions& options, const RunChoice& run);

// A batch in work and one ready for each worker, and eight at least: they ride out a pause of
// either side on a busy machine.
constexpr unsigned least_depth(unsigned num_workers) {
  constexpr unsigned kFewestReady = 8;
  return 2 * num_workers > kFewestReady ? 2 * num_workers : kFewestReady;
}

}  // namespace stoker::observe
