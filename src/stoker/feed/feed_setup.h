// Everything a feed is made of once settings, data and cache have been looked at.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "stoker/base/clock.h"
#include "stoker/config/mel_dtype.h"
#include "stoker/feed/assembly/bad_rows.h"
#include "stoker/feed/assembly/batch_slot.h"
#include "stoker/feed/assembly/optional_fields.h"
#include "stoker/feed/device/setup.h"
#include "stoker/feed/feed_state.h"
#include "stoker/feed/records/record_memory.h"
#include "stoker/feed/sampling/sampler.h"
#include "stoker/feed/source/background_build.h"
#include "stoker/feed/source/utterance_source.h"
#include "stoker/feed/state_origin.h"

namespace stoker::feed {

struct ExtraParts {
  bool with_audio = false;
  ReferenceFrom reference = ReferenceFrom::kNone;
  std::uint32_t reference_frames = 0;
  std::uint32_t segment_frames = 0;
};

// What changes speed and memory, never a byte.
struct LoadingOptions {
  unsigned num_workers = 1;       // 0: in the caller's thread
  unsigned max_workers = 64;      // for set_num_workers
  std::optional<unsigned> depth;  // batches ready; nothing: see buffer_plan.h
  std::uint64_t buffer_bytes = std::uint64_t{1} << 30U;  // all slots together stay below it
  // Where nobody says how much: what a few large batches may raise it to.
  std::uint64_t most_buffer_bytes = 0;
  unsigned read_ahead_batches = 0;  // that storage is asked for; 0: none
  // Cores that a tuner may use to move all of these while running; 0: they stay as they are.
  unsigned tuned_cores = 0;
  std::chrono::nanoseconds stall_limit = std::chrono::seconds(60);
  // How long a worker that hangs keeps the feed from ending; 0: any time.
  std::chrono::nanoseconds end_limit = std::chrono::milliseconds(1500);
  const Clock* clock = &system_clock();
};

struct FeedSetup {
  std::shared_ptr<const UtteranceSource> store;
  std::vector<SampledUtterance> rows;  // one for each of the store's
  SamplerSettings order;
  RankRows ranks;
  config::MelDtype dtype = config::MelDtype::kF16;
  ExtraParts extras;
  LoadingOptions loading;
  RecordOptions records;
  BadRowLimits bad_rows;
  FeedIdentity identity;
  // Names what the identity digests, for a state that is saved or refused; may be empty.
  std::function<StateOrigin()> describe_origin;
  std::shared_ptr<BackgroundBuild> build;     // completes the cache meanwhile; may be null
  std::shared_ptr<const DeviceSetup> device;  // null: batches stay in host memory
  std::shared_ptr<Fallbacks> fallbacks;       // of the choice of a device; may be null
  FeedPosition start;
  std::uint64_t num_epochs = std::numeric_limits<std::uint64_t>::max();
};

// What the feed's batches may hold at most.
BatchFormat make_format(const FeedSetup& setup, const Sampler& order);

// As many slots as the memory allows, but not more than a pipeline can use; a few where the memory
// is not given and there is enough. Throws E-FEED-MEMORY where not even three fit: one is filled,
// one is ready, one is in the consumer's hands.
unsigned count_slots(const BatchFormat& format, const LoadingOptions& loading);

// Batches ready in host memory where nobody says how many. A tuner may go on from there.
unsigned default_depth(const FeedSetup& setup, const BatchFormat& format, unsigned max_depth);

}  // namespace stoker::feed
