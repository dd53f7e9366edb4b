// How long the utterances of a made data set are: as the sentences come, as LJSpeech's, or uniform.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "stoker/base/philox.h"
#include "stoker/base/result.h"

namespace stoker::data::voice {

enum class LengthKind { kNatural, kLjSpeech, kUniform };

struct Lengths {
  LengthKind kind = LengthKind::kNatural;
  double low_s = 0;  // of kUniform
  double high_s = 0;
};

inline constexpr double kShortestUniformS = 0.5;
inline constexpr double kLongestUniformS = 60.0;

// "natural", "ljspeech" or "uniform:A-B" in seconds; E-MAKE-OPTION otherwise.
Result<Lengths> parse_lengths(std::string_view text);

// The length an utterance should get; empty where the sentence itself decides.
std::optional<double> draw_length_s(const Lengths& lengths, KeyedDraws& draws);

}  // namespace stoker::data::voice
