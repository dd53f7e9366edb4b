// Which split a row belongs to and who speaks it: pure functions of the id.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "stoker/data/index_options.h"
#include "stoker/text/pattern/pattern.h"

namespace stoker::data {

// The name of the speaker where there is one.
inline constexpr std::string_view kOnlySpeaker = "default";

// Where an id falls in [0, 1): always the same, whatever rows are added or removed.
double split_place(std::string_view id, std::uint64_t seed) noexcept;

// kTrain below train_split, kEval from 1 - val_split on; kAll for what is between.
Split split_of(std::string_view id, const SplitOptions& options) noexcept;

// Whether the id is in the subset of its split.
bool in_subset(std::string_view id, Split split, const SplitOptions& options) noexcept;

// Reads the speaker off an id by a pattern, or by what ids usually look like.
class SpeakerRule {
 public:
  // An empty pattern matches nothing. E-DATA-PATTERN, naming `origin`, when it is no regular
  // expression with a group, or one that cannot be matched in time proportional to the id.
  explicit SpeakerRule(const std::string& pattern,
                       const std::string& origin = "data.speaker_id_pattern");

  // Group 1 of the pattern; nothing where it does not match.
  std::optional<std::string_view> matched(std::string_view id) const;
  // The first "_" part that starts with p, spk or speaker or is all digits; else the first "_"
  // part.
  static std::string_view guessed(std::string_view id);

 private:
  std::optional<text::Pattern> pattern_;
};

}  // namespace stoker::data
