// How well the model's alignment agrees with the one that is known: the built-in voice writes down
// when it spoke each phone.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stoker/base/io/io.h"
#include "stoker/base/json.h"
#include "stoker/config/settings.h"
#include "stoker/train/loop/learner.h"
#include "stoker/train/loop/training_run.h"

namespace stoker::train {

// One phone of alignments.jsonl.
struct TimedPhone {
  std::string phone;
  double end_s = 0;
};

// When frame y is: its centre, (y * hop + offset) / rate.
struct FrameTimes {
  double hop_samples = 256;
  double offset_samples = 128;
  double rate_hz = 22050;
};
FrameTimes frame_times(const config::MelRecipe& recipe);

// Token index of each frame: 0 is what is before the first phone of the text, k + 1 its k-th phone,
// the last what is behind it. Nothing where the timed phones are not those of the text, with a
// pause more at either end or not.
std::optional<std::vector<std::int32_t>> known_alignment(std::span<const TimedPhone> timed,
                                                         std::span<const std::string> phones,
                                                         const FrameTimes& times,
                                                         std::size_t num_frames);

struct AlignmentShare {
  std::uint64_t num_utterances = 0;
  std::uint64_t num_frames = 0;
  std::uint64_t num_exact = 0;
  std::uint64_t num_near = 0;  // that token is the known one of the frame or of a neighbour

  void add(std::span<const std::int32_t> known, std::span<const std::int32_t> found);
  Json json() const;  // utterances, frames, exact, near, the last two as shares
};

// Aligns utterances of `settings`' data set with the learner. Nothing where the data set has no
// alignments.jsonl, or the tokens are not its phones. Throws as open_feed() does.
std::optional<AlignmentShare> check_alignment(const config::Settings& settings, Learner& learner,
                                              const TrainingHooks& hooks);

}  // namespace stoker::train
