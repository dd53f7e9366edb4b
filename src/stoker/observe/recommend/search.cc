#include "stoker/observe/recommend/search.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>
#include <utility>

#include "stoker/base/cpu_count.h"
#include "stoker/observe/statistics.h"

namespace stoker::observe {
namespace {

constexpr std::array<std::string_view, 5> kTierNames{"files", "cached", "pcm", "memory", "gpu"};

// Of the budget: one run, and the walk; the rest confirms.
constexpr double kRunShare = 1.0 / 90, kWalkShare = 0.6;
constexpr double kShortestRunS = 0.03, kLongestRunS = 1;
constexpr double kTurnShare = 1.0 / 3;  // of a run
constexpr double kWorthKeeping = 0.85;  // of the best tier's rate
constexpr std::size_t kFinalists = 8;
constexpr std::size_t kFewestRounds = 4, kEnoughRounds = 60;
// Rates that differ by less are equal whatever their noise, and by more never are.
constexpr double kSurelyEqual = 0.01, kMostEqual = 0.02;

struct RateRatio {
  double value = 1;
  double plus_minus = 0;  // half of the range in which it is in 95 of 100 cases
};

// Half of the range in which the mean is in 95 of 100 cases; 0 of one value.
double range_of_mean(const std::vector<double>& values) {
  if (values.size() < 2) return 0;
  constexpr std::array kDeviationsOfFew{0.0, 0.0, 12.7, 4.3, 3.2, 2.8, 2.6, 2.4, 2.4, 2.3};
  const double mean = mean_of(values);
  double squares = 0;
  for (const double each : values) squares += (each - mean) * (each - mean);
  const auto count = static_cast<double>(values.size());
  const double deviations =
      values.size() < kDeviationsOfFew.size() ? kDeviationsOfFew[values.size()] : 2.0;
  return deviations * std::sqrt(squares / (count - 1) / count);
}

// Round by round, so that what slows both does not count.
RateRatio ratio_of_rounds(const std::vector<double>& one, const std::vector<double>& other) {
  std::vector<double> logs(std::min(one.size(), other.size()));
  for (std::size_t i = 0; i < logs.size(); ++i) logs[i] = std::log(one[i] / other[i]);
  const double value = logs.empty() ? 1 : std::exp(mean_of(logs));
  return {.value = value, .plus_minus = value * range_of_mean(logs)};
}

class Search {
 public:
  Search(const SearchOptions& options, const RunChoice& run)
      : options_(options), run_(run), watch_(*options.clock) {}

  SearchResult walk() {
    const std::vector<FeedTier> tiers = kept_tiers();
    if (!tiers.empty()) {
      try_depths(tiers.front(), best_workers(tiers.front()));
      const FeedChoice best = by_rate(1).front();
      for (const FeedTier tier : tiers)
        if (!has_ended(kWalkShare)) measure({tier, best.num_workers, best.depth});
    }
    confirm();
    choose();
    result_.seconds = watch_.seconds();
    return std::move(result_);
  }

 private:
  double run_s() const {
    return std::clamp(kRunShare * options_.budget_s, kShortestRunS, kLongestRunS);
  }
  bool has_ended(double share) const {
    return options_.stop.stop_requested() || watch_.seconds() >= share * options_.budget_s;
  }
  unsigned depth_for(unsigned num_workers) const {
    return std::min(options_.most_depth, least_depth(num_workers));
  }

  TriedChoice* find(const FeedChoice& choice) {
    const auto at = std::find_if(result_.tried.begin(), result_.tried.end(),
                                 [&](const TriedChoice& each) { return each.choice == choice; });
    return at == result_.tried.end() ? nullptr : &*at;
  }

  // One more run of it; its mean so far, 0 where it cannot be run.
  double measure(const FeedChoice& choice) { return measure(choice, run_s()); }
  double measure(const FeedChoice& choice, double seconds) {
    const std::optional<double> rate = run_(choice, seconds);
    if (!rate) return 0;
    if (find(choice) == nullptr) result_.tried.push_back({.choice = choice});
    TriedChoice& tried = *find(choice);
    tried.rates.push_back(*rate);
    return tried.mean();
  }

