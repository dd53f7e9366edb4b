// The inputs of a GPU's steps: tensors whose memory never moves, filled from the feed's batches
// without waiting for either side.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>

#include "stoker/feed/batch.h"
#include "stoker/train/loop/batch_tensors.h"
#include "stoker/train/loop/device/fill_inputs.h"
#include "stoker/train/loop/device/pinned_rings.h"
#include "stoker/train/model/tts_model.h"

namespace stoker::train {

// One thread; everything runs on the device's current stream.
class StepInputs {
 public:
  StepInputs(const TensorRules& rules, StepLedger* ledger);

  // Of a shape; all shapes share the memory of the largest so far. Stay where they are.
  const PackedBatch& of(const StepShape& shape);
  // Lays the batch's rows end to end and gives the batch back as soon as the device has read it. A
  // batch in GPU memory must have been waited for. E-TRAIN-SETTINGS as take_tensors().
  void take(feed::Batch batch, const StepShape& shape, std::uint64_t step);
  // Rows that fill the shape, all values zero; waits.
  void make_up(const StepShape& shape);
  // Gives memory back that no step needs any more.
  void clear();

 private:
  FillTarget target_of(const StepShape& shape);

  TensorRules rules_;
  StepLedger* ledger_;
  StagingRing tables_;
  StagingRing staged_;
  at::Tensor warps_;                               // not defined: nothing is stretched
  at::Tensor mel_, tokens_, lengths_, reference_;  // flat, the largest so far
  std::map<StepShape, PackedBatch> inputs_;
};

}  // namespace stoker::train
