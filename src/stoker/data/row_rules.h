// Which split a row belongs to and who speaks it: pure functions of the id.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "stoker/data/index_options.h"
#include "stoker/text/pattern/pattern.h"

namespace stoker::data {

// Where an id falls in [0, 1): always the same, whatever rows are added or removed.
double split_place(std::string_view id, std::uint64_t seed) noexcept;

// kTrain below train_split, kEval from 1 - val_split on; kAll for what is between.
Split split_of(std::string_view id, const SplitOptions& options) noexcept;

// Whether the id is in the subset of its split.
bool in_subset(std::string_view id, Split split, const SplitOptions& options) noexcept;

// Reads the speaker off an id.
class SpeakerRule {
 public:
  // E-DATA-PATTERN when the pattern is no regular expression with a group, or one that cannot be
  // matched in time proportional to the id.
  explicit SpeakerRule(const SpeakerOptions& options);

  // Group 1 of the pattern; else the first "_" part that starts with p, spk or speaker or is all
  // digits; else the first "_" part.
  std::string_view speaker_of(std::string_view id) const;

 private:
  std::optional<text::Pattern> pattern_;
};

}  // namespace stoker::data
