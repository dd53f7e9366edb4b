// What the order will waste, told before a run, and the utterances to blame.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "stoker/feed/sampling/sampler_settings.h"

namespace stoker::feed {

// One of the longest utterances, with what it costs once all longer ones are gone.
struct CostlyUtterance {
  std::uint32_t row = 0;
  std::uint32_t num_frames = 0;
  double padding_share = 0;      // padding saved without it, over all frames of the epoch
  bool is_above_budget = false;  // longer than batch_frames by itself
};

struct ExpectedPadding {
  double share = 0;  // of epoch 0, empty rows counted
  std::size_t num_shapes = 0;
  std::size_t num_batches = 0;
  std::vector<CostlyUtterance> costly;          // longest first, at most five
  std::optional<std::uint32_t> max_mel_frames;  // leaves out the costly ones and no other
};

// Plans epoch 0 as a feed would, then without the longest utterance, the two longest and so on, as
// long as they have more than four times the median length. Costly are those up to the last that
// saves half a percent, or is above the budget. Throws as Sampler does.
ExpectedPadding expect_padding(std::vector<SampledUtterance> rows, const SamplerSettings& settings);

}  // namespace stoker::feed
