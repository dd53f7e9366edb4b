// Everything that was measured for a diagnosis, as plain data: judging it needs no feed, no GPU and
// no clock.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stoker/feed/records/batch_record.h"
#include "stoker/observe/machine/machine_window.h"

namespace stoker::observe {

// The settings that a diagnosis may change or explains by.
struct SetupFacts {
  unsigned num_workers = 1;  // 0: in the consumer's thread
  unsigned depth = 2;
  unsigned max_depth = 64;
  unsigned world_size = 1;
  bool is_native = true;
  bool is_cached = false;      // every utterance comes from the cache
  bool can_precompute = true;  // augmentation would change what is cached
  bool is_on_gpu = false;
  bool pins_memory = true;
  bool makes_mel_on_gpu = false;
  bool is_packed = false;
  std::string data{};  // as the user named it, for commands
};

struct DataFacts {
  double mean_audio_s = 0;
  double longest_audio_s = 0;
  std::string longest_file{};
  double mean_file_bytes = 0;
  double mean_rate_hz = 0;
  double features_rate_hz = 0;
  double compressed_share = 0;  // of the files: not WAV
};

// The consumer with the user's settings.
struct Watch {
  std::vector<feed::BatchRecord> records{};  // in the order of their hand-out
  std::optional<double> step_s{};            // what the user says a step takes
  bool is_paced = true;                      // false: takes batches as fast as they come
  bool has_start = true;                     // the first record is the feed's first batch
  std::optional<MachineWindow> machine{};
};

enum class RunKind : std::uint8_t {
  kSupply,   // the user's settings, nothing done with a batch
  kWorkers,  // the same with another number of workers
  kNative,   // the native loader instead of the naive one
  kInstant,  // utterances cost nothing: what is left is text, assembly and hand-over
  kNoMel,    // samples are loaded, no mel is made of them
  kNoText,   // tokens cost nothing
  kMemory,   // mels are copied from memory instead of being read or made
  kCold,     // the sound files are not in the page cache
  kNoCopy,   // batches stay in the host's memory
};

// A short run with one thing changed.
struct SupplyRun {
  RunKind kind = RunKind::kSupply;
  unsigned num_workers = 1;
  double batches_per_s = 0;
  double clips_per_s = 0;
  double cpu_s_per_batch = 0;
  double spread = 0;  // standard error of batches_per_s, as a share of it
};

struct Evidence {
  SetupFacts setup{};
  DataFacts data{};
  Watch watch{};
  std::vector<SupplyRun> runs{};
};

const SupplyRun* find_run(const Evidence& evidence, RunKind kind);

}  // namespace stoker::observe
