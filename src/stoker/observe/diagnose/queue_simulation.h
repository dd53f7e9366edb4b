// Plays workers, buffer and consumer again, batch by batch, with any number of workers, cores and
// slots: what averages hide (bursts, one slow batch, a buffer of two) decides whether one waits.
#pragma once

#include <span>

namespace stoker::observe {

// What one batch costs. Worker: first what it waits for, then processor time; the serial part is
// one worker's at a time.
struct SimulatedBatch {
  double blocked_s = 0;
  double serial_s = 0;
  double cpu_s = 0;
  double transfer_s = 0;  // to the device, one batch after the other
  double consumer_s = 0;  // from hand-out until it asks again
};

struct SimulatedFeed {
  unsigned num_workers = 1;  // 0: the consumer fills
  double num_cores = 1;      // shared evenly by the workers that compute
  unsigned depth = 2;        // as PipelineOptions has it
  unsigned num_held = 1;     // batches in the consumer's hands during its step
};

// Of the batches after the first ones, with which the buffer fills.
struct SimulatedRun {
  double interval_s = 0;  // mean
  double wait_s = 0;      // mean of a batch
};

// Precondition: num_cores > 0. Of no batch all is 0.
SimulatedRun simulate(std::span<const SimulatedBatch> batches, const SimulatedFeed& feed);

}  // namespace stoker::observe
