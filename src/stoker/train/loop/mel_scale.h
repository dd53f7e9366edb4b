// The mean and deviation that mels are normalised with, measured once over the training data.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>

#include "stoker/config/settings.h"
#include "stoker/feed/source/data_set_source.h"
#include "stoker/train/loop/learner.h"

namespace stoker::train {

struct MelScaleOptions {
  std::uint32_t most_utterances = 4096;  // more are sampled evenly over the index
  unsigned num_workers = 1;
  std::stop_token stop{};
};

// Over every value of the utterances' frames as training reads them. The same bits for any number
// of workers: sums are made per utterance and added in index order. Utterances that turn out bad
// are left out. E-TRAIN-DATA where nothing is left or all values are equal.
MelScale measure_mel_scale(const feed::DataSetSource& source, const MelScaleOptions& options);

// training.mel_mean and mel_std. Nothing where neither is given; E-TRAIN-SETTINGS for one without
// the other.
std::optional<MelScale> given_mel_scale(const config::TrainingSettings& training);

}  // namespace stoker::train
