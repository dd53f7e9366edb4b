// Batches that stay in memory, each handed out again and again: what a step takes when loading
// costs nothing.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <vector>

#include "stoker/config/settings.h"
#include "stoker/feed/open_feed.h"
#include "stoker/train/loop/training_run.h"
#include "stoker/train/measure/measured_figures.h"

namespace stoker::train {

// One thread. A batch that was lent must not be read any more, on the device either, when this is
// destroyed.
class ResidentBatches {
 public:
  // Takes the first batches of a feed with these settings and the native loader, about as many of
  // each shape as the feed's buffer has room for. Throws as open_feed() does.
  ResidentBatches(const config::Settings& settings, const TrainingHooks& hooks);

  // Batches of one shape take turns; nothing where none has that shape.
  std::optional<feed::Batch> lend(const feed::BatchShape& shape);
  std::vector<feed::BatchShape> shapes() const;
  std::size_t num_batches() const { return num_batches_; }

 private:
  struct Kept {
    feed::BatchShape shape;
    std::vector<feed::Batch> batches;
    std::size_t next = 0;
  };
  Kept* find(const feed::BatchShape& shape);
  void collect(const TrainingHooks& hooks);

  feed::OpenedFeed opened_;
  std::vector<Kept> kept_;
  std::size_t num_batches_ = 0;
};

}  // namespace stoker::train
