// The two feeds of a run, which share one budget of host memory: what is trained on, and what it is
// evaluated on.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "stoker/config/settings.h"
#include "stoker/feed/open_feed.h"
#include "stoker/train/loop/learner.h"
#include "stoker/train/loop/training_run.h"
#include "stoker/train/loop/voice_record.h"

namespace stoker::train {

struct RunFeeds {
  config::Settings settings;  // of the feed that is trained on, the device chosen
  feed::OpenedFeed train;
  std::optional<feed::OpenedFeed> evaluation{};
  std::vector<std::string> lines{};  // for people
};

// Where a run goes on.
struct FeedStart {
  std::optional<std::string> state{};
  std::string origin{};
  bool may_differ = false;   // training.allow_changed_data: then from the front of the epoch
  std::string run_folder{};  // where the records of the batches are kept; empty: with the process
};

// Of an evaluation's batches where those of the training have so many: no more than the default's,
// as its steps are those of the padded model.
std::uint32_t evaluation_frames(std::uint32_t batch_frames);

// The evaluation part is data.val_path; else metadata_eval.csv of the data set; else the split, of
// which the train feed then takes the rest. None where data.val_split is 0 and where the split
// leaves it empty. A complete cache of the whole data set serves both parts. E-TRAIN-CHANGED for a
// state of other data; throws as open_feed() does.
RunFeeds open_run_feeds(const config::Settings& settings, const FeedStart& start,
                        const TrainingHooks& hooks);

// Ids of the vocabulary that the feed's tokens are of.
std::int64_t num_token_ids(const feed::DataSetSource& source);

// E-TRAIN-DATA where no utterance has a frame for each token; else a line where some have not.
std::string check_lengths(const feed::DataSetSource& source);

// What a checkpoint keeps of the voice besides shape and scale; the reference is the first
// utterance of about the wanted length.
VoiceRecord describe_voice(const config::Settings& settings, const feed::DataSetSource& source,
                           std::int64_t reference_frames);

}  // namespace stoker::train
