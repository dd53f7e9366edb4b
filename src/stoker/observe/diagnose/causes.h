// Why a consumer waits or idles: every cause that a diagnosis knows, with the words for it.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace stoker::observe {

enum class Cause : std::uint8_t {
  kStorageSlow,
  kRemoteStorage,
  kTinyFiles,
  kSlowFile,
  kDecode,
  kResample,
  kMel,
  kText,
  kAssembly,
  kPadding,
  kFewWorkers,
  kManyWorkers,
  kCpuQuota,
  kBusyNeighbour,
  kMemoryPressure,
  kSmallBuffer,
  kPageableCopies,
  kNarrowBus,
  kMelContention,
  kThrottling,
  kSerialStage,
  kStartUp,
  kSlowStep,
  kLogging,
  kCheckpoint,
  kValidation,
  kHostWork,
  kHostSync,
  kSmallKernels,
  kHoldsBatches,
  kUnevenRanks,
};

enum class CauseSide : std::uint8_t { kFeed, kConsumer };

struct CauseInfo {
  Cause cause;
  CauseSide side;
  std::string_view id;     // in JSON, and the anchor of its section in the guide
  std::string_view title;  // "the storage is slow or cold"
  std::string_view shows;
  std::string_view why;
  std::string_view what_to_do;
};

std::span<const CauseInfo> all_causes();  // in the order of the enumeration
const CauseInfo& info_of(Cause cause);

}  // namespace stoker::observe
