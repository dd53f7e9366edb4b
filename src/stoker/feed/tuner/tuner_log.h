// Everything the tuner saw and did, as lines of JSON that give the same moves when played again.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/feed/tuner/tuner_policy.h"

namespace stoker::feed {

struct TunerEntry {
  TunerSample sample;
  std::optional<TunerMove> move;  // made after it
};

struct TunerLog {
  TunerKnobs start;
  TunerLimits limits;
  std::vector<TunerEntry> entries;

  // First line: start and limits; then one a window.
  std::string text() const;
  // Throws E-FEED-TUNERLOG with the line.
  static TunerLog parse(std::string_view text);
};

struct TunerReplay {
  TunerKnobs knobs;  // at the end
  std::vector<TunerMove> moves;
  std::optional<std::size_t> first_difference;  // entry whose move is not the logged one
};

TunerReplay replay_tuner(const TunerLog& log);

}  // namespace stoker::feed
