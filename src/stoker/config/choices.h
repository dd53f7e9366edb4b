// The words that settings with a fixed set of choices may be, each an enumeration.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "stoker/config/mel_dtype.h"

namespace stoker::config {

// Names are in the order of the enumerators; names_of() is found by the type alone.
using ChoiceNames = std::span<const std::string_view>;

enum class BadInputs : std::uint8_t { kSkip, kFail };
inline constexpr std::array<std::string_view, 2> kBadInputsNames{"skip", "fail"};
constexpr ChoiceNames names_of(BadInputs) { return kBadInputsNames; }

enum class ExtraPipes : std::uint8_t { kReject, kJoin };
inline constexpr std::array<std::string_view, 2> kExtraPipesNames{"reject", "join"};
constexpr ChoiceNames names_of(ExtraPipes) { return kExtraPipesNames; }

enum class InvisibleCharacters : std::uint8_t { kDrop, kReject };
inline constexpr std::array<std::string_view, 2> kInvisibleNames{"drop", "reject"};
constexpr ChoiceNames names_of(InvisibleCharacters) { return kInvisibleNames; }

enum class Links : std::uint8_t { kBeneath, kRefuse };
inline constexpr std::array<std::string_view, 2> kLinksNames{"beneath", "refuse"};
constexpr ChoiceNames names_of(Links) { return kLinksNames; }

enum class OtherRates : std::uint8_t { kResample, kReject };
inline constexpr std::array<std::string_view, 2> kOtherRatesNames{"resample", "reject"};
constexpr ChoiceNames names_of(OtherRates) { return kOtherRatesNames; }

enum class Split : std::uint8_t { kAll, kTrain, kEval };
inline constexpr std::array<std::string_view, 3> kSplitNames{"all", "train", "eval"};
constexpr ChoiceNames names_of(Split) { return kSplitNames; }

enum class BatchLayout : std::uint8_t { kPadded, kPacked };
inline constexpr std::array<std::string_view, 2> kBatchLayoutNames{"padded", "packed"};
constexpr ChoiceNames names_of(BatchLayout) { return kBatchLayoutNames; }

enum class ReferencePart : std::uint8_t { kNone, kSame, kSpeaker };
inline constexpr std::array<std::string_view, 3> kReferencePartNames{"none", "same", "speaker"};
constexpr ChoiceNames names_of(ReferencePart) { return kReferencePartNames; }

enum class PreprocessingMode : std::uint8_t { kAuto, kPrecompute, kRuntime };
inline constexpr std::array<std::string_view, 3> kPreprocessingModeNames{"auto", "precompute",
                                                                         "runtime"};
constexpr ChoiceNames names_of(PreprocessingMode) { return kPreprocessingModeNames; }

enum class MelPlace : std::uint8_t { kAuto, kCpu, kGpu };
inline constexpr std::array<std::string_view, 3> kMelPlaceNames{"auto", "cpu", "gpu"};
constexpr ChoiceNames names_of(MelPlace) { return kMelPlaceNames; }

enum class LoudnessRule : std::uint8_t { kNone, kLufs, kRms, kPeak };
inline constexpr std::array<std::string_view, 4> kLoudnessRuleNames{"none", "lufs", "rms", "peak"};
constexpr ChoiceNames names_of(LoudnessRule) { return kLoudnessRuleNames; }

enum class UnknownCharacters : std::uint8_t { kDrop, kUnk, kReject };
inline constexpr std::array<std::string_view, 3> kUnknownNames{"drop", "unk", "reject"};
constexpr ChoiceNames names_of(UnknownCharacters) { return kUnknownNames; }

enum class CacheContent : std::uint8_t { kMel, kPcm, kBoth };
inline constexpr std::array<std::string_view, 3> kCacheContentNames{"mel", "pcm", "both"};
constexpr ChoiceNames names_of(CacheContent) { return kCacheContentNames; }

enum class CacheTier : std::uint8_t { kDisk, kRam, kGpu };
inline constexpr std::array<std::string_view, 3> kCacheTierNames{"disk", "ram", "gpu"};
constexpr ChoiceNames names_of(CacheTier) { return kCacheTierNames; }

enum class OnOffAuto : std::uint8_t { kAuto, kOn, kOff };
inline constexpr std::array<std::string_view, 3> kOnOffAutoNames{"auto", "on", "off"};
constexpr ChoiceNames names_of(OnOffAuto) { return kOnOffAutoNames; }

enum class Precision : std::uint8_t { kAuto, kFp32, kTf32, kBf16, kFp16 };
inline constexpr std::array<std::string_view, 5> kPrecisionNames{"auto", "fp32", "tf32", "bf16",
                                                                 "fp16"};
constexpr ChoiceNames names_of(Precision) { return kPrecisionNames; }

enum class Scheduler : std::uint8_t { kNoam, kCosine, kCosineRestarts, kConstant };
inline constexpr std::array<std::string_view, 4> kSchedulerNames{"noam", "cosine",
                                                                 "cosine_restarts", "constant"};
constexpr ChoiceNames names_of(Scheduler) { return kSchedulerNames; }

enum class ModelSize : std::uint8_t { kTiny, kSmall, kNormal, kBig };
inline constexpr std::array<std::string_view, 4> kModelSizeNames{"tiny", "small", "normal", "big"};
constexpr ChoiceNames names_of(ModelSize) { return kModelSizeNames; }

enum class OptimizationLevel : std::uint8_t {
  kNone,
  kBasic,
  kEnhanced,
  kPlateauBreaker,
  kExperimental
};
inline constexpr std::array<std::string_view, 5> kOptimizationLevelNames{
    "none", "basic", "enhanced", "plateau_breaker", "experimental"};
constexpr ChoiceNames names_of(OptimizationLevel) { return kOptimizationLevelNames; }

constexpr ChoiceNames names_of(MelDtype) { return kMelDtypeNames; }

}  // namespace stoker::config
