// Every fixed word of a report, in English and in Persian beside each other.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/report/html_report.h"

namespace stoker::observe {

enum class ReportLanguage : std::uint8_t { kEnglish, kPersian };
std::optional<ReportLanguage> language_from(std::string_view name);  // "en", "fa"

// In the order of a page, the page's own words first.
enum class Word : std::uint8_t {
  kTitle,
  kTitleDiagnosis,
  kTitleBench,
  kMade,
  kRunning,
  kFinished,
  kKilled,
  kSkip,
  kSections,
  kTable,
  kAsTable,
  kReached,
  kMissed,
  kVerdict,
  kNoVerdict,
  kShareOfLimit,
  kRate,
  kWaitingForFeed,
  kStarvedAbove,
  kBatchesPerS,
  kClipsPerS,
  kSupply,
  kSupplyNote,
  kIntervalCv,
  kUnevenAbove,
  kSteps,
  kLossFirstLast,
  kGpuBusy,
  kGpuGood,
  kNotThere,
  kMissingFile,
  kMissingBroken,
  kNoGpu,
  kTimeline,
  kTimelineNote,
  kTimeAxis,
  kLaneGpu,
  kLaneConsumer,
  kLaneFeed,
  kLaneCores,
  kLaneDisk,
  kInterval,
  kWaiting,
  kReady,
  kOwnCores,
  kOtherCores,
  kWholeRun,
  kWholeRunNote,
  kWholeRunMean,
  kStepAxis,
  kStepMs,
  kWholeStep,
  kDataMs,
  kMachineRun,
  kMachineRunNote,
  kIntervals,
  kIntervalAxis,
  kBatchesAxis,
  kIntervalsNote,
  kWaterfall,
  kShareAxis,
  kOwnSteps,
  kWaitFor,
  kWaitOther,
  kAll,
  kWaterfallNote,
  kWorkers,
  kWorkersAxis,
  kWorkersNote,
  kWorkersNone,
  kIdle,
  kOther,
  kPadding,
  kBucket,
  kFramesAxis,
  kSpeech,
  kPaddingPart,
  kPaddingNote,
  kPaddingMore,
  kGaps,
  kGapLength,
  kGapAt,
  kGapBatch,
  kEpochBatch,
  kReason,
  kCyclic,
  kCyclicWhat,
  kCauses,
  kCause,
  kShare,
  kEvidence,
  kWhatToDo,
  kAnd,
  kCures,
  kCuresNote,
  kChange,
  kGain,
  kGainRange,
  kBeforeAfter,
  kBefore,
  kPredicted,
  kMeasured,
  kBeforeAfterNote,
  kRows,
  kRowsNote,
  kRow,
  kLimit,
  kOfLimit,
  kStall,
  kP50,
  kP99,
  kLearning,
  kLoss,
  kLossNote,
  kMoreSounds,
  kSettings,
  kSetting,
  kValue,
  kDefault,
  kMachine,
  kWhat,
  kFound,
  kCoresAllowed,
  kQuota,
  kCoresOwn,
  kCoresOthers,
  kMemoryLeft,
  kMemoryLeftMean,
  kStorage,
  kPageCache,
  kDiskRead,
  kDiskBusy,
  kGpuUse,
  kGpuMemory,
  kGpuPower,
  kGpuClock,
  kGpuTemperature,
  kGpuThrottled,
  kOf,
  kOfSamples,
  kRejects,
  kRejectsNote,
  kFile,
  kCode,
  kMessage,
  kStagePlan,
  kStageFetch,
  kStageDecode,
  kStageResample,
  kStageMel,
  kStageText,
  kStageAugment,
  kStageAssemble,
  kWorkLogging,
  kWorkCheckpoint,
  kWorkValidation,
  kWorkSync,
  kWorkOther,
};

struct WordPair {
  Word word;
  std::string_view english;
  std::string_view persian;
};
std::span<const WordPair> all_words();

// The pattern with its places "{}" filled in turn. In Persian each value is set apart, so that
// Latin letters and figures inside a sentence keep their own direction.
std::string filled(std::string_view pattern, std::span<const std::string> values,
                   ReportLanguage language);

// What one page says.
class Words {
 public:
  explicit Words(ReportLanguage language) : language_(language) {}

  ReportLanguage language() const { return language_; }
  std::string operator()(Word word, const std::vector<std::string>& values = {}) const;
  // A sentence of the diagnosis, which makes them in English (sentences.h).
  std::string sentence(std::string_view english) const;
  PageWords page() const;

 private:
  std::string_view pattern(Word word) const;

  ReportLanguage language_;
};

}  // namespace stoker::observe
