// The steps from evidence to a diagnosis, each a pure function of what was measured and of the
// model: apart so that each fits a page.
#pragma once

#include <optional>
#include <vector>

#include "stoker/observe/diagnose/diagnosis.h"
#include "stoker/observe/diagnose/supply_model.h"

namespace stoker::observe {

// What the consumer did with its time, as shares of it. Works and step without the waiting.
struct TimeShares {
  double all_s = 0;
  double stall = 0;  // without the start
  double start = 0;  // waiting for the first batches, of the whole watch
  WorkSeconds works{};
  double step = 0;
  double long_steps = 0;    // of single steps, beyond the median of their shape
  double slow_steps = 0;    // of all steps, beyond what the user says one takes
  double consumer_cpu = 0;  // of its thread, as a share of the time outside next(); 0: not known
};
TimeShares shares_of(const Evidence& evidence, const SupplyModel& model);

// On a GPU a consumer may be handed a batch that is still on its way: it then waits in its own
// step. What it waits for there, and `shares` with that time taken from the steps and put to the
// stall; nothing where it does not.
std::optional<NamedCause> find_wait_in_step(const Evidence& evidence, const SupplyModel& model,
                                            TimeShares& shares);
// Of the looks at the consumer's streams; nothing where there were too few.
std::optional<double> idle_look_share(const Evidence& evidence);
// Streams without work between two steps wait for their host, and not for the feed.
bool waits_for_host(const Evidence& evidence);

// A cause that may be one: what it would give back alone, and how it ranks among those that explain
// the same waiting.
struct Candidate {
  NamedCause named;
  double weight = 1;  // below 1: another cause that explains as much is the better name
};

// Why the consumer waits. Their `share` is not set yet.
std::vector<Candidate> feed_candidates(const Evidence& evidence, const SupplyModel& model,
                                       const TimeShares& shares);
// What the consumer loses without waiting; `share` is set.
std::vector<NamedCause> consumer_causes(const Evidence& evidence, const SupplyModel& model,
                                        const TimeShares& shares);

std::vector<Cure> find_cures(const Evidence& evidence, const SupplyModel& model,
                             const std::vector<NamedCause>& causes);

double padding_share(const Evidence& evidence);

// Workers to try: a core for each, and further ones where they wait for storage.
unsigned better_num_workers(const SetupFacts& setup, const SupplyModel& model);
// A buffer that evens out what was seen.
unsigned better_depth(const SetupFacts& setup);

}  // namespace stoker::observe