  // Each tier twice in turn, so that a slow second does not decide; the fastest first.
  std::vector<FeedTier> kept_tiers() {
    const unsigned num_workers =
        std::min(options_.most_workers, workers_beside_consumer(options_.most_workers));
    std::vector<std::pair<double, FeedTier>> rates;
    for (int round = 0; round < 2; ++round) {
      rates.clear();
      for (const FeedTier tier : options_.tiers) {
        if (!result_.tried.empty() && has_ended(kWalkShare)) break;
        rates.emplace_back(measure({tier, num_workers, depth_for(num_workers)}), tier);
      }
      if (rates.size() < options_.tiers.size()) break;
    }
    std::stable_sort(rates.begin(), rates.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    std::vector<FeedTier> kept;
    for (const auto& [rate, tier] : rates)
      if (rate > 0 && rate >= kWorthKeeping * rates.front().first) kept.push_back(tier);
    return kept;
  }

  // 1, 2, 4 … and the two at the end; then what is between the best and its neighbours.
  unsigned best_workers(FeedTier tier) {
    std::vector<unsigned> counts;
    for (unsigned count = 1; count < options_.most_workers; count *= 2) counts.push_back(count);
    const unsigned beside = workers_beside_consumer(options_.most_workers);
    for (const unsigned count : {beside, options_.most_workers})
      if (std::find(counts.begin(), counts.end(), count) == counts.end()) counts.push_back(count);
    std::sort(counts.begin(), counts.end());
    unsigned best = try_workers(tier, counts);
    const auto at = std::find(counts.begin(), counts.end(), best) - counts.begin();
    std::vector<unsigned> between;
    if (at > 0) between.push_back((best + counts[static_cast<std::size_t>(at) - 1]) / 2);
    if (static_cast<std::size_t>(at) + 1 < counts.size())
      between.push_back((best + counts[static_cast<std::size_t>(at) + 1]) / 2);
    between.push_back(best);
    best = try_workers(tier, between);
    return best;
  }

  // Twice each, there and back, so that what drifts does not decide.
  unsigned try_workers(FeedTier tier, std::vector<unsigned> counts) {
    std::vector<double> rates(counts.size());
    for (int round = 0; round < 2; ++round) {
      for (std::size_t i = 0; i < counts.size(); ++i) {
        if (rates.front() > 0 && has_ended(kWalkShare)) break;
        const FeedChoice choice{tier, counts[i], depth_for(counts[i])};
        const TriedChoice* const known = find(choice);
        rates[i] = known != nullptr && known->rates.size() > 1 ? known->mean() : measure(choice);
      }
      std::reverse(counts.begin(), counts.end());
      std::reverse(rates.begin(), rates.end());
    }
    return counts[static_cast<std::size_t>(std::max_element(rates.begin(), rates.end()) -
                                           rates.begin())];
  }

  // As often as workers were tried, for the same reason.
  void try_depths(FeedTier tier, unsigned num_workers) {
    std::vector<unsigned> depths{std::min(options_.most_depth, least_depth(num_workers))};
    for (unsigned depth = 2; depth <= options_.most_depth; depth *= 2)
      if (depth != depths.front()) depths.push_back(depth);
    for (std::size_t round = 0; round < 2; ++round) {
      for (const unsigned depth : depths) {
        if (has_ended(kWalkShare)) return;
        const TriedChoice* const known = find({tier, num_workers, depth});
        if (known == nullptr || known->rates.size() <= round) measure({tier, num_workers, depth});
      }
      std::reverse(depths.begin(), depths.end());
    }
  }

  // The best again, in short turns there and back, until the budget ends: what drifts hits all of
  // them.
  void confirm() {
    std::vector<FeedChoice> finalists = by_rate(kFinalists);
    if (const std::optional<FeedChoice> usual = usual_beside(finalists))
      finalists.push_back(*usual);
    // A tier after the other: to open one costs more than a turn.
    std::stable_sort(finalists.begin(), finalists.end(),
                     [](const FeedChoice& a, const FeedChoice& b) { return a.tier < b.tier; });
    const double turn_s = std::max(kTurnShare * run_s(), kShortestRunS);
    for (std::size_t round = 0; round < kEnoughRounds && !finalists.empty(); ++round) {
      for (const FeedChoice& choice : finalists) {
        if (has_ended(1)) return;
        if (measure(choice, turn_s) > 0)
          find(choice)->in_turn.push_back(find(choice)->rates.back());
      }
      std::reverse(finalists.begin(), finalists.end());
      if (round + 1 >= kFewestRounds) drop_the_beaten(finalists);
    }
  }

  // The rounds that are saved go to those that may still be the best.
  void drop_the_beaten(std::vector<FeedChoice>& finalists) {
    const TriedChoice* const best = fastest();
    if (best == nullptr) return;
    std::erase_if(finalists, [&](const FeedChoice& choice) {
      const RateRatio ratio = ratio_of_rounds(find(choice)->in_turn, best->in_turn);
      return ratio.value + ratio.plus_minus < 1 - kMostEqual;
    });
  }

  // Cheaper first.
  std::tuple<bool, FeedTier, unsigned, unsigned> cost(const FeedChoice& choice) const {
    const bool is_shallow =
        choice.depth < std::min(options_.most_depth, least_depth(choice.num_workers));
    return {is_shallow, choice.tier, choice.num_workers, choice.depth};
  }

  std::vector<FeedChoice> by_rate(std::size_t most) {
    std::vector<const TriedChoice*> order;
    order.reserve(result_.tried.size());
    for (const TriedChoice& each : result_.tried) order.push_back(&each);
    std::stable_sort(order.begin(), order.end(),
                     [this](const TriedChoice* a, const TriedChoice* b) {
                       if (a->mean() != b->mean()) return a->mean() > b->mean();
                       return cost(a->choice) < cost(b->choice);
                     });
    std::vector<FeedChoice> best;
    for (const TriedChoice* each : order)
      if (best.size() < most) best.push_back(each->choice);
    return best;
  }

  // The depth that would be preferred among equals gets its chance.
  std::optional<FeedChoice> usual_beside(const std::vector<FeedChoice>& finalists) const {
    if (finalists.empty()) return std::nullopt;
    FeedChoice usual = finalists.front();
    usual.depth = std::min(options_.most_depth, least_depth(usual.num_workers));
    const bool is_there = std::find(finalists.begin(), finalists.end(), usual) != finalists.end();
    return is_there ? std::nullopt : std::optional(usual);
  }

  // Of the rounds where there were any, and of the walk else. Who was dropped has fewer rounds and
  // is behind; the budget may end within the last round.
  const TriedChoice* fastest() const {
    std::size_t num_rounds = 0;
    for (const TriedChoice& each : result_.tried)
      num_rounds = std::max(num_rounds, each.in_turn.size());
    const TriedChoice* best = nullptr;
    for (const TriedChoice& each : result_.tried) {
      const bool is_confirmed =
          num_rounds == 0 || (!each.in_turn.empty() && each.in_turn.size() + 1 >= num_rounds);
      if (is_confirmed && (best == nullptr || speed_against(each, *best).value > 1)) best = &each;
    }
    return best;
  }

  static RateRatio speed_against(const TriedChoice& one, const TriedChoice& other) {
    if (!one.in_turn.empty() && !other.in_turn.empty())
      return ratio_of_rounds(one.in_turn, other.in_turn);
    return {.value = one.mean() / std::max(other.mean(), 1e-9), .plus_minus = kMostEqual};
  }

  void choose() {
    const TriedChoice* const best = fastest();
    if (best == nullptr) return;
    const TriedChoice* chosen = best;
    for (const TriedChoice& each : result_.tried) {
      // Runs of the walk alone are too few to be believed beside those that were confirmed.
      if (each.in_turn.empty() != best->in_turn.empty()) continue;
      const RateRatio ratio = speed_against(each, *best);
      const double margin = std::clamp(ratio.plus_minus, kSurelyEqual, kMostEqual);
      if (ratio.value >= 1 - margin && cost(each.choice) < cost(chosen->choice)) chosen = &each;
    }
    result_.best = *chosen;
  }

  const SearchOptions& options_;
  const RunChoice& run_;
  Stopwatch watch_;
  SearchResult result_;
};

}  // namespace

std::string_view name_of(FeedTier tier) { return kTierNames[static_cast<std::size_t>(tier)]; }

double TriedChoice::median() const { return median_of(rates); }
double TriedChoice::mean() const { return mean_of(rates); }

double TriedChoice::plus_minus() const { return range_of_mean(rates); }

SearchResult search_choices(const SearchOptions& options, const RunChoice& run) {
  return Search(options, run).walk();
}

}  // namespace stoker::observe
