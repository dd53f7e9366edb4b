// Measures log-mel on a GPU: a pool larger than the caches, every output compared with the CPU's.
#pragma once

#include <cstddef>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "stoker/bench/device_mel_case.h"

namespace stoker::bench {

struct DeviceMelSpeed {
  std::size_t batch = 0;
  double utterances_per_s = 0;  // median
  double batch_us = 0;          // median time of one batch, batches one after the other
  double memory_share = 0;      // samples in and mel out, against the copy measured on this GPU
  double gflops = 0;            // nominal operations
};

struct DeviceMelRow {
  audio::MelVariant variant = audio::MelVariant::kGeneral;
  std::vector<DeviceMelSpeed> speeds;
  DeviceMelAgreement agreement;
  bool repeatable = false;  // equal bytes for every batch size
};

// What all cases of one run share.
class DeviceMelBench {
 public:
  struct Options {
    int device = 0;
    std::size_t num_utterances = kPoolUtterances;
    std::vector<std::size_t> batches{16, 64, 512, 2048};
    std::size_t repetitions = 15;
    std::size_t num_threads = 1;  // of the CPU that checks
  };

  // Makes the pool and brings it to the GPU. Throws GpuError.
  explicit DeviceMelBench(const Options& options);
  ~DeviceMelBench();

  DeviceMelRow run(const DeviceMelCase& bench_case, const std::stop_token& stop) const;

  const std::string& gpu_name() const;
  double copy_bytes_per_s() const;  // read plus written, of a large copy on the GPU
  double pool_bytes() const;
  double mean_s() const;  // of an utterance

 private:
  struct Shared;
  std::unique_ptr<Shared> shared_;
};

}  // namespace stoker::bench
