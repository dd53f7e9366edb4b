#include "stoker/data/row_rules.h"

#include <algorithm>
#include <utility>

#include "stoker/base/digest/digest.h"
#include "stoker/base/philox.h"
#include "stoker/data/errors.h"

namespace stoker::data {
namespace {

double place_in(std::string_view stage, std::string_view id, std::uint64_t seed) noexcept {
  return KeyedDraws({.seed = seed, .stage = stage, .epoch = 0, .item = hash64(id)}).next_unit();
}

bool names_a_speaker(std::string_view part) {
  if (part.empty()) return false;
  const bool digits =
      std::all_of(part.begin(), part.end(), [](char c) { return c >= '0' && c <= '9'; });
  return digits || part.starts_with('p') || part.starts_with("spk") || part.starts_with("speaker");
}

}  // namespace

double split_place(std::string_view id, std::uint64_t seed) noexcept {
  return place_in("split", id, seed);
}

Split split_of(std::string_view id, const SplitOptions& options) noexcept {
  const double place = split_place(id, options.seed);
  if (place < options.train_split) return Split::kTrain;
  return place >= 1.0 - options.val_split ? Split::kEval : Split::kAll;
}

bool in_subset(std::string_view id, Split split, const SplitOptions& options) noexcept {
  const double fraction =
      split == Split::kEval ? options.eval_subset_fraction : options.train_subset_fraction;
  return fraction >= 1.0 || place_in("subset", id, options.subset_seed) < fraction;
}

SpeakerRule::SpeakerRule(const std::string& pattern, const std::string& origin) {
  if (pattern.empty()) return;
  const auto refuse = [&](Error error) {
    error.place = {.file = origin};
    error.found = "\"" + escape_control(pattern) + "\": " + error.found;
    raise(std::move(error));
  };
  Result<text::Pattern> compiled = text::Pattern::compile(pattern, kDataPattern);
  if (!compiled) refuse(compiled.error());
  if (compiled->num_groups() == 0)
    refuse({.code = &kDataPattern,
            .promised = "a regular expression with one group",
            .found = "no group"});
  pattern_ = std::move(*compiled);
}

std::optional<std::string_view> SpeakerRule::matched(std::string_view id) const {
  if (!pattern_) return std::nullopt;
  const auto groups = pattern_->find(id);
  if (!groups || !(*groups)[1]) return std::nullopt;
  return id.substr((*groups)[1]->begin, (*groups)[1]->end - (*groups)[1]->begin);
}

std::string_view SpeakerRule::guessed(std::string_view id) {
  const std::string_view first = id.substr(0, id.find('_'));
  for (std::size_t at = 0; at <= id.size();) {
    const std::size_t end = std::min(id.find('_', at), id.size());
    if (names_a_speaker(id.substr(at, end - at))) return id.substr(at, end - at);
    at = end + 1;
  }
  return first;
}

}  // namespace stoker::data
